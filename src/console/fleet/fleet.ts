import type { Hold } from "../../models/robot.ts";
import type { Command } from "../../northbound/web/api/command.ts";
import type { MapSummary, Station } from "../../northbound/web/api/floor.ts";
import type { Robot, RobotChange } from "../../northbound/web/api/robot.ts";
import type { Change, ListedAlarms, Snapshot, Tick } from "../../northbound/web/api/stream.ts";
import { followed, POLLS_FORGIVEN, type Track } from "../floor/track.ts";
import { createTrail, type Trail } from "../floor/trail.ts";
import { ageMs, type Dated, type Moment, steady } from "../trust/time-text.ts";

/** A robot as last received. */
export interface KnownRobot {
  readonly robot: Robot;
  /** When the online list had the robot at its place, according to the message of the robot. */
  readonly placed: Dated;
  /** Null: no place is known. */
  readonly track: Track | null;
  /** Its places of the last ten minutes. Later states of the robot keep this object. */
  readonly trail: Trail;
}

/** Everything that the page knows about the gateway. */
export interface Fleet {
  readonly gatewayId: string;
  readonly version: string;
  readonly sessionId: string;
  /** Changes when another run of the gateway answers, or when its configuration changes. */
  readonly configuration: string;
  readonly isOpen: boolean;
  /** Whether the fleet service is a simulated one, whose faults the gateway offers. */
  readonly hasSimulator: boolean;
  readonly pollMs: number | null;
  readonly robots: ReadonlyMap<string, KnownRobot>;
  readonly stations: ReadonlyMap<string, Station>;
  readonly maps: ReadonlyMap<number, MapSummary>;
  readonly alarms: ListedAlarms;
  readonly hold: Hold;
  /** The newest online list; null: there was none. */
  readonly list: Dated | null;
  readonly isFleetLinkUp: boolean;
  /** Received commands by key, the newest last. */
  readonly commands: ReadonlyMap<string, Command>;
}

/** When and how late a message was received, and how marks may move. */
export interface Reception {
  readonly now: Moment;
  readonly delayMs: number;
  readonly isMotionReduced: boolean;
}

export const MOST_COMMANDS = 500;

/** The fleet at the beginning of a snapshot, still without its robots. */
export function begun(snapshot: Snapshot): Fleet {
  return {
    gatewayId: snapshot.gateway_id,
    version: snapshot.version,
    sessionId: snapshot.session_id,
    configuration: `${snapshot.session_id} ${snapshot.configuration}`,
    isOpen: snapshot.open,
    hasSimulator: snapshot.has_simulator,
    pollMs: snapshot.poll_ms,
    robots: new Map(),
    stations: new Map(snapshot.stations.map((station) => [station.station, station])),
    maps: new Map(snapshot.maps.map((map) => [map.map_id, map])),
    alarms: snapshot.alarms,
    hold: snapshot.hold,
    list: null,
    isFleetLinkUp: false,
    commands: new Map(),
  };
}

/** Adds robots of a snapshot. `before` has their earlier places. */
export function withRobots(
  fleet: Fleet,
  before: Fleet | null,
  received: readonly Robot[],
  reception: Reception,
): Fleet {
  const robots = new Map(fleet.robots);
  for (const robot of received) {
    const known = robots.get(robot.robot_id) ?? before?.robots.get(robot.robot_id) ?? null;
    robots.set(robot.robot_id, receivedRobot(robot, robot, known, before ?? fleet, reception));
  }
  return { ...fleet, robots };
}

const isKey: Readonly<Record<keyof Robot, true>> = {
  robot_id: true,
  family: true,
  quality: true,
  out_of_service: true,
  idle: true,
  place: true,
  mission: true,
  battery: true,
  task_chain: true,
  conveyors: true,
  exception: true,
  lease: true,
  hold: true,
  alarms: true,
};

/** A robot that is new to the gateway comes with all its keys. */
function isWhole(change: RobotChange): change is Robot {
  return Object.keys(isKey).every((key) => key in change);
}

/**
 * A partial change of a robot that the snapshot has not brought yet is left out: the snapshot will be newer.
 */
function withChanges(fleet: Fleet, changes: readonly RobotChange[], reception: Reception): Fleet {
  const robots = new Map(fleet.robots);
  for (const change of changes) {
    const known = robots.get(change.robot_id);
    if (known === undefined && !isWhole(change)) continue;
    const robot = { ...known?.robot, ...change } as Robot;
    robots.set(change.robot_id, receivedRobot(robot, change, known ?? null, fleet, reception));
  }
  return { ...fleet, robots };
}

