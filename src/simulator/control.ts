import type { Mission } from "../wire/fleet/v1/mission_pb.js";
import type { FaultRegistry } from "./faults/registry.ts";
import { Refusal } from "./refusal.ts";
import type { Family, Fault, Incident, Liveliness } from "./scenario/schema.ts";
import { checkFamily, readMission, toOrder } from "./service/mission-request.ts";
import type { GoalName } from "./world/map.ts";
import type { Feedback, MissionKind, MissionStatus } from "./world/mission.ts";
import type { RecordEntry } from "./world/record.ts";
import { isFlat, placeAt, type Robot } from "./world/robot.ts";
import type { World, WorldDriver } from "./world/world.ts";

/**
 * Functions for tests, demos and integrators that clients of the service do not have: faults, incidents,
 * missions of other owners, and the world's own record and state. Throws a Refusal.
 */
export interface Control {
  apply(fault: Fault): void;
  /** The faults that are switched on, with the counts that are left. */
  faults(): readonly Fault[];
  clearFaults(): void;
  /** Switches off the matching faults. */
  endFaults(fits: (fault: Fault) => boolean): void;
  happen(incident: Incident): void;
  /**
   * Starts a mission of another owner: `touchscreen`, or another client's name.
   *
   * @returns its id
   */
  startMission(robotId: string, owner: string, mission: Mission | undefined): string;
  /** Ends the mission of a robot, as a user at the touchscreen does. */
  cancelMission(robotId: string, missionId: string): void;
  /** What robots do by themselves from now on. */
  setLively(lively: Liveliness): void;
  /** What really happened: the entries with a larger `seq`. */
  record(since: number): readonly RecordEntry[];
  /** The real state of every robot now. */
  robots(): readonly RobotState[];
}

export function createControl(world: World, driver: WorldDriver, faults: FaultRegistry): Control {
  const robotOf = (robotId: string): Robot => {
    const robot = world.robots.get(robotId);
    if (robot === undefined) throw new Refusal("NOT_FOUND", `robot ${robotId} does not exist`);
    return robot;
  };
  return {
    apply: faults.apply,
    faults: faults.list,
    clearFaults: faults.clear,
    endFaults: faults.end,
    happen(incident) {
      robotOf(incident.robotId);
      driver.sync();
      world.happen(incident);
    },
    startMission(robotId, owner, mission) {
      const robot = robotOf(robotId);
      const wish = readMission(mission);
      checkFamily(robot, wish);
      driver.sync();
      const [missionId] = world.missions.begin(robot, [toOrder(robot, wish)], owner, owner);
      if (missionId === undefined) throw new Error("a mission that was begun has no id");
      return missionId;
    },
    cancelMission(robotId, missionId) {
      driver.sync();
      world.missions.control(robotOf(robotId), missionId, "cancel", "touchscreen");
    },
    setLively(lively) {
      driver.sync();
      world.setLively(lively);
    },
    record(since) {
      driver.sync();
      return world.record.since(since);
    },
    robots() {
      driver.sync();
      return Array.from(world.robots.values(), (robot) => robotState(robot, world.nowMs()));
    },
  };
}

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
function robotState(robot: Robot, nowMs: number): RobotState {
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
