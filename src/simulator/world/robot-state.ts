import type { GoalName } from "./map.ts";
import type { Feedback, MissionKind, MissionStatus } from "./mission.ts";
import { isFlat, placeAt, type Robot } from "./robot.ts";
import type { Family } from "./spec.ts";

/** The real state of a robot, in the world's own terms and not in those of a message. Plain data. */
export interface RobotState {
  readonly robotId: string;
  readonly amrId: number;
  readonly family: Family;
  readonly location: string;
  /** Whether it can be reached. While it cannot, its last report may be older. */
  readonly online: boolean;
  readonly missions: ReadonlyArray<{
    readonly missionId: string;
    readonly kind: MissionKind;
    readonly owner: string;
    readonly status: MissionStatus;
    readonly goals: readonly GoalName[];
    readonly goalIndex: number;
    readonly feedback: Feedback;
  }>;
  /** Index of the active or else the last mission; -1 before the first. */
  readonly currentIndex: number;
  readonly battery: {
    /** Whole percent, rounded down. */
    readonly percent: number;
    readonly state: "charging" | "discharging" | "full";
    readonly method: "none" | "wired" | "contact";
  };
  readonly conveyors: ReadonlyArray<{
    readonly index: number;
    readonly installed: boolean;
    readonly motor: "stop" | "cw" | "ccw";
    readonly loaded: boolean;
    readonly healthy: boolean;
  }>;
  readonly mapId: number;
  /** Metres and radians. */
  readonly place: { readonly x: number; readonly y: number; readonly heading: number };
  /** Code of the vertex at which it is; empty between vertices. */
  readonly at: string;
  readonly carriedKg: number;
  /** Loaded by a task of a chain. */
  readonly loaded: boolean;
  /** Number of the task chain that it executes; 0: none. */
  readonly chainId: number;
  /** Why its action is halted. */
  readonly halts: readonly string[];
  readonly flat: boolean;
}

/** The state of a robot at a moment to which the world was brought. */
export function robotState(robot: Robot, nowMs: number): RobotState {
  const { battery, body, map } = robot;
  const { x, y } = placeAt(robot, nowMs);
  return {
    robotId: robot.id,
    amrId: robot.amrId,
    family: robot.family,
    location: robot.location,
    online: robot.online,
    missions: robot.missions.map(({ id, kind, owner, status, targets, goalIndex, feedback }) => ({
      missionId: id,
      kind,
      owner,
      status,
      goals: targets.map(({ goal }) => goal),
      goalIndex,
      feedback,
    })),
    currentIndex: robot.currentIndex,
    battery: { percent: battery.shownPercent, state: battery.state, method: battery.method },
    conveyors: robot.conveyors.map(({ index, installed, motor, loaded, healthy }) => ({
      index,
      installed,
      motor,
      loaded,
      healthy,
    })),
    mapId: map.id,
    place: { x, y, heading: body.heading },
    at: map.vertexAt({ x, y })?.code ?? "",
    carriedKg: robot.carriedKg,
    loaded: robot.loaded,
    chainId: robot.chainId,
    halts: [...body.halts],
    flat: isFlat(robot),
  };
}
