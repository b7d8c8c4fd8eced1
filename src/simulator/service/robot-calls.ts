import {
  type MissionWorkflow as CartWorkflow,
  type ConveyorMotorCommand,
  ConveyorMotorCommand_CommandConveyorMotor as WireMotor,
} from "../../wire/fleet/v1/cart/cart_pb.js";
import type { MissionWorkflow } from "../../wire/fleet/v1/mission_pb.js";
import type { MissionWorkflow as ServeWorkflow } from "../../wire/fleet/v1/serve/serve_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import { invalid } from "../refusal.ts";
import type { MissionOrder } from "../world/mission.ts";
import {
  homeOf,
  installedConveyor,
  installedIndexes,
  type Motor,
  type MotorCommand,
  type Robot,
} from "../world/robot.ts";
import { API_OWNER, type CallHandler, type CallParts, handler } from "./calls.ts";
import { checkFamily, type MissionWish, readControl, readMission, toOrder, wish } from "./mission-request.ts";

/** The mission operations of FleetService, their checks in the order of docs/internals/service.md, ERR-47. */
export function missionCalls({ world, ownership, confirmation }: CallParts): readonly CallHandler[] {
  const { missions } = world;
  const { method } = FleetService;
  return [
    handler(method.createMission, async ({ operation, caller, by }, { robotId, mission }) => {
      const wish = readMission(mission);
      const robot = ownership.robot(caller, robotId);
      checkFamily(robot, wish);
      const order = toOrder(robot, wish);
      return confirmation.perform(operation, robot, () => {
        const [missionId = ""] = missions.begin(robot, [order], API_OWNER, by);
        return { missionId };
      });
    }),
    handler(method.appendMission, async ({ operation, caller, by }, { robotId, mission }) => {
      const wish = readMission(mission);
      const robot = ownership.robot(caller, robotId);
      checkFamily(robot, wish);
      const order = toOrder(robot, wish);
      return confirmation.perform(operation, robot, () => ({
        missionId: missions.append(robot, order, API_OWNER, by),
      }));
    }),
    handler(method.updateMission, async ({ operation, caller, by }, { robotId, missionCommand }) => {
      if (missionCommand === undefined) throw invalid("mission_command is required");
      const control = readControl(missionCommand.command);
      const { missionId } = missionCommand;
      if (missionId === "") throw invalid("mission_command.mission_id is empty");
      const robot = ownership.robot(caller, robotId);
      return confirmation.perform(operation, robot, () => {
        missions.control(robot, missionId, control, by);
        return {};
      });
    }),
    handler(method.createMissionWorkflow, async ({ operation, caller, by }, { robotId, missionWorkflow }) => {
      const wishes = readWorkflow(missionWorkflow);
      const robot = ownership.robot(caller, robotId);
      for (const wish of wishes) checkFamily(robot, wish);
      const orders = toWorkflowOrders(robot, wishes);
      return confirmation.perform(operation, robot, () => ({
        missionIds: missions.begin(robot, orders, API_OWNER, by),
      }));
    }),
    handler(method.skipGoal, async ({ operation, caller, by }, { robotId }) => {
      const robot = ownership.robot(caller, robotId);
      return confirmation.perform(operation, robot, () => ({ missionId: missions.skip(robot, by) }));
    }),
    handler(method.chargeRobot, async ({ operation, caller, by }, { robotId }) => {
      const robot = ownership.robot(caller, robotId);
      return confirmation.perform(operation, robot, () => ({
        missionId: missions.charge(robot, API_OWNER, by),
      }));
    }),
  ];
}

/**
 * Reads a workflow into the missions before the return. Hosting has one mission for each goal; a birthday has
 * its single goal. Throws INVALID_ARGUMENT if it is not well-formed.
 */
