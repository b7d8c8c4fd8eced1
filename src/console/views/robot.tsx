import type { BatteryState, MissionView } from "../../models/robot.ts";
import type { Robot as RobotFacts } from "../../northbound/web/api/robot.ts";
import { eventsOf } from "../fleet/events.ts";
import { type KnownRobot, seenOf, silenceOf } from "../fleet/fleet.ts";
import { codeWord, goalText, hasEnded, sentence, wordOf } from "../fleet/words.ts";
import { floorAddress, tagsAddress } from "../route.ts";
import {
  ageMs,
  ageText,
  type Dated,
  dateAndTime,
  type Moment,
  timeOfDay,
  wallTimeMs,
} from "../trust/time-text.ts";
import { AlarmTable } from "./alarms.tsx";
import { CommandLog } from "./command-log.tsx";
import { Commanding } from "./commanding.tsx";
import { usePage } from "./context.ts";
import { viewLater } from "./later.tsx";
import { Link, Table, Time, Word } from "./parts.tsx";

const MOST_SHOWN = 20;

/** The events of a robot that the page has received, the newest first. */
function RobotEvents({ robotId }: { readonly robotId: string }) {
  const { store } = usePage();
  const log = store.events.value;
  if (log === null) return null;
  const shown = eventsOf(log, robotId, MOST_SHOWN);
  return (
    <>
      {shown.length > 0 && (
        <Table caption="Events of this robot" columns={["Time", "Event", "Says"]}>
          {shown.map(({ id, at, kind, text }) => (
            <tr key={id}>
              <td>
                <Time iso={at} isDated />
              </td>
              <td>{kind}</td>
              <td>{text}</td>
            </tr>
          ))}
        </Table>
      )}
      <p>
        {shown.length === 0 ? "Events of this robot: none" : `The newest ${MOST_SHOWN} at most`} since{" "}
        <Time iso={log.since} isDated />. The page knows none from before.
      </p>
    </>
  );
}

const BatteryHours = viewLater<{ readonly robotId: string }>(() =>
  import("./trends.tsx").then((module) => module.BatteryHours),
);

const A_DAY_MS = 86_400_000;

/** One robot: first, why it stands. */
export function Robot({ robotId }: { readonly robotId: string }) {
  const { store } = usePage();
  const fleet = store.fleet.value;
  const known = fleet?.robots.get(robotId);
  if (fleet === null || known === undefined) {
    return (
      <>
        <h1>{robotId}</h1>
        <p>The gateway knows no robot of this id.</p>
      </>
    );
  }
  const { robot } = known;
  const now = store.now.value;
  const silence = silenceOf(fleet, now);
  const heard = silence === null ? "" : `heard ${ageText(ageMs(silence, now))} ago`;
  return (
    <>
      <h1>
        {robot.robot_id} <Word {...wordOf(robot, silence !== null)} />
      </h1>
      <p class="first">{firstText(known, silence, now)}</p>
      <Commanding known={known} />
      <Facts known={known} silence={silence} />
      <Queue robot={robot} heard={heard} />
      <Chain robot={robot} heard={heard} />
      <Conveyors robot={robot} heard={heard} />
      {robot.alarms.length > 0 && <AlarmTable caption="Alarms of this robot" alarms={robot.alarms} />}
      <RobotEvents robotId={robotId} />
      <CommandLog caption="Commands of this robot" robotId={robotId} />
      <BatteryHours robotId={robotId} />
    </>
  );
}

/** The headline: why it stands, or that this is no longer known. */
function firstText(known: KnownRobot, silence: Dated | null, now: Moment): string {
  const text = standsText(known, now);
  if (silence === null || known.robot.standing.reason === "UNKNOWN") return text;
  return `Nothing heard of it for ${ageText(ageMs(silence, now))}. Last: ${text}`;
}

/** "Stands since 14:02: waits for confirmation." */
function standsText({ robot, stood }: KnownRobot, now: Moment): string {
  const { standing } = robot;
  const sinceMs = wallTimeMs(stood, now);
  const since = ageMs(stood, now) < A_DAY_MS ? timeOfDay(sinceMs) : dateAndTime(sinceMs);
  if (standing.reason === "MOVING") return `Moves since ${since}.`;
  if (standing.reason === "UNKNOWN") return `Not known since ${since}: ${standing.text}.`;
  return `Stands since ${since}: ${standing.text === "" ? "no reason known" : standing.text}.`;
}

