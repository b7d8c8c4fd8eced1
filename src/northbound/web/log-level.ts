import type { FastifyInstance, FastifyReply } from "fastify";
import { quoted } from "../../domain/clip.ts";
import { holderName } from "../../domain/hold.ts";
import { logLevels as knownLevels, type LogLevel, type LogLevels } from "../../platform/log.ts";
import { sendProblem } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { senderOfSocket } from "./sender.ts";

export interface LogLevelParts {
  /** Null: the program that runs the gateway keeps the levels. */
  readonly logLevels: LogLevels | null;
}

/** Means all components. */
const ALL = "*";

/**
 * `GET /api/v1/log-level` answers 200 with `{"levels":{…}}` by component. `PUT` with `{"component"?,"level"}`
 * sets one, or all (without a component, or with `*`), and answers the same.
 */
export function addLogLevelRoutes(server: FastifyInstance, { logLevels }: LogLevelParts): void {
  if (logLevels === null) return;
  const answer = (reply: FastifyReply) => reply.send({ levels: logLevels.list() });

  server.get("/api/v1/log-level", async (_request, reply) => answer(reply));
  server.put("/api/v1/log-level", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    const asked = readLevel(request.body);
    if (typeof asked === "string") return sendProblem(reply, 400, asked);
    if (logLevels.set(asked.component, asked.level, holderName(source))) return answer(reply);
    const known = Object.keys(logLevels.list()).join(", ");
    return sendProblem(reply, 404, `component: ${quoted(asked.component ?? ALL)} is not one of ${known}`);
  });
}

interface Asked {
  /** Null: all. */
  readonly component: string | null;
  readonly level: LogLevel;
}

/** The level that a body asks for, or a sentence with what is wrong with it. */
function readLevel(body: unknown): Asked | string {
  const read = readBody(body, ["component", "level"]);
  if (!read.ok) return read.reason;
  const { component = ALL, level } = read.object;
  const known = knownLevels.find((each) => each === level);
  if (known === undefined) return `level: must be one of ${knownLevels.join(", ")}`;
  if (typeof component !== "string") return "component: must be text; * stands for all";
  return { component: component === ALL ? null : component, level: known };
}
