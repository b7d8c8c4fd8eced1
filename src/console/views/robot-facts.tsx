import type { BatteryState } from "../../models/robot.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { type KnownRobot, seenOf } from "../fleet/fleet.ts";
import { codeWord, currentGoalText } from "../fleet/words.ts";
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
import { usePage } from "./context.ts";
import { Charge, Link, Time } from "./parts.tsx";

const A_DAY_MS = 86_400_000;

/** The headline: why it stands, or that this is no longer known. */
export function firstText(known: KnownRobot, silence: Dated | null, now: Moment): string {
  const text = standsText(known, now);
  if (silence === null || known.robot.standing.reason === "UNKNOWN") return text;
  return `No online list for ${ageText(ageMs(silence, now))}. Last: ${text}`;
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

interface FactsProps {
  readonly known: KnownRobot;
  readonly silence: Dated | null;
}

/** What one looks for first: the rest is on the robot's page. */
export function MainFacts({ known, silence }: FactsProps) {
  const { robot } = known;
  const { hold, lease } = robot;
  return (
    <dl class={silence === null ? "facts" : "facts unconfirmed"}>
      <dt>Mission</dt>
      <dd>{currentGoalText(robot)}</dd>
      <dt>Place</dt>
      <dd>
        <Place known={known} silence={silence} />
      </dd>
      <dt>Battery</dt>
      <dd>
        <Battery battery={robot.battery} />
      </dd>
      {hold.held && <dt>Hold</dt>}
      {hold.held && <dd>held by {hold.by.join(", ")}</dd>}
      {lease !== null && <dt>Lease</dt>}
      {lease !== null && <dd>{`${lease.station}, ${lease.owner}`}</dd>}
    </dl>
  );
}

export function Facts({ known, silence }: FactsProps) {
  const { store } = usePage();
  const { robot } = known;
  const { hold, lease, exception, place } = robot;
  return (
    <dl class={silence === null ? "facts" : "facts unconfirmed"}>
      <dt>Quality</dt>
      <dd>
        {robot.quality}
        {silence !== null &&
          robot.quality === "good" &&
          ` ${ageText(ageMs(silence, store.now.value))} ago, not known now`}
      </dd>
      <dt>Place</dt>
      <dd>
        <Place known={known} silence={silence} />{" "}
        {place !== null && <Link to={floorAddress(place.map_id, robot.robot_id)}>on the floor</Link>}
      </dd>
      <dt>Battery</dt>
      <dd>
        <Battery battery={robot.battery} />
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

/** Where it is, how old that is, and how far it is true. */
function Place({ known, silence }: FactsProps) {
  const { store, maps } = usePage();
  const { place } = known.robot;
  if (place === null) return <>not known</>;
  const { x, y, point, map_id: mapId, map_name: name, quality } = place;
  const seen = seenOf(known, store.fleet.value?.list ?? null);
  const at = point === "" ? "" : `at ${maps.nameOf(mapId, point)}, `;
  const where = x === null || y === null ? "no coordinates" : `x ${x.toFixed(1)}, y ${y.toFixed(1)}`;
  const isConfirmed = silence === null && place.listed;
  // A quality that is good claims too much for an old place.
  const doubt = `${quality === "good" ? "" : `${quality}, `}seen ${ageText(ageMs(seen, store.now.value))} ago`;
  return <>{`${at}${where}, map ${name === "" ? mapId : name} (${isConfirmed ? quality : doubt})`}</>;
}

function Battery({ battery }: Pick<Robot, "battery">) {
  if (battery?.state == null) return <>not known</>;
  return (
    <>
      <Charge percent={battery.state.battery_state.charge_percent} />
      {batteryText(battery.state)}
      {battery.quality !== "good" && ` (${battery.quality})`}
    </>
  );
}

function batteryText({ battery_state: battery }: BatteryState): string {
  return `${battery.charge_percent} %, ${codeWord(battery.state, "STATE_")}`;
}
