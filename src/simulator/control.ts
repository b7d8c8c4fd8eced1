import type { Mission } from "../wire/fleet/v1/mission_pb.js";
import type { Fault } from "./faults/fault.ts";
import type { FaultRegistry } from "./faults/registry.ts";
import { Refusal } from "./refusal.ts";
import { checkFamily, readMission, toOrder } from "./service/mission-request.ts";
import type { WorldDriver } from "./service/world-driver.ts";
import type { Incident } from "./world/incident.ts";
import type { RecordEntry } from "./world/record.ts";
import type { Robot } from "./world/robot.ts";
import { type RobotState, robotState } from "./world/robot-state.ts";
import type { Liveliness } from "./world/spec.ts";
import type { World } from "./world/world.ts";

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
