import type { Batch } from "../contracts/link.ts";
import { changeKey, type StateChange } from "../domain/change.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Observed } from "../domain/observed.ts";
import { hideSecrets } from "../platform/crash/hide-secrets.ts";

/**
 * What a northbound was given, as lines for a recording. Of what a robot says there is no copy: quality,
 * sequence number, the robot's time and the time of arrival name the message, which is recorded itself.
 */
export function toldText({ changes, events }: Batch): string {
  let text = "";
  for (const change of changes) text += `${changeText(change)}\n`;
  for (const event of events) text += `event ${eventText(event)}\n`;
  return text;
}

function changeText(change: StateChange): string {
  switch (change.kind) {
    case "mission":
    case "battery":
    case "conveyor":
    case "presence":
    case "task_chain":
      return `${changeKey(change)} ${observedText(change.observed)}`;
    case "robot":
      return `robot/${change.robotId} ${change.quality} ${change.family}`;
    case "map":
      return `map/${change.mapId} ${change.map === null ? "gone" : `${change.map.bytes} bytes`}`;
    case "task_chain_evicted":
      return `task_chain/${change.chainId} evicted`;
    default:
      return `${changeKey(change)} ${JSON.stringify(change)}`;
  }
}

function observedText({ quality, stamp }: Observed<unknown>): string {
  return `${quality} ${stamp.sequence ?? "-"} ${stamp.sourceTimeMs ?? "-"} ${stamp.receivedAtMs}`;
}

/** Without the answers of commands, which are recorded as they came. A refusal may quote what was sent. */
function eventText(event: FleetEvent): string {
  if (event.kind !== "command") return JSON.stringify(event);
  const text = JSON.stringify({ ...event, outcome: { ...event.outcome, responseJson: undefined } });
  return event.outcome.message === "" ? text : hideSecrets(text, []);
}