export function changed(fleet: Fleet, change: Change, reception: Reception): Fleet {
  const withThem = change.robots === undefined ? fleet : withChanges(fleet, change.robots, reception);
  return {
    ...withThem,
    stations: merged(fleet.stations, change.stations, change.stations_removed, ({ station }) => station),
    maps: merged(fleet.maps, change.maps, change.maps_removed, (map) => map.map_id),
    alarms: change.alarms ?? fleet.alarms,
    hold: change.hold ?? fleet.hold,
    commands: withCommands(fleet.commands, change.commands),
  };
}

export function ticked(fleet: Fleet, tick: Tick, { now, delayMs }: Reception): Fleet {
  const { poll_age_ms: pollAgeMs } = tick;
  const told = pollAgeMs === null ? null : { ageWhenSentMs: pollAgeMs + delayMs, receivedAt: now };
  return {
    ...fleet,
    configuration: `${fleet.sessionId} ${tick.configuration}`,
    isFleetLinkUp: tick.fleet_link_up,
    list: told === null ? null : steady(fleet.list, told, now, sameListMs(fleet)),
  };
}

/** Two lists are a poll apart. */
function sameListMs({ pollMs }: Fleet): number {
  return Math.min(500, (pollMs ?? 0) / 2);
}

/**
 * The newest online list, if the next one is late; null: lists come in time, or none are asked for. The
 * protocol notices a silent stream later (docs/internals/decisions.md, A silent service is noticed by its
 * lists).
 */
export function silenceOf({ list, pollMs }: Pick<Fleet, "list" | "pollMs">, now: Moment): Dated | null {
  if (list === null || pollMs === null) return null;
  return ageMs(list, now) > POLLS_FORGIVEN * pollMs ? list : null;
}

/** When the online list last had a robot at its place. */
export function seenOf({ robot, placed }: KnownRobot, list: Dated | null): Dated {
  if (robot.place?.listed !== true || list === null) return placed;
  return ageMs(list, list.receivedAt) <= ageMs(placed, list.receivedAt) ? list : placed;
}

function receivedRobot(
  robot: Robot,
  { place }: RobotChange,
  known: KnownRobot | null,
  fleet: Fleet,
  reception: Reception,
): KnownRobot {
  const { now, delayMs } = reception;
  const received = (sentMs: number): Dated => ({ ageWhenSentMs: sentMs + delayMs, receivedAt: now });
  const track = place === undefined ? (known?.track ?? null) : trackOf(place, known, fleet, reception);
  const trail = known?.trail ?? createTrail();
  if (track !== null) trail.note(track.report.place, track.report.mapId, now);
  return {
    robot,
    placed: place === undefined && known !== null ? known.placed : received(robot.place?.age_ms ?? 0),
    track,
    trail,
  };
}

function trackOf(
  place: Robot["place"],
  known: KnownRobot | null,
  { pollMs, list }: Fleet,
  { now, isMotionReduced }: Reception,
): Track | null {
  if (place === null || place.x === null || place.y === null) return null;
  const at = { x: place.x, y: place.y, headingRadians: place.theta };
  const record = `${place.received_at} ${place.x} ${place.y} ${place.theta}`;
  const ageBeforeMs = known === null ? 0 : ageMs(seenOf(known, list), now);
  const report = { record, mapId: place.map_id, place: at, receivedAt: now };
  return followed(known?.track ?? null, report, { pollMs: pollMs ?? 0, ageBeforeMs, isMotionReduced });
}

function merged<Key, Value>(
  known: ReadonlyMap<Key, Value>,
  received: readonly Value[] | undefined,
  removed: readonly Key[] | undefined,
  keyOf: (value: Value) => Key,
): ReadonlyMap<Key, Value> {
  if (received === undefined && removed === undefined) return known;
  const all = new Map(known);
  for (const key of removed ?? []) all.delete(key);
  for (const value of received ?? []) all.set(keyOf(value), value);
  return all;
}

/** The key of a command. With a request id, it stays the same after a restart of the gateway. */
export function commandKey({ number, protocol, user, request_id: id }: Command): string {
  return id === null ? `number ${number}` : `${protocol}:${user}/${id}`;
}

/** Adds commands, the newest last, and evicts the oldest. */
export function withCommands(
  known: ReadonlyMap<string, Command>,
  received: readonly Command[] | undefined,
): ReadonlyMap<string, Command> {
  if (received === undefined) return known;
  const all = new Map(known);
  for (const command of received) {
    const key = commandKey(command);
    all.delete(key);
    all.set(key, command);
  }
  for (const key of all.keys()) {
    if (all.size <= MOST_COMMANDS) break;
    all.delete(key);
  }
  return all;
}
