import type { PublishedBefore } from "../../contracts/fleet-view.ts";
import type { Coded } from "../../domain/coded.ts";
import type { FleetEvent } from "../../domain/event.ts";
import type { MissionStateName } from "../../domain/mission.ts";
import type { Conveyor, RobotId } from "../../domain/robot.ts";
import type { RunningTime } from "../../platform/running-time.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import { publishedKey, TOLD } from "./records.ts";

/** The last published states of missions and conveyors, in the store beside the events. */
export interface PublishedStore extends PublishedBefore {
  /** The records that change with this event, to be written in one step with it. */
  note(event: FleetEvent): readonly StoreChange[];
}

type StoredPublished =
  | readonly ["mission", runningMs: number, RobotId, string, Coded<MissionStateName>]
  | readonly ["conveyor", runningMs: number, RobotId, Conveyor];

interface PublishedMission {
  missionId: string;
  state: Coded<MissionStateName>;
}

interface PublishedState {
  /**
   * In the order of publishing. No Map (docs/internals/decisions.md, A Map whose keys come and go is not for
   * what changes with each event).
   */
  readonly missions: PublishedMission[];
  readonly conveyors: Map<number, Conveyor>;
}

/** More than the missions in a queue, with the finished ones behind them. */
const MOST_MISSIONS = 32;
/** The limit of the state. */
const MOST_ROBOTS = 10_000;
const nothing: readonly StoreChange[] = [];

/**
 * Reads the records of earlier runs.
 *
 * @throws RecordDamaged
 */
export function openPublishedStore(store: Store, time: RunningTime): PublishedStore {
  const robots = new Map<RobotId, PublishedState>();
  const stored = Array.from(store.range(TOLD), ({ value }) => value as StoredPublished);
  for (const each of stored.sort((a, b) => a[1] - b[1])) {
    const published = publishedOf(each[2]);
    if (each[0] === "mission") published.missions.push({ missionId: each[3], state: each[4] });
    else published.conveyors.set(each[3].index, each[3]);
  }

  function publishedOf(robotId: RobotId): PublishedState {
    let published = robots.get(robotId);
    if (published === undefined) {
      published = { missions: [], conveyors: new Map() };
      robots.set(robotId, published);
    }
    return published;
  }

  /** Evicts the robot that was known first. */
  function evictRobot(changes: StoreChange[]): void {
    for (const [robotId, { missions, conveyors }] of robots) {
      robots.delete(robotId);
      for (const { missionId } of missions) changes.push(removed(missionKey(robotId, missionId)));
      for (const index of conveyors.keys()) changes.push(removed(conveyorKey(robotId, index)));
      return;
    }
  }

  return {
    missions(robotId) {
      const missions = robots.get(robotId)?.missions;
      return missions === undefined ? null : new Map(missions.map((each) => [each.missionId, each.state]));
    },
    conveyors(robotId) {
      const conveyors = robots.get(robotId)?.conveyors;
      return conveyors === undefined || conveyors.size === 0 ? null : [...conveyors.values()];
    },
    note(event) {
      if (event.kind !== "mission" && event.kind !== "conveyor") return nothing;
      const { robotId } = event;
      const runningMs = time.totalMs();
      const published = publishedOf(robotId);
      const { missions, conveyors } = published;
      const changes: StoreChange[] = [];
      if (event.kind === "conveyor") {
        conveyors.set(event.to.index, event.to);
        changes.push({
          key: conveyorKey(robotId, event.to.index),
          value: ["conveyor", runningMs, robotId, event.to],
        });
      } else {
        const { missionId, to } = event;
        const evicted = noteMission(missions, missionId, to);
        changes.push({
          key: missionKey(robotId, missionId),
          value: ["mission", runningMs, robotId, missionId, to],
        });
        if (evicted !== null) changes.push(removed(missionKey(robotId, evicted)));
      }
      if (robots.size > MOST_ROBOTS) evictRobot(changes);
      return changes;
    },
  };
}

/** @returns the mission that is evicted for it, or null */
function noteMission(
  missions: PublishedMission[],
  missionId: string,
  state: Coded<MissionStateName>,
): string | null {
  const index = missions.findLastIndex((each) => each.missionId === missionId);
  const known = missions[index];
  if (known !== undefined) {
    known.state = state;
    if (index < missions.length - 1) missions.push(...missions.splice(index, 1));
    return null;
  }
  const oldest = missions.length < MOST_MISSIONS ? undefined : missions.shift();
  if (oldest === undefined) {
    missions.push({ missionId, state });
    return null;
  }
  // The object is used again: a new one would die old.
  const evicted = oldest.missionId;
  oldest.missionId = missionId;
  oldest.state = state;
  missions.push(oldest);
  return evicted;
}

function removed(key: string): StoreChange {
  return { key, value: undefined };
}

function missionKey(robotId: RobotId, missionId: string): string {
  return publishedKey("mission", robotId, missionId);
}

function conveyorKey(robotId: RobotId, index: number): string {
  return publishedKey("conveyor", robotId, String(index));
}
