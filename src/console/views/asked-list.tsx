import type { Command } from "../../northbound/web/api/command.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { type Asked, commandOf, missionIdOf, withLog } from "../commanding/asked.ts";
import { commandKey } from "../fleet/fleet.ts";
import { sentence } from "../fleet/words.ts";
import { commandAddress } from "../route.ts";
import { timeOfDay } from "../trust/time-text.ts";
import { usePage } from "./context.ts";
import { Link } from "./parts.tsx";

const MOST_SHOWN = 5;

/** Sent, accepted and standing: each from its own source. */
export function AskedList({ robot }: { readonly robot: Robot | null }) {
  const { asked, store } = usePage();
  const fleet = store.fleet.value;
  const isSilent = store.silence.value !== null;
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
          {robot === null && !each.label.includes(each.robotId) && ` (${each.robotId})`}:{" "}
          {isMissionTaken(each) ? (
            <Taken
              command={commandOf(each, log)}
              missionId={missionIdOf(each)}
              robot={fleet?.robots.get(each.robotId)?.robot ?? null}
              isSilent={isSilent}
            />
          ) : (
            knownText(each)
          )}
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

/** Of these, success says only that the fleet service has taken a mission. */
const missionMakers = ["CreateMission", "CreateMissionWorkflow", "AppendMission", "ChargeRobot"];

function isMissionTaken({ operation, known }: Asked): boolean {
  return missionMakers.includes(operation) && known.state === "final" && known.outcome === "succeeded";
}

/** What has become of a command's mission, as far as the robot shows it. */
function Taken(props: {
  /** Null: the page has not received it. */
  readonly command: Command | null;
  readonly missionId: string | null;
  readonly robot: Robot | null;
  readonly isSilent: boolean;
}) {
  const { command, robot, isSilent } = props;
  const id = props.missionId ?? command?.mission_id ?? null;
  const progress = robot === null || id === null ? "" : progressOf(robot, id);
  const isOld = isSilent || robot?.mission?.quality !== "good";
  return (
    <>
      taken by the fleet service
      {progress !== "" && ` → ${isOld ? "last: " : ""}${progress}`}
      {command !== null && (
        <>
          {" ("}
          <Link to={commandAddress(commandKey(command))}>command</Link>)
        </>
      )}
    </>
  );
}

/** Empty: the robot does not show this mission, or nothing of it yet. */
function progressOf({ mission, standing }: Robot, missionId: string): string {
  const own = mission?.state?.missions.find((each) => each.mission_id === missionId);
  switch (own?.state) {
    case "STATE_RUNNING":
      return standing.reason === "MOVING" ? "drives" : "under way";
    case "STATE_PAUSED":
      return "paused";
    case "STATE_SUCCEEDED":
      return "arrived";
    case "STATE_FAILED":
      return "failed";
    case "STATE_CANCELED":
      return "canceled";
    default:
      return "";
  }
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