function Facts({ known, silence }: { readonly known: KnownRobot; readonly silence: Dated | null }) {
  const { store } = usePage();
  const { robot } = known;
  const now = store.now.value;
  const { battery, hold, lease, exception, place } = robot;
  const seen = ageText(ageMs(seenOf(known, store.fleet.value?.list ?? null), now));
  const isConfirmed = silence === null && place?.listed === true;
  return (
    <dl class={silence === null ? undefined : "unconfirmed"}>
      <dt>Quality</dt>
      <dd>
        {robot.quality}
        {silence !== null &&
          robot.quality === "good" &&
          ` ${ageText(ageMs(silence, now))} ago, not known now`}
      </dd>
      <dt>Place</dt>
      <dd>
        {place === null ? "not known" : placeText(place)}
        {place !== null &&
          (isConfirmed ? ` (${place.quality}) ` : ` (${doubtedText(place.quality)}seen ${seen} ago) `)}
        {place !== null && <Link to={floorAddress(place.map_id, robot.robot_id)}>on the floor</Link>}
      </dd>
      <dt>Battery</dt>
      <dd>
        {battery?.state == null ? "not known" : batteryText(battery.state)}
        {battery !== null && battery.quality !== "good" && ` (${battery.quality})`}
      </dd>
      <dt>Hold</dt>
      <dd>{hold.held ? `held by ${hold.by.join(", ")}` : "none"}</dd>
      <dt>Tags</dt>
      <dd>
        <Link to={tagsAddress({ robot: robot.robot_id })}>all of {robot.robot_id}</Link>
      </dd>
      <dt>Lease</dt>
      <dd>
        {lease === null ? "none" : `${lease.station}, ${lease.owner}, since `}
        {lease !== null && <Time iso={lease.since} />}
      </dd>
      <dt>Exception</dt>
      <dd>
        {exception === null ? "none known" : [...exception.texts, ...exception.codes].join(", ")}
        {exception !== null && `, level ${exception.level}`}
      </dd>
    </dl>
  );
}

function placeText({ x, y, point, map_name: name, map_id: id }: NonNullable<RobotFacts["place"]>): string {
  const at = point === "" ? "" : `at ${point}, `;
  const where = x === null || y === null ? "no coordinates" : `x ${x.toFixed(1)}, y ${y.toFixed(1)}`;
  return `${at}${where}, map ${name === "" ? id : name}`;
}

function batteryText({ battery_state: battery }: BatteryState): string {
  return `${battery.charge_percent} %, ${codeWord(battery.state, "STATE_")}`;
}

interface PartProps {
  readonly robot: RobotFacts;
  /** How old it is, of a service that is silent; empty: it is not. */
  readonly heard: string;
}

function Queue({ robot, heard }: PartProps) {
  const { mission: value } = robot;
  if (value?.state == null) return <p>Its missions are not known.</p>;
  const { missions: queue, current_mission_index: current } = value.state;
  if (queue.length === 0) return <p>No mission{qualityNote(value.quality, heard)}.</p>;
  const caption = `Missions${qualityNote(value.quality, heard)}`;
  return (
    <Table caption={caption} columns={["", "Mission", "State", "Goals", "Owner"]}>
      {queue.map((mission, at) => (
        <tr key={mission.mission_id} class={at === current ? "current" : ""}>
          <td>{placeInQueue(mission, at, current)}</td>
          <td class="id">{mission.mission_id}</td>
          <td>
            {codeWord(mission.state, "STATE_")}
            {feedbackText(mission)}
          </td>
          <td>{goalsText(mission)}</td>
          <td>{mission.owner}</td>
        </tr>
      ))}
    </Table>
  );
}

/** What a robot of any family reports of a mission. */
function feedbackText({ mission_feedback: feedback }: MissionView): string {
  return Object.values(feedback ?? {})
    .map((each) => `, ${codeWord(each?.status ?? "", "STATUS_")}`)
    .join("");
}

function placeInQueue(mission: MissionView, at: number, current: number): string {
  if (at !== current) return `${at + 1}`;
  return hasEnded(mission) ? "last" : "▶ now";
}

/** The goals, with the present one in brackets. */
function goalsText({ goals, current_goal_index: current }: MissionView): string {
  return goals.map((goal, at) => (at === current ? `[${goalText(goal)}]` : goalText(goal))).join(" → ");
}

function Chain({ robot, heard }: PartProps) {
  const chain = robot.task_chain;
  if (chain?.state == null) return null;
  const { task_chain_state: facts, task_states: tasks } = chain.state;
  const current = chain.current_task_index;
  return (
    <Table
      caption={`Task chain ${facts?.id ?? ""}: ${sentence(facts?.status ?? "")}${qualityNote(chain.quality, heard)}`}
      columns={["", "Task", "Point", "Status"]}
    >
      {tasks.map((task, at) => (
        <tr key={at} class={at === current ? "current" : ""}>
          <td>{at === current ? "▶ now" : at + 1}</td>
          <td>{task.task_type}</td>
          <td>{task.end_point_code}</td>
          <td>{sentence(task.status)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Conveyors({ robot, heard }: PartProps) {
  if (robot.conveyors.length === 0) return null;
  return (
    <Table
      caption={`Conveyors${qualityNote("good", heard)}`}
      columns={["Conveyor", "Motion", "Load", "Health", "Quality"]}
    >
      {robot.conveyors.map(({ index, state, quality }) => (
        <tr key={index}>
          <td>{index}</td>
          <td>{state === null ? "–" : codeWord(state.operation_state, "OPERATION_STATE_")}</td>
          <td>{state === null ? "–" : codeWord(state.payload_state, "PAYLOAD_STATE_")}</td>
          <td>{state === null ? "–" : codeWord(state.health_state, "HEALTH_STATE_")}</td>
          <td>{quality}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A quality that is good claims too much for an old place. */
function doubtedText(quality: string): string {
  return quality === "good" ? "" : `${quality}, `;
}

function qualityNote(quality: string, heard: string): string {
  const notes = [quality === "good" ? "" : quality, heard].filter((note) => note !== "");
  return notes.length === 0 ? "" : ` (${notes.join(", ")})`;
}
