import type { FastifyInstance } from "fastify";
import { unknownRobot } from "../../../domain/refusals.ts";
import type { Floor } from "../floor/floor.ts";
import type { RobotWriter } from "../floor/robot-json.ts";
import { sendProblem } from "../problem.ts";
import { type Query, sendPage, unknownParameter } from "./list-page.ts";

/** `GET /api/v1/robots` and `GET /api/v1/robots/{robot}`: all that is known of robots. */
export function addRobotRoutes(
  server: FastifyInstance,
  floor: Pick<Floor, "robots">,
  robotWriter: RobotWriter,
): void {
  server.get<{ Querystring: Query }>("/api/v1/robots", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    const items = [...floor.robots().values()].sort((a, b) => (a.robotId < b.robotId ? -1 : 1));
    return sendPage(reply, query, {
      name: "robots",
      items,
      keyOf: ({ robotId }) => robotId,
      write: robotWriter.whole,
    });
  });

  server.get<{ Params: { robot: string } }>("/api/v1/robots/:robot", async ({ params }, reply) => {
    const facts = floor.robots().get(params.robot);
    if (facts === undefined) return sendProblem(reply, 404, unknownRobot(params.robot).message);
    return reply.send(robotWriter.whole(facts));
  });
}
