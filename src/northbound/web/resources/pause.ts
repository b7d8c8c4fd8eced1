import type { FastifyInstance } from "fastify";
import type { MakeStopRequest } from "../../../contracts/stop-request.ts";
import { unknownRobot } from "../../../domain/refusals.ts";
import { activitiesOf, stopsOf } from "../../../domain/stops.ts";
import type { Floor } from "../floor/floor.ts";
import { sendProblem } from "../problem.ts";

/**
 * `GET /api/v1/robots/{robot}/pause`: the commands that pause the robot now, by the rule of slots and holds.
 * It sends nothing; the client sends each command, under an id of its own.
 */
export function addPauseRoute(
  server: FastifyInstance,
  floor: Pick<Floor, "robots">,
  stopRequest: MakeStopRequest,
): void {
  server.get<{ Params: { robot: string } }>("/api/v1/robots/:robot/pause", async ({ params }, reply) => {
    const facts = floor.robots().get(params.robot);
    if (facts === undefined) return sendProblem(reply, 404, unknownRobot(params.robot).message);
    const { missions, presence } = facts;
    const stops = stopsOf(activitiesOf({ missions, presence, conveyors: [] }));
    return reply.send({ commands: stops.map(({ stop }) => stopRequest(params.robot, stop)) });
  });
}
