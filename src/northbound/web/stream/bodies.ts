import type { LoggedCommand } from "../../../contracts/command-log.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { alarmOf, MOST_ALARMS } from "../../../models/alarm.ts";
import { timeText } from "../../../models/json-text.ts";
import { holdOf } from "../../../models/robot.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { RobotChange } from "../api/robot.ts";
import type { Change, Snapshot, StandingAlarms } from "../api/stream.ts";
import type { FloorChanges } from "../floor/changes.ts";
import { commandJson } from "../floor/command-json.ts";
import type { Floor } from "../floor/floor.ts";
import { mapSummaryJson } from "../floor/map-json.ts";
import type { RobotKey } from "../floor/robot-facts.ts";
import type { RobotWriter } from "../floor/robot-json.ts";
import { type StationJsonParts, stationJson } from "../floor/station-json.ts";

export interface MessageParts extends StationJsonParts {
  readonly floor: Floor;
  readonly robotWriter: RobotWriter;
  readonly gatewayId: string;
  readonly version: string;
  readonly sessionId: string;
  /** Counts the configurations that were loaded. */
  readonly configuration: () => number;
  /** Whether it runs as a demo, without log-in. */
  readonly isOpen: () => boolean;
  /** Whether a simulated fleet service runs beside the gateway. */
  readonly hasSimulator: boolean;
  /** Between two online lists; null: they are not polled. */
  readonly pollMs: number | null;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
}

export function snapshotBody(parts: MessageParts): Snapshot {
  const { floor, clock, gatewayId, version, sessionId, isOpen, hasSimulator, pollMs } = parts;
  return {
    at: timeText(clock.nowMs()),
    session_id: sessionId,
    gateway_id: gatewayId,
    version,
    configuration: parts.configuration(),
    open: isOpen(),
    has_simulator: hasSimulator,
    poll_ms: pollMs,
    robot_count: floor.robots().size,
    maps: mapsBody(parts, floor.maps().keys()),
    stations: stationsBody(parts, floor.stations().keys()),
    alarms: alarmsBody(floor),
    hold: holdOf(floor.holdOfAll()),
  };
}

/** Null: nothing has changed. */
export function changeBody(
  parts: MessageParts,
  news: FloorChanges,
  commands: readonly LoggedCommand[],
): Change | null {
  const { floor, clock } = parts;
  const robots = [...news.robots].flatMap(([robotId, keys]) => robotChange(parts, robotId, keys) ?? []);
  const gone = [...news.maps].filter((mapId) => !floor.maps().has(mapId));
  const changed = {
    ...(robots.length === 0 ? {} : { robots }),
    ...(news.stations.size === 0 ? {} : { stations: stationsBody(parts, news.stations) }),
    ...(news.stationsRemoved.size === 0 ? {} : { stations_removed: [...news.stationsRemoved] }),
    ...(news.maps.size === 0 ? {} : { maps: mapsBody(parts, news.maps), maps_removed: gone }),
    ...(news.alarms ? { alarms: alarmsBody(floor) } : {}),
    ...(news.hold ? { hold: holdOf(floor.holdOfAll()) } : {}),
    ...(commands.length === 0
      ? {}
      : { commands: commands.map((command) => commandJson(command, clock.nowMs())) }),
  };
  return Object.keys(changed).length === 0 ? null : { at: timeText(clock.nowMs()), ...changed };
}

function robotChange(
  { floor, robotWriter }: MessageParts,
  robotId: RobotId,
  keys: ReadonlySet<RobotKey>,
): RobotChange | null {
  const facts = floor.robots().get(robotId);
  if (facts === undefined) return null;
  const changed = [...keys].map((key) => [key, robotWriter.key(facts, key)] as const);
  return { robot_id: robotId, ...Object.fromEntries(changed) };
}

function mapsBody({ floor }: MessageParts, mapIds: Iterable<number>): Snapshot["maps"] {
  return [...mapIds].flatMap((mapId) => {
    const map = floor.maps().get(mapId);
    return map === undefined ? [] : [mapSummaryJson(mapId, map, floor.robots().values())];
  });
}

function stationsBody(parts: MessageParts, names: Iterable<string>): Snapshot["stations"] {
  const { floor } = parts;
  return [...names].flatMap((name) => {
    const facts = floor.stations().get(name);
    return facts === undefined ? [] : [stationJson(parts, name, facts, floor.robots().keys())];
  });
}

function alarmsBody(floor: Floor): StandingAlarms {
  const alarms = floor.alarms();
  const listed = alarms.slice(0, MOST_ALARMS).map(alarmOf);
  return { count: alarms.length, alarms: listed };
}
