import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import { API_OWNER, type CallHandler, type CallParts, handler } from "./calls.ts";
import { checkFamily, invalid, readControl, readMission, toOrder } from "./mission-request.ts";
import { readWorkflow, toWorkflowOrders } from "./workflow-request.ts";

/** The mission operations of FleetService, their checks in the order of docs/service.md, ERR-47. */
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
