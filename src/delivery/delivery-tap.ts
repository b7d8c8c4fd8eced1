import type { Batch } from "../contracts/link.ts";
import { changeKey, type StateChange } from "../domain/change.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Observed } from "../domain/observed.ts";
import { hideSecrets } from "../platform/crash/hide-secrets.ts";
import type { RecorderTap } from "../platform/recorder/recording.ts";

/** Records what the northbounds get. */
export interface DeliveryTap {
  record(northbound: string, slice: Batch): void;
}

/** Counts within the 32 bits of an entry. */
const LAST_ID = 0xffff_ffff;

/**
 * Most slices go to several northbounds in one turn. The text is written for the first of them. The others
 * get its id: writing it again would cost more than the rest of the recorder.
 */
export function createDeliveryTap(tap: RecorderTap): DeliveryTap {
  let last: Batch | null = null;
  let segment = 0;
  let id = 0;
  return {
    record(name, slice) {
      if (!tap.isOn) return;
      if (last !== null && segment === tap.segment && isSame(last, slice)) {
        tap.write("told", { name, id });
        return;
      }
      id = id === LAST_ID ? 1 : id + 1;
      last = slice;
      segment = tap.segment;
      const lines = slice.changes.length + slice.events.length;
      tap.write("told", { name, id, lines, text: (atMs) => deliveredText(slice, atMs) });
    },
  };
}

function isSame(one: Batch, other: Batch): boolean {
  return areSame(one.changes, other.changes) && areSame(one.events, other.events);
}

function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

/**
 * What a northbound got at `atMs`, as lines of a recording. A robot's values are not copied. Quality,
 * sequence number, the message's age at its receipt, and the time since then identify the message, which is
 * recorded itself. Both times are in milliseconds: such short numbers take half the time of whole times. The
 * list of all alarms has ids and revisions alone, for it may be in every slice of a flood.
 */
export function deliveredText({ changes, events }: Batch, atMs: number): string {
  let text = "";
  for (const change of changes) text += `${changeText(change, atMs)}\n`;
  for (const event of events) text += `event ${eventText(event)}\n`;
  return text;
}

function changeText(change: StateChange, atMs: number): string {
  switch (change.kind) {
    case "mission":
    case "battery":
    case "conveyor":
    case "presence":
    case "task_chain":
      return `${changeKey(change)} ${observedText(change.observed, atMs)}`;
    case "robot":
      return `robot/${change.robotId} ${change.quality} ${change.family}`;
    case "map":
      return `map/${change.mapId} ${change.map === null ? "gone" : `${change.map.bytes} bytes`}`;
    case "task_chain_evicted":
      return `task_chain/${change.chainId} evicted`;
    case "alarms":
      return `alarms ${change.alarms.map(({ id, revision }) => `${id}.${revision}`).join(" ")}`;
    default:
      return `${changeKey(change)} ${JSON.stringify(change)}`;
  }
}

function observedText({ quality, stamp }: Observed<unknown>, atMs: number): string {
  const { sequence, sourceTimeMs, receivedAtMs } = stamp;
  const age = sourceTimeMs === null ? "-" : receivedAtMs - sourceTimeMs;
  return `${quality} ${sequence ?? "-"} ${age} ${atMs - receivedAtMs}`;
}

/** Without the answers of commands, which are recorded as they came. A refusal may quote the request. */
function eventText(event: FleetEvent): string {
  if (event.kind !== "command") return JSON.stringify(event);
  const text = JSON.stringify({ ...event, outcome: { ...event.outcome, responseJson: undefined } });
  return event.outcome.message === "" ? text : hideSecrets(text, []);
}
