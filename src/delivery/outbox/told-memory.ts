import type { ToldBefore } from "../../contracts/told-before.ts";
import type { Coded } from "../../domain/coded.ts";
import type { Conveyor } from "../../domain/conveyor.ts";
import type { FleetEvent } from "../../domain/event.ts";
import type { MissionStateName } from "../../domain/mission.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import { TOLD, toldKey } from "./records.ts";

/** What events have said last of missions and conveyors, in the store beside the events. */
export interface ToldMemory extends ToldBefore {
  /** The records that change with this event, to be written in one step with it. */
  note(event: FleetEvent): readonly StoreChange[];
}

type StoredTold =
  | readonly ["mission", atMs: number, RobotId, string, Coded<MissionStateName>]
  | readonly ["conveyor", atMs: number, RobotId, Conveyor];

interface Told {
  /** By mission, the one that was told of last at the end. */
  readonly missions: Map<string, Coded<MissionStateName>>;
  /** That one. */
  lastMissionId: string | null;
  readonly conveyors: Map<number, Conveyor>;
}

/** More than wait in a queue, and the finished ones behind them. */
const MOST_MISSIONS = 32;
/** As many as the state takes. */
const MOST_ROBOTS = 10_000;
const nothing: readonly StoreChange[] = [];

/** Reads what earlier runs have left. @throws RecordDamaged */
export function openToldMemory(store: Store): ToldMemory {
  const robots = new Map<RobotId, Told>();
  const stored = Array.from(store.range(TOLD), ({ value }) => value as StoredTold);
  for (const each of stored.sort((a, b) => a[1] - b[1])) {
    const told = toldOf(each[2]);
    if (each[0] === "mission") told.missions.set(each[3], each[4]);
    else told.conveyors.set(each[3].index, each[3]);
  }

  function toldOf(robotId: RobotId): Told {
    let told = robots.get(robotId);
    if (told === undefined) {
      told = { missions: new Map(), lastMissionId: null, conveyors: new Map() };
      robots.set(robotId, told);
    }
    return told;
  }

  /** The robot that is known for longest makes room. */
  function evictRobot(changes: StoreChange[]): void {
    for (const [robotId, { missions, conveyors }] of robots) {
      robots.delete(robotId);
      for (const missionId of missions.keys()) changes.push(removed(missionKey(robotId, missionId)));
      for (const index of conveyors.keys()) changes.push(removed(conveyorKey(robotId, index)));
      return;
    }
  }

  return {
    missions: (robotId) => robots.get(robotId)?.missions ?? null,
    conveyors(robotId) {
      const conveyors = robots.get(robotId)?.conveyors;
      return conveyors === undefined || conveyors.size === 0 ? null : [...conveyors.values()];
    },
    note(event) {
      if (event.kind !== "mission" && event.kind !== "conveyor") return nothing;
      const { robotId, atMs } = event;
      const told = toldOf(robotId);
      const { missions, conveyors } = told;
      const changes: StoreChange[] = [];
      if (event.kind === "conveyor") {
        conveyors.set(event.to.index, event.to);
        changes.push({
          key: conveyorKey(robotId, event.to.index),
          value: ["conveyor", atMs, robotId, event.to],
        });
      } else {
        const { missionId, to } = event;
        // Deleted first: a Map keeps the order of insertion, so its front stays the oldest.
        if (missionId !== told.lastMissionId) missions.delete(missionId);
        missions.set(missionId, to);
        told.lastMissionId = missionId;
        changes.push({
          key: missionKey(robotId, missionId),
          value: ["mission", atMs, robotId, missionId, to],
        });
        const oldest = missions.size > MOST_MISSIONS ? missions.keys().next().value : undefined;
        if (oldest !== undefined) {
          missions.delete(oldest);
          changes.push(removed(missionKey(robotId, oldest)));
        }
      }
      if (robots.size > MOST_ROBOTS) evictRobot(changes);
      return changes;
    },
  };
}

function removed(key: string): StoreChange {
  return { key, value: undefined };
}

function missionKey(robotId: RobotId, missionId: string): string {
  return toldKey("mission", robotId, missionId);
}

function conveyorKey(robotId: RobotId, index: number): string {
  return toldKey("conveyor", robotId, String(index));
}
