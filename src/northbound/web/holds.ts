import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { HoldRequest, Holds } from "../../contracts/holds.ts";
import type { Stations } from "../../contracts/stations.ts";
import { holderName } from "../../domain/hold.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import { isPlainText } from "../../domain/refusals.ts";
import { problemStatus, sendRefusal } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { originOf, type SenderOf } from "./sender.ts";

export interface HoldRouteParts {
  readonly audit: RefusalAudit;
  readonly holds: Holds;
  readonly stations: Pick<Stations, "override" | "leaseOf">;
  readonly senderOf: SenderOf;
}

interface RobotRoute {
  readonly Params: { readonly robot: string };
}

const ROBOT_CHARACTERS = 256;
const robotFault = refusal(
  "MALFORMED",
  `robot: must be a robot_id of 1 to ${ROBOT_CHARACTERS} printable characters`,
);

/**
 * `PUT /api/v1/hold` and `/api/v1/robots/{robot}/hold` with `{"hold":true|false,"user"?}` answer 200 with the
 * holders. `DELETE /api/v1/robots/{robot}/lease` answers 200 with the lease that it ended. A refusal is
 * problem+json.
 */
export function addHoldRoutes(server: FastifyInstance, parts: HoldRouteParts): void {
  const { holds, audit, stations, senderOf } = parts;

  function hold(request: FastifyRequest, reply: FastifyReply, robotId: string | null): FastifyReply {
    const [source, wrongSender] = senderOf(request);
    const refuse = (outcome: Outcome) => {
      audit.refused({ source, requestId: null, operation: "hold", robotId, ...originOf(request) }, outcome);
      return sendRefusal(reply, statusOf(outcome), outcome);
    };
    if (wrongSender !== null) return refuse(refusal("MALFORMED", wrongSender));
    if (robotId !== null && !isPlainText(robotId, ROBOT_CHARACTERS)) return refuse(robotFault);
    const asked = readHold(request.body);
    if (typeof asked === "string") return refuse(refusal("MALFORMED", asked));
    const unknown = robotId === null ? null : holds.refusedName(robotId);
    const refused = unknown ?? holds.hold({ source, robotId, ...asked });
    if (refused !== null) return refuse(refused);
    const { isHeld, by } = holds.holdState(robotId);
    return reply.send({ held: isHeld, by });
  }

  server.put("/api/v1/hold", async (request, reply) => hold(request, reply, null));
  server.put<RobotRoute>("/api/v1/robots/:robot/hold", async (request, reply) =>
    hold(request, reply, request.params.robot),
  );
  server.delete<RobotRoute>("/api/v1/robots/:robot/lease", async (request, reply) => {
    const { robot } = request.params;
    const [source, wrongSender] = senderOf(request);
    const lease = stations.leaseOf(robot);
    const refused =
      wrongSender === null ? override(stations, source, robot) : refusal("MALFORMED", wrongSender);
    if (refused === null)
      return reply.send({ station: lease?.station ?? null, owner: lease ? holderName(lease.owner) : null });
    audit.refused(
      { source, requestId: null, operation: "override", robotId: robot, ...originOf(request) },
      refused,
    );
    return sendRefusal(reply, statusOf(refused), refused);
  });
}

function override(
  stations: Pick<Stations, "override">,
  source: HoldRequest["source"],
  robot: string,
): Outcome | null {
  return isPlainText(robot, ROBOT_CHARACTERS) ? stations.override(source, robot) : robotFault;
}

/** Holds and leases have addresses below a robot: a robot that does not exist is not found. */
function statusOf({ code }: Outcome): number {
  return code === "UNKNOWN_ROBOT" ? 404 : (problemStatus(code) ?? 409);
}

/** The hold that a body asks for, or a sentence with what is wrong with it. */
function readHold(body: unknown): Pick<HoldRequest, "isHeld" | "user"> | string {
  const read = readBody(body, ["hold", "user"]);
  if (!read.ok) return read.reason;
  const { hold, user } = read.object;
  if (typeof hold !== "boolean") return "hold: must be true or false";
  if (user === undefined) return { isHeld: hold };
  if (hold || typeof user !== "string")
    return "user: must be text, as opcua:plc1, beside hold false: it names whose hold is lifted";
  return { isHeld: hold, user };
}