function readWorkflow(workflow: MissionWorkflow | undefined): readonly MissionWish[] {
  switch (workflow?.workflow.case) {
    case "serveWorkflow":
      return readServe(workflow.workflow.value);
    case "cartWorkflow":
      return [readCart(workflow.workflow.value)];
    default:
      throw invalid("mission_workflow: one of serve_workflow and cart_workflow is required");
  }
}

/**
 * The missions of a workflow in order, the last of them the return to the robot's home. Throws
 * INVALID_ARGUMENT.
 */
function toWorkflowOrders(robot: Robot, wishes: readonly MissionWish[]): readonly MissionOrder[] {
  const kind = robot.family === "cart" ? "cart.navigate" : "serve.navigate";
  return [...wishes.map((each) => toOrder(robot, each)), { kind, targets: [homeOf(robot)] }];
}

function readCart({ workflow }: CartWorkflow): MissionWish {
  switch (workflow.case) {
    case "traverse":
      return wish("cart.traverse", workflow.value.goals);
    case "traversePatrol":
      return wish("cart.traverse-patrol", workflow.value.goals);
    default:
      throw invalid("cart_workflow: no workflow type is set");
  }
}

function readServe({ workflow }: ServeWorkflow): readonly MissionWish[] {
  switch (workflow.case) {
    case "delivery":
      return [wish("serve.serving", workflow.value.goals)];
    case "deliveryPatrol":
      return [wish("serve.serving-patrol", workflow.value.goals)];
    case "bussing":
      return [wish("serve.bussing", workflow.value.goals)];
    case "bussingPatrol":
      return [wish("serve.bussing-patrol", workflow.value.goals)];
    case "birthday":
      return [wish("serve.serving", [workflow.value.goal])];
    case "hosting": {
      const { goals, trayGoals } = wish("serve.navigate", workflow.value.goals);
      return goals.map((goal) => ({ kind: "serve.navigate", goals: [goal], trayGoals }));
    }
    case "hostingPatrol":
      return [wish("serve.hosting-patrol", workflow.value.goals)];
    default:
      throw invalid("serve_workflow: no workflow type is set");
  }
}

/** The conveyor operations of FleetService. */
export function conveyorCalls({ world, ownership, confirmation }: CallParts): readonly CallHandler[] {
  const { method } = FleetService;
  return [
    handler(method.getConveyorIndex, async ({ operation, caller }, { robotId }) => {
      const robot = ownership.robot(caller, robotId);
      checkCart(robot);
      return confirmation.answer(operation, robotId, () => ({ indexes: installedIndexes(robot) }));
    }),
    handler(method.controlConveyor, async ({ operation, caller, by }, { robotId, commands }) => {
      const motors = readMotors(commands);
      const robot = ownership.robot(caller, robotId);
      checkCart(robot);
      const missing = motors.find(({ index }) => installedConveyor(robot, index) === undefined);
      if (missing !== undefined) throw invalid(`conveyor ${missing.index} is not installed`);
      return confirmation.perform(operation, robot, () => {
        world.conveyors.command(robot, motors, by);
        return {};
      });
    }),
  ];
}

/** Throws INVALID_ARGUMENT for a robot of another family. */
export function checkCart(robot: Robot): void {
  if (robot.family !== "cart") throw invalid(`robot ${robot.id} is not of the cart family`);
}

function readMotors(commands: readonly ConveyorMotorCommand[]): readonly MotorCommand[] {
  if (commands.length === 0) throw invalid("commands: at least one command is required");
  const motors = commands.map(({ index, command }) => ({ index, motor: readMotor(command) }));
  if (new Set(motors.map(({ index }) => index)).size < motors.length) {
    throw invalid("commands: a conveyor is named twice");
  }
  return motors;
}

function readMotor(command: WireMotor): Motor {
  switch (command) {
    case WireMotor.STOP:
      return "stop";
    case WireMotor.CW:
      return "cw";
    case WireMotor.CCW:
      return "ccw";
    default:
      throw invalid(`commands: ${command} is not a motor command`);
  }
}
