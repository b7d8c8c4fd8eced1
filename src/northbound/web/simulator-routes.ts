import type { FastifyInstance } from "fastify";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { FaultAudit, SimulatedFault, SimulatedFaults } from "../../contracts/simulated-faults.ts";
import { isPlainText, type Outcome, refusal } from "../../domain/outcome.ts";
import { timeText } from "../../models/json-text.ts";
import type { Clock } from "../../platform/clock.ts";
import { type FaultName, faultNames, type SimulatedFaultStates } from "./api/simulator.ts";
import { problemStatus, sendRefusal } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { senderOfViewer, type ViewerOf } from "./sender.ts";

/** The simulated fleet service beside the gateway. */
export interface WebSimulator {
  readonly faults: SimulatedFaults;
  readonly audit: RefusalAudit & FaultAudit;
}

interface FaultRoute {
  readonly Params: { readonly fault: string };
}

const ROBOT_CHARACTERS = 256;

/**
 * `GET /api/v1/simulator/faults` lists the present faults. `PUT /api/v1/simulator/faults/{fault}` with
 * `{"active":true|false,"robot_id"?}` begins or ends a fault, for engineers, and answers with the list.
 */
export function addSimulatorRoutes(
  server: FastifyInstance,
  { faults, audit }: WebSimulator,
  viewerOf: ViewerOf,
  clock: Pick<Clock, "nowMs">,
): void {
  const senderOf = senderOfViewer(viewerOf);

  const states = (): SimulatedFaultStates => ({
    at: timeText(clock.nowMs()),
    active: faults.active().map(({ fault, forMs }) => ({
      fault: fault.name,
      robot_id: fault.robotId,
      active_for_ms: forMs === null ? null : Math.round(forMs),
    })),
  });

  server.get("/api/v1/simulator/faults", async (_request, reply) => reply.send(states()));
  server.put<FaultRoute>("/api/v1/simulator/faults/:fault", async (request, reply) => {
    const [source, wrongSender] = senderOf(request);
    const origin = { address: request.ip };
    const refuse = (
      outcome: Outcome,
      robotId: string | null,
      status = problemStatus(outcome.code) ?? 409,
    ) => {
      audit.refused({ source, requestId: null, operation: "simulator_fault", robotId, origin }, outcome);
      return sendRefusal(reply, status, outcome);
    };
    if (wrongSender !== null) return refuse(refusal("MALFORMED", wrongSender), null);
    if (viewerOf(request)?.role !== "engineer")
      return refuse(refusal("NOT_ALLOWED", "faults of the simulator are for engineers"), null);
    const asked = readFault(request.params.fault, request.body);
    if (typeof asked === "string") return refuse(refusal("MALFORMED", asked), null);
    const { fault, isActive } = asked;
    const problem = isActive ? faults.begin(fault) : faults.end(fault);
    if (problem !== null) return refuse(refusal("UNKNOWN_ROBOT", problem), fault.robotId, 404);
    audit.fault({ source, ...origin, fault, change: isActive ? "begin_fault" : "end_fault" });
    return reply.send(states());
  });
}

interface AskedFault {
  readonly fault: SimulatedFault;
  readonly isActive: boolean;
}

/** The fault that a request asks for, or a sentence with what is wrong with it. */
function readFault(given: string, body: unknown): AskedFault | string {
  const name = faultNames.find((each) => each === given);
  if (name === undefined) return `fault: must be one of ${faultNames.join(", ")}`;
  const read = readBody(body, ["active", "robot_id"]);
  if (!read.ok) return read.reason;
  const { active: isActive, robot_id: robotId } = read.object;
  if (typeof isActive !== "boolean") return "active: must be true or false";
  const fault = faultOf(name, robotId);
  return typeof fault === "string" ? fault : { fault, isActive };
}

function faultOf(name: FaultName, robotId: unknown): SimulatedFault | string {
  if (name === "cut" || name === "silence")
    return robotId === undefined
      ? { name, robotId: null }
      : `robot_id: leave it out, for ${name} has no robot`;
  if (typeof robotId === "string" && isPlainText(robotId, ROBOT_CHARACTERS)) return { name, robotId };
  return `robot_id: must be a robot_id of 1 to ${ROBOT_CHARACTERS} printable characters`;
}
