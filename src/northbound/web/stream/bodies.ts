import type { LoggedCommand } from "../../../contracts/command-log.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { alarmOf, MOST_ALARMS } from "../../../models/alarm.ts";
import { timeText } from "../../../models/json-text.ts";
import { holdOf } from "../../../models/robot.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Change, ListedAlarms, Snapshot } from "../api/stream.ts";
import type { Floor } from "../floor/floor.ts";
import type { RobotWriter, StationWriter } from "../floor/floor-json.ts";
import type { FloorChanges } from "../floor/robot-board.ts";
import type { RobotKey } from "../floor/robot-facts.ts";
import { commandJson } from "../resources/commands.ts";
import { mapSummaryJson } from "../resources/floor.ts";
import type { ApiSettings, GatewayIdentity } from "../status-report.ts";

/** The bodies of the stream's messages that show the fleet. */
export interface Bodies {
  snapshot(): Snapshot;
  /**
   * A `Change` as JSON, in pieces of one robot each; null: nothing has changed. To join a thousand robots as
   * text, and to make bytes of that, takes longer than to make bytes of each.
   */
  change(news: FloorChanges, commands: readonly LoggedCommand[]): readonly string[] | null;
}

export function createBodies({
  floor,
  robotWriter,
  stationJson,
  identity,
  settings,
  clock,
}: {
  readonly floor: Floor;
  readonly robotWriter: RobotWriter;
  readonly stationJson: StationWriter;
  readonly identity: GatewayIdentity;
  readonly settings: ApiSettings;
  readonly clock: Pick<Clock, "nowMs">;
}): Bodies {
  /** A `RobotChange` as JSON, or nothing. */
  function robotChange(robotId: RobotId, keys: ReadonlySet<RobotKey>): string | readonly [] {
    const facts = floor.robots().get(robotId);
    if (facts === undefined) return [];
    let text = `{"robot_id":${JSON.stringify(robotId)}`;
    for (const key of keys) text += `,"${key}":${robotWriter.keyText(facts, key)}`;
    return `${text}}`;
  }

  function maps(mapIds: Iterable<number>): Snapshot["maps"] {
    return [...mapIds].flatMap((mapId) => {
      const map = floor.maps().get(mapId);
      return map === undefined ? [] : [mapSummaryJson(mapId, map, floor.robots().values())];
    });
  }

  function stations(names: Iterable<string>): Snapshot["stations"] {
    return [...names].flatMap((name) => {
      const facts = floor.stations().get(name);
      return facts === undefined ? [] : [stationJson(name, facts, floor.robots().keys())];
    });
  }

  function alarms(): ListedAlarms {
    const all = floor.alarms();
    return { count: all.length, alarms: all.slice(0, MOST_ALARMS).map(alarmOf) };
  }

  return {
    snapshot: () => ({
      at: timeText(clock.nowMs()),
      session_id: identity.sessionId,
      gateway_id: identity.gatewayId,
      version: identity.version,
      configuration: settings.configuration(),
      open: settings.isOpen(),
      has_simulator: settings.hasSimulator,
      poll_ms: settings.pollMs,
      robot_count: floor.robots().size,
      maps: maps(floor.maps().keys()),
      stations: stations(floor.stations().keys()),
      alarms: alarms(),
      hold: holdOf(floor.holdOfAll()),
    }),
    change(news, commands) {
      const nowMs = clock.nowMs();
      const robots = [...news.robots].flatMap(([robotId, keys]) => robotChange(robotId, keys));
      const gone = [...news.maps].filter((mapId) => !floor.maps().has(mapId));
      const changed: Omit<Change, "at" | "robots"> = {
        ...(news.stations.size === 0 ? {} : { stations: stations(news.stations) }),
        ...(news.stationsRemoved.size === 0 ? {} : { stations_removed: [...news.stationsRemoved] }),
        ...(news.maps.size === 0 ? {} : { maps: maps(news.maps), maps_removed: gone }),
        ...(news.alarms ? { alarms: alarms() } : {}),
        ...(news.hold ? { hold: holdOf(floor.holdOfAll()) } : {}),
        ...(commands.length === 0 ? {} : { commands: commands.map((each) => commandJson(each, nowMs)) }),
      };
      if (robots.length === 0 && Object.keys(changed).length === 0) return null;
      const text = JSON.stringify({ at: timeText(nowMs), ...changed });
      if (robots.length === 0) return [text];
      const pieces = robots.map((robot, index) => (index === 0 ? robot : `,${robot}`));
      return [`${text.slice(0, -1)},"robots":[`, ...pieces, "]}"];
    },
  };
}
