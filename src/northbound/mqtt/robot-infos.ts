import type { StateChange } from "../../domain/change.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import type { PublishState } from "./message.ts";
import type { InfoPayload, RobotsPayload } from "./models/state.ts";
import type { PlacedRobot } from "./topic-templates.ts";
import type { Topics } from "./topics.ts";

/** The identity of robots, apart from their state: for `robots/<id>/info`, and the list `robots`. */
export interface RobotInfos {
  note(change: StateChange): void;
  /** Publishes the info of each robot with something new. */
  flush(): void;
  /** Publishes the list, if it has changed. Call it about once a second. */
  tick(): void;
}

interface Info {
  readonly robotId: RobotId;
  readonly alias: string | null;
  family: Family;
  readonly conveyors: Set<number>;
  /** Null: the robot's place is not known. */
  mapId: number | null;
}

/** A snapshot comes in slices: after so many ticks with new robots the list is published all the same. */
const MOST_TICKS = 5;

/**
 * The infos that one connection publishes. A robot that was seen stays in the list.
 *
 * @param robots those that the configuration names now: the same list object until it changes
 */
export function createRobotInfos(
  topics: Topics,
  robots: () => readonly PlacedRobot[],
  sessionId: string,
  publish: PublishState,
): RobotInfos {
  const aliasOf = createAliases(robots);
  const infos = new Map<RobotId, Info>();
  const news = new Set<Info>();
  let isListNew = false;
  let isGrowing = false;
  let ticks = 0;

  function infoOf(robotId: RobotId): Info {
    let info = infos.get(robotId);
    if (info === undefined) {
      const alias = aliasOf(robotId);
      info = { robotId, alias, family: "unknown", conveyors: new Set(), mapId: null };
      infos.set(robotId, info);
      news.add(info);
      isListNew = true;
      isGrowing = true;
    }
    return info;
  }

  return {
    note(change) {
      switch (change.kind) {
        case "robot": {
          const info = infoOf(change.robotId);
          if (info.family === change.family) return;
          info.family = change.family;
          isListNew = true;
          news.add(info);
          break;
        }
        case "conveyor": {
          const info = infoOf(change.robotId);
          const { index } = change.observed.value;
          if (info.conveyors.has(index)) return;
          info.conveyors.add(index);
          news.add(info);
          break;
        }
        case "presence": {
          const info = infoOf(change.robotId);
          const { value, quality } = change.observed;
          const isKnown = quality !== "lost" && quality !== "unknown" && value.mapId > 0;
          const mapId = isKnown ? value.mapId : null;
          if (info.mapId === mapId) return;
          info.mapId = mapId;
          news.add(info);
          break;
        }
      }
    },
    flush() {
      for (const info of news) publish(topics.robot(info.robotId).info, infoPayload(info, sessionId));
      news.clear();
    },
    tick() {
      ticks = isListNew ? ticks + 1 : 0;
      const isDue = isListNew && (!isGrowing || ticks > MOST_TICKS);
      isGrowing = false;
      if (!isDue) return;
      isListNew = false;
      ticks = 0;
      publish(topics.robots, listPayload([...infos.values()], topics, sessionId), topics.status);
    },
  };
}

/** By id, for a list that a reload may replace. */
function createAliases(robots: () => readonly PlacedRobot[]): (robotId: RobotId) => string | null {
  let read: readonly PlacedRobot[] = [];
  let aliases = new Map<RobotId, string | null>();
  return (robotId) => {
    const now = robots();
    if (now !== read) aliases = new Map(now.map((robot) => [robot.robotId, robot.alias]));
    read = now;
    return aliases.get(robotId) ?? null;
  };
}

function infoPayload({ robotId, alias, family, conveyors, mapId }: Info, sessionId: string): string {
  const payload: InfoPayload = {
    robot_id: robotId,
    alias,
    family,
    conveyors: [...conveyors].sort((a, b) => a - b),
    map_id: mapId,
    session_id: sessionId,
  };
  return JSON.stringify(payload);
}

function listPayload(infos: readonly Info[], topics: Topics, sessionId: string): string {
  const payload: RobotsPayload = {
    session_id: sessionId,
    robots: infos.map(({ robotId, alias, family }) => ({
      robot_id: robotId,
      alias,
      family,
      info: topics.robot(robotId).info,
    })),
  };
  return JSON.stringify(payload);
}
