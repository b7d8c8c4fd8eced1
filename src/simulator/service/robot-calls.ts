import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { type CallHandler, type CallParts, handler } from "./calls.ts";
import { toOnlineInfo } from "./online-message.ts";
import { toVertexInfo } from "./vertex-message.ts";

/** The robot and map operations of TaskService. */
export function robotCalls({ world, ownership, confirmation }: CallParts): readonly CallHandler[] {
  const { method } = TaskService;
  return [
    handler(method.getOnlineRobots, async ({ operation, caller }) =>
      confirmation.answer(operation, "", () => ({
        robots: ownership
          .robotsOf(caller)
          .filter((robot) => robot.online)
          .map((robot) => toOnlineInfo(robot, world.nowMs())),
      })),
    ),
    handler(method.pauseRobot, async ({ operation, caller, by }, { amrId, stopNow }) => {
      const robot = ownership.robotByAmrId(caller, amrId);
      return confirmation.perform(operation, robot, () => {
        world.chains.pause(robot, stopNow, by);
        return {};
      });
    }),
    handler(method.resumeRobot, async ({ operation, caller, by }, { amrId }) => {
      const robot = ownership.robotByAmrId(caller, amrId);
      return confirmation.perform(operation, robot, () => {
        world.chains.resume(robot, by);
        return {};
      });
    }),
    handler(method.getMap, async ({ operation, caller }, { mapId }) => {
      const map = ownership.map(caller, mapId);
      return confirmation.answer(operation, "", () => ({
        vertexes: map.vertices.map((vertex) => toVertexInfo(vertex, map.id)),
      }));
    }),
  ];
}
