import type { ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Holds } from "../../contracts/acts.ts";
import type { Batch, Sink } from "../../contracts/link.ts";
import type { StateChange } from "../../domain/change.ts";
import type { FleetEvent } from "../../domain/event.ts";
import { quoted } from "../../domain/foreign-text.ts";
import type { Quality } from "../../domain/observed.ts";
import { isPlainText } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { namedEventJson } from "../../models/event.ts";
import { timeText } from "../../models/json-text.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { sendProblem } from "./problem.ts";

/** The kinds that can be followed: the kinds of events, and `state`, the quality of a robot. */
const tailKinds = [
  "mission",
  "alarm",
  "command",
  "conveyor",
  "battery",
  "lease",
  "hold",
  "dropped",
  "state",
] as const satisfies ReadonlyArray<FleetEvent["kind"] | "state">;
type TailKind = (typeof tailKinds)[number];

interface TailParts {
  /** Feeds a sink, beginning with a snapshot. The returned function detaches it. */
  readonly attachTail: (sink: Sink) => () => void;
  readonly sessionId: string;
  readonly clock: Clock;
}

/** The filter of a reader; an empty set means all. */
interface TailFilter {
  readonly robots: ReadonlySet<RobotId>;
  readonly kinds: ReadonlySet<TailKind>;
}

/** Events as they happen, for a few readers. Without a reader it follows nothing. */
export interface Tail {
  /** Writes lines to a response from now on. False: the bound of readers is reached. */
  add(filter: TailFilter, response: ServerResponse): boolean;
  /** Ends all readers, with the reason. */
  close(): void;
}

const MOST_READERS = 8;
/** A reader with more unread bytes is closed. */
const MOST_UNREAD_BYTES = 4_000_000;
/** Shows a reader that the gateway lives, and the gateway that the reader does. */
const ALIVE_MS = 5_000;

interface Reader {
  readonly filter: TailFilter;
  readonly response: ServerResponse;
}

interface Line {
  readonly kind: TailKind;
  readonly robotId: RobotId;
  readonly text: string;
}

type RobotChange = Extract<StateChange, { readonly kind: "robot" }>;

export function createTail({ attachTail, sessionId, clock }: TailParts): Tail {
  const readers = new Set<Reader>();
  const qualities = new Map<RobotId, Quality>();
  let stop = () => {};

  const time = () => timeText(clock.nowMs());

  function remove(reader: Reader): void {
    if (!readers.delete(reader) || readers.size > 0) return;
    stop();
    qualities.clear();
  }

  function end(reader: Reader, reason: string): void {
    remove(reader);
    reader.response.end(`${JSON.stringify({ kind: "closed", at: time(), reason })}\n`);
  }

  function send(reader: Reader, text: string): void {
    const { response } = reader;
    response.write(text);
    if (response.writableLength > MOST_UNREAD_BYTES)
      end(reader, `more than ${MOST_UNREAD_BYTES} bytes were not read`);
  }

  /** The first quality of a robot is that of the snapshot, and no news. */
  function stateLine({ robotId, quality }: RobotChange): Line | null {
    const before = qualities.get(robotId);
    qualities.set(robotId, quality);
    if (before === undefined || before === quality) return null;
    const fields = { kind: "state", robot_id: robotId, at: time(), from: before, to: quality };
    return { kind: "state", robotId, text: `${JSON.stringify(fields)}\n` };
  }

  function linesOf({ changes, events }: Batch): readonly Line[] {
    const states = changes.flatMap((change) => (change.kind === "robot" ? (stateLine(change) ?? []) : []));
    const happened = events.map((event): Line => {
      const { kind, robotId } = event;
      return { kind, robotId, text: `${namedEventJson(event, sessionId)}\n` };
    });
    return [...states, ...happened];
  }

  function write(batch: Batch): void {
    const lines = linesOf(batch);
    if (lines.length === 0) return;
    for (const reader of readers) {
      const wanted = lines.filter((line) => isWanted(reader.filter, line));
      if (wanted.length > 0) send(reader, wanted.map(({ text }) => text).join(""));
    }
  }

  function begin(): void {
    const over = new AbortController();
    const detach = attachTail({ write });
    every(clock, ALIVE_MS, over.signal, () => {
      for (const reader of readers) send(reader, `${JSON.stringify({ kind: "alive", at: time() })}\n`);
    });
    stop = () => {
      over.abort();
      detach();
    };
  }

  return {
    add(filter, response) {
      if (readers.size >= MOST_READERS) return false;
      const reader = { filter, response };
      readers.add(reader);
      if (readers.size === 1) begin();
      response.once("close", () => remove(reader));
      // A broken connection is closed; there is nothing else to do.
      response.on("error", () => {});
      send(reader, `${JSON.stringify({ kind: "open", at: time() })}\n`);
      return true;
    },
    close() {
      for (const reader of [...readers]) end(reader, "the gateway stops");
    },
  };
}

function isWanted({ robots, kinds }: TailFilter, { kind, robotId }: Line): boolean {
  return (robots.size === 0 || robots.has(robotId)) && (kinds.size === 0 || kinds.has(kind));
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
export function addTailRoute(server: FastifyInstance, tail: Tail, holds: Pick<Holds, "refusedName">): void {
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
