import type { MissionWorkflow as CartWorkflow } from "../../wire/fleet/v1/cart/cart_pb.js";
import type { MissionWorkflow } from "../../wire/fleet/v1/mission_pb.js";
import type { MissionWorkflow as ServeWorkflow } from "../../wire/fleet/v1/serve/serve_pb.js";
import type { MissionOrder } from "../world/mission.ts";
import { homeOf, type Robot } from "../world/robot.ts";
import { invalid, type MissionWish, toOrder, wish } from "./mission-request.ts";

/**
 * Reads a workflow into the missions before the return. Hosting has one mission for each goal; a birthday has
 * its single goal. Throws INVALID_ARGUMENT if it is not well-formed.
 */
export function readWorkflow(workflow: MissionWorkflow | undefined): readonly MissionWish[] {
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
export function toWorkflowOrders(robot: Robot, wishes: readonly MissionWish[]): readonly MissionOrder[] {
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
