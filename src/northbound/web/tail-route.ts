import type { FastifyInstance } from "fastify";
import type { Holds } from "../../contracts/holds.ts";
import { quoted } from "../../domain/clip.ts";
import { isPlainText } from "../../domain/refusals.ts";
import { sendProblem } from "./problem.ts";
import { MOST_READERS, type Tail, type TailFilter, type TailKind, tailKinds } from "./tail.ts";

export interface TailRouteParts {
  readonly holds: Pick<Holds, "refusedName">;
}

/** A filter, or what is wrong with it: the status of the answer and a sentence. */
type ReadFilter = TailFilter | { readonly status: number; readonly fault: string };

/** Of each filter. */
const MOST_NAMES = 100;
const ROBOT_CHARACTERS = 256;

/**
 * `GET /api/v1/tail?robot=R&kind=K` answers 200 and then a line of JSON for each event, as long as the reader
 * reads. Both filters may be repeated, or left out.
 */
export function addTailRoute(server: FastifyInstance, tail: Tail, { holds }: TailRouteParts): void {
  // A HEAD request would never be answered.
  const noHead = { exposeHeadRoute: false } as const;
  server.get<{ Querystring: Readonly<Record<string, unknown>> }>("/api/v1/tail", noHead, (request, reply) => {
    const filter = readFilter(request.query, holds);
    if ("fault" in filter) return sendProblem(reply, filter.status, filter.fault);
    const { raw } = reply;
    raw.setHeader("content-type", "application/x-ndjson; charset=utf-8");
    raw.setHeader("connection", "close");
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value);
    if (tail.add(filter, raw)) return void reply.hijack();
    const full = `${MOST_READERS} readers follow the gateway already: end one of them`;
    return sendProblem(reply, 503, full);
  });
}

function readFilter(query: Readonly<Record<string, unknown>>, holds: Pick<Holds, "refusedName">): ReadFilter {
  const unknown = Object.keys(query).find((name) => name !== "robot" && name !== "kind");
  const wrong = (fault: string) => ({ status: 400, fault });
  if (unknown !== undefined) return wrong(`${quoted(unknown)}: is not one of robot, kind`);
  const [robots, kinds] = [namesIn(query.robot), namesIn(query.kind)];
  if (robots.length > MOST_NAMES || kinds.length > MOST_NAMES)
    return wrong(`robot, kind: at most ${MOST_NAMES} of each`);
  const noKind = kinds.find((kind) => !isKind(kind));
  if (noKind !== undefined) return wrong(`kind: ${quoted(noKind)} is not one of ${tailKinds.join(", ")}`);
  const noName = robots.find((robot) => !isPlainText(robot, ROBOT_CHARACTERS));
  if (noName !== undefined)
    return wrong(`robot: must be a robot_id of 1 to ${ROBOT_CHARACTERS} printable characters`);
  for (const robot of robots) {
    const refused = holds.refusedName(robot);
    if (refused !== null) return { status: 404, fault: refused.message };
  }
  return { robots: new Set(robots), kinds: new Set(kinds.filter(isKind)) };
}

function namesIn(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((each) => typeof each === "string");
}

function isKind(text: string): text is TailKind {
  return tailKinds.some((kind) => kind === text);
}
