import { Refusal } from "../refusal.ts";
import type { WorldContext } from "./context.ts";
import {
  type Conveyor,
  installedConveyor,
  isFlat,
  type Motor,
  type MotorCommand,
  type Robot,
} from "./robot.ts";

/** The rules of conveyors. */
export interface ConveyorRules {
  /**
   * Sets motors. A motor turns until it is stopped. Clockwise draws a load on, counter-clockwise carries it
   * off, each after the rules' `transferMs`. Refuses with FAILED_PRECONDITION while one of these conveyors,
   * or the robot (blocked or flat), is in error.
   */
  command(robot: Robot, commands: readonly MotorCommand[], by: string): void;
  /** Stops every motor. */
  stopAll(robot: Robot, by: string): void;
  /** A conveyor in error stops, unless it keeps turning. */
  setHealthy(robot: Robot, index: number, healthy: boolean, keepsTurning?: boolean): void;
  setLoaded(robot: Robot, index: number, loaded: boolean): void;
}

/** The rules of conveyors in a world. */
export function createConveyorRules(world: WorldContext): ConveyorRules {
  const setMotor = (robot: Robot, conveyor: Conveyor, motor: Motor) => {
    if (conveyor.motor === motor) return;
    conveyor.transfer?.();
    conveyor.transfer = undefined;
    conveyor.motor = motor;
    const loadedAfter = motor === "cw";
    if (motor === "stop" || conveyor.loaded === loadedAfter) return;
    conveyor.transfer = world.agenda.after(world.rules.transferMs, () => {
      conveyor.transfer = undefined;
      load(robot, conveyor, loadedAfter);
    });
  };

  const load = (robot: Robot, conveyor: Conveyor, loaded: boolean) => {
    if (conveyor.loaded === loaded) return;
    conveyor.loaded = loaded;
    world.record.add(robot.id, { what: "payload", index: conveyor.index, loaded });
    world.changed({ kind: "conveyors", robot });
  };

  return {
    command(robot, commands, by) {
      const error = controlError(robot);
      if (error !== undefined) throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} ${error}`);
      const pairs = commands.flatMap(({ index, motor }) => {
        const conveyor = installedConveyor(robot, index);
        return conveyor === undefined ? [] : [{ conveyor, motor }];
      });
      const broken = pairs.find(({ conveyor }) => !conveyor.healthy);
      if (broken !== undefined) {
        throw new Refusal("FAILED_PRECONDITION", `conveyor ${broken.conveyor.index} is in error`);
      }
      const before = pairs.map(({ conveyor }) => conveyor.motor);
      for (const { conveyor, motor } of pairs) {
        world.record.add(robot.id, { what: "motor", index: conveyor.index, motor, by });
        setMotor(robot, conveyor, motor);
      }
      if (pairs.some(({ motor }, at) => (motor === "stop") !== (before[at] === "stop"))) {
        world.changed({ kind: "conveyors", robot });
      }
    },
    stopAll(robot, by) {
      const rolling = robot.conveyors.filter(({ motor }) => motor !== "stop");
      for (const conveyor of rolling) {
        world.record.add(robot.id, { what: "motor", index: conveyor.index, motor: "stop", by });
        setMotor(robot, conveyor, "stop");
      }
      if (rolling.length > 0) world.changed({ kind: "conveyors", robot });
    },
    setHealthy(robot, index, healthy, keepsTurning = false) {
      const conveyor = installedConveyor(robot, index);
      if (conveyor === undefined || conveyor.healthy === healthy) return;
      conveyor.healthy = healthy;
      if (!healthy && !keepsTurning) setMotor(robot, conveyor, "stop");
      world.changed({ kind: "conveyors", robot });
    },
    setLoaded(robot, index, loaded) {
      const conveyor = installedConveyor(robot, index);
      if (conveyor !== undefined) load(robot, conveyor, loaded);
    },
  };
}

/**
 * The error that prevents conveyor control, in words; undefined: none. GetOnlineRobots shows it as an
 * exception.
 */
export function controlError(robot: Robot): string | undefined {
  if (isFlat(robot)) return "has run flat";
  return robot.body.halts.has("blocked") ? "is blocked" : undefined;
}
