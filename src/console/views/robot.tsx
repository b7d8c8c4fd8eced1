import type { MissionView } from "../../models/robot.ts";
import type { Robot as RobotFacts } from "../../northbound/web/api/robot.ts";
import { eventsOf } from "../fleet/events.ts";
import { codeWord, goalText, hasEnded, missionStateText, wordOf } from "../fleet/words.ts";
import { say, word } from "../texts/texts.ts";
import { ageMs, agoText } from "../trust/time-text.ts";
import { AlarmList } from "./alarm-list.tsx";
import { CommandLog } from "./command-log.tsx";
import { Commanding } from "./commanding.tsx";
import { usePage } from "./context.ts";
import { FirstLine } from "./first-line.tsx";
import { viewLater } from "./later.tsx";
import { Card, Empty, Link, Says, ShortId, Table, Time, Word } from "./parts.tsx";
import { Facts } from "./robot-facts.tsx";

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
        <Table
          caption={say("robot.events")}
          columns={[
            { name: say("robot.time"), class: "fixed" },
            say("robot.event"),
            { name: say("robot.says"), class: "wide" },
          ]}
          rows={shown.map(({ id, at, kind, text }) => ({
            key: id,
            cells: [<Time iso={at} isDated />, word(kind), text],
          }))}
        />
      )}
      <p class="muted">
        {shown.length === 0 ? (
          <Says of="robot.eventsNone" time={<Time iso={log.since} isDated />} />
        ) : (
          <Says of="robot.eventsSince" most={MOST_SHOWN} time={<Time iso={log.since} isDated />} />
        )}
      </p>
    </>
  );
}

const BatteryHours = viewLater<{ readonly robotId: string }>(() =>
  import("./trends.tsx").then((module) => module.BatteryHours),
);

/** One robot: first, why it stands. */
export function Robot({ robotId }: { readonly robotId: string }) {
  const { store } = usePage();
  const silence = store.silence.value;
  const known = store.fleet.value?.robots.get(robotId);
  if (known === undefined) {
    return (
      <>
        <h1>{robotId}</h1>
        <Empty icon="robot" title={say("robot.notThere")}>
          <Link to="/">{say("robot.all")}</Link>
        </Empty>
      </>
    );
  }
  const { robot } = known;
  const now = store.now.value;
  const listed = silence === null ? "" : say("robot.listed", { ago: agoText(ageMs(silence, now)) });
  return (
    <>
      <h1>
        {robot.robot_id} <Word {...wordOf(robot, silence !== null)} />
      </h1>
      <FirstLine known={known} />
      <div class="columns">
        <div class="card">
          <Commanding known={known} />
        </div>
        <Card title={say("robot.state")}>
          <Facts known={known} silence={silence} />
        </Card>
      </div>
      {robot.alarms.length > 0 && <AlarmList title={say("robot.alarms")} alarms={robot.alarms} />}
      <Queue robot={robot} listed={listed} />
      <Chain robot={robot} listed={listed} />
      <Conveyors robot={robot} listed={listed} />
      <CommandLog caption={say("robot.commands")} robotId={robotId} />
      <RobotEvents robotId={robotId} />
      <BatteryHours robotId={robotId} />
    </>
  );
}

interface PartProps {
  readonly robot: RobotFacts;
  /** How old the online list is, if the next one is late; empty: it is not. */
  readonly listed: string;
}

function Queue({ robot, listed }: PartProps) {
  const { mission: value } = robot;
  if (value?.state == null) return <p>{say("robot.missionsNotKnown")}</p>;
  const { missions: queue, current_mission_index: current } = value.state;
  if (queue.length === 0)
    return <p>{say("robot.noMission", { note: qualityNote(value.quality, listed) })}</p>;
  const caption = say("robot.missions", { note: qualityNote(value.quality, listed) });
  return (
    <Table
      caption={caption}
      columns={[
        { name: "", class: "title short" },
        say("robot.mission"),
        say("robot.state"),
        { name: say("robot.goals"), class: "wide" },
        say("robot.owner"),
      ]}
      rows={queue.map((mission, at) => ({
        key: mission.mission_id,
        class: at === current && !hasEnded(mission) ? "current" : "",
        cells: [
          placeInQueue(mission, at, current),
          <ShortId id={mission.mission_id} />,
          missionStateText(mission),
          goalsText(mission),
          mission.owner,
        ],
      }))}
    />
  );
}

function placeInQueue(mission: MissionView, at: number, current: number): string {
  if (at !== current) return `${at + 1}`;
  return say(hasEnded(mission) ? "robot.last" : "robot.now");
}

/** The goals, with the present one in brackets. */
function goalsText({ goals, current_goal_index: current }: MissionView): string {
  return goals.map((goal, at) => (at === current ? `[${goalText(goal)}]` : goalText(goal))).join(" → ");
}

function Chain({ robot, listed }: PartProps) {
  const { maps } = usePage();
  const chain = robot.task_chain;
  if (chain?.state == null) return null;
  const { task_chain_state: facts, task_states: tasks } = chain.state;
  const current = chain.current_task_index;
  return (
    <Table
      caption={say("robot.chain", {
        id: facts?.id ?? "",
        status: word(facts?.status ?? ""),
        note: qualityNote(chain.quality, listed),
      })}
      columns={[
        { name: "", class: "title short" },
        say("robot.task"),
        say("robot.point"),
        say("robot.status"),
      ]}
      rows={tasks.map((task, at) => ({
        key: `${at}`,
        class: at === current ? "current" : "",
        cells: [
          at === current ? say("robot.now") : at + 1,
          codeWord(task.task_type, "TASK_TYPE_"),
          maps.nameOf(task.map_id, task.end_point_code),
          word(task.status),
        ],
      }))}
    />
  );
}

function Conveyors({ robot, listed }: PartProps) {
  if (robot.conveyors.length === 0) return null;
  return (
    <Table
      caption={say("robot.conveyors", { note: qualityNote("good", listed) })}
      columns={[
        { name: say("robot.conveyor"), class: "title short" },
        say("robot.motion"),
        say("robot.load"),
        say("robot.health"),
        say("robot.quality"),
      ]}
      rows={robot.conveyors.map(({ index, state, quality }) => ({
        key: `${index}`,
        cells: [
          index,
          state === null ? "–" : codeWord(state.operation_state, "OPERATION_STATE_"),
          state === null ? "–" : codeWord(state.payload_state, "PAYLOAD_STATE_"),
          state === null ? "–" : codeWord(state.health_state, "HEALTH_STATE_"),
          word(quality),
        ],
      }))}
    />
  );
}

function qualityNote(quality: string, listed: string): string {
  if (quality === "good") return listed === "" ? "" : say("robot.noteOf", { quality: listed });
  const shown = word(quality);
  return listed === ""
    ? say("robot.noteOf", { quality: shown })
    : say("robot.noteOfBoth", { quality: shown, listed });
}
