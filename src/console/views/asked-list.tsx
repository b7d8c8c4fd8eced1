import type { Robot } from "../../northbound/web/api/robot.ts";
import { type Asked, withLog } from "../commanding/asked.ts";
import { silenceOf } from "../fleet/fleet.ts";
import { sentence } from "../fleet/words.ts";
import { timeOfDay } from "../trust/time-text.ts";
import { usePage } from "./context.ts";

const MOST_SHOWN = 5;

/** Sent, accepted and standing: each from its own source. */
export function AskedList({ robot }: { readonly robot: Robot | null }) {
  const { asked, store } = usePage();
  const fleet = store.fleet.value;
  const isSilent = fleet !== null && silenceOf(fleet, store.now.value) !== null;
  const log = [...(fleet?.commands.values() ?? [])];
  const all = asked.all.value.map((each) => withLog(each, log));
  const own = (robot === null ? all : all.filter((each) => each.robotId === robot.robot_id)).slice(
    -MOST_SHOWN,
  );
  if (own.length === 0) return null;
  return (
    <ul aria-label="Asked from this browser">
      {own.reverse().map((each) => (
        <li key={each.id}>
          {timeOfDay(each.askedAtMs)} {each.label}
          {robot === null && !each.label.includes(each.robotId) && ` (${each.robotId})`}: {knownText(each)}
          {each.known.state === "final" && each.known.response !== "" && (
            <details>
              <summary>Answer</summary>
              <p class="id">{each.known.response}</p>
            </details>
          )}
        </li>
      ))}
      {robot !== null && <li>Robot: {standingText(robot, isSilent)}</li>}
    </ul>
  );
}

/** The robot's own state, as in its first line. */
function standingText({ standing: { reason, text } }: Robot, isSilent: boolean): string {
  if (reason === "UNKNOWN") return `not known: ${text}`;
  return `${isSilent ? "not known. Last: " : ""}${reason === "MOVING" ? "moves" : `stands: ${text}`}`;
}

function knownText({ known }: Asked): string {
  switch (known.state) {
    case "asked":
      return known.problem === "" ? "asked" : `not known whether it was taken: ${known.problem}`;
    case "taken": {
      const problem = known.problem === undefined ? "" : `, ${known.problem}`;
      return known.stage === "received" ? `asked${problem}` : `taken (${known.stage})${problem}`;
    }
    case "late":
      return `not known whether it was sent, and not asked for again: ${known.problem}`;
    case "not_known":
      return `not known ${known.wasTaken ? "what became of it" : "whether it was sent"}: the gateway's log does not have it. Look at the robot, and ask again if it must be`;
    case "final":
      return `${sentence(known.outcome)}${known.message === "" ? "" : `: ${known.message}`}`;
    case "refused":
      return `not taken: ${known.reason}`;
  }
}
