import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { CommandLog, LoggedCommand } from "../../../contracts/command-log.ts";
import type { Expiry } from "../../../contracts/commander.ts";
import type { Peer } from "../../../contracts/peers.ts";
import { namedEventJson } from "../../../models/event.ts";
import { timeText } from "../../../models/json-text.ts";
import { type Clock, every } from "../../../platform/clock.ts";
import type { Tick } from "../api/stream.ts";
import type { Floor } from "../floor/floor.ts";
import type { RobotWriter } from "../floor/floor-json.ts";
import { sendProblem } from "../problem.ts";
import type { Bodies } from "./bodies.ts";
import {
  createEventRing,
  createReaders,
  eventBytes,
  MOST_STREAMS,
  messageText,
  type NewReader,
  type WhoseStream,
} from "./readers.ts";

/** The live state and events of `GET /api/v1/stream`, for all its readers. */
export interface Stream {
  /** Writes to a response from now on. False: the bound of readers is reached. */
  add(reader: NewReader): boolean;
  readonly ticks: Pick<Ticks, "check" | "fresh">;
  /** The readers over a listener. */
  peers(part: string): readonly Peer[];
  /** Begins to follow the fleet. The returned function ends it. */
  open(): () => void;
  /** Ends all readers, with the reason that the listener stops. */
  endReaders(): void;
}

/** Changes of a robot are merged for this long. */
const FLUSH_MS = 250;
/** One tick in so many rounds: one each second. */
const ROUNDS_OF_TICK = 4;
/** Events that a reader may miss while it connects again. */
const MOST_EVENTS = 1_000;
/** Commands that reach a stage between two flushes. */
const MOST_COMMANDS = 500;

export function createStream({
  floor,
  bodies,
  robotWriter,
  sessionId,
  tickFacts,
  areValuesKept,
  commandLog,
  clock,
}: {
  readonly floor: Floor;
  readonly bodies: Bodies;
  readonly robotWriter: Pick<RobotWriter, "whole">;
  readonly sessionId: string;
  readonly tickFacts: () => Omit<Tick, "at" | "id">;
  /** False: the component that keeps values and their quality up to date is stalled. */
  readonly areValuesKept: () => boolean;
  readonly commandLog: Pick<CommandLog, "follow">;
  readonly clock: Clock;
}): Stream {
  const ring = createEventRing(sessionId, MOST_EVENTS);
  const ticks = createTicks(sessionId, clock);
  const commands = new Map<number, LoggedCommand>();
  const readers = createReaders({
    ring,
    robotIds: () => floor.robots().keys(),
    robots(ids) {
      const known = floor.robots();
      return ids.flatMap((id) => {
        const facts = known.get(id);
        return facts === undefined ? [] : [robotWriter.whole(facts)];
      });
    },
    at: () => timeText(clock.nowMs()),
    tickAgain() {
      const id = ticks.last();
      return id === null || !areValuesKept() ? "" : tickText(id);
    },
  });

  function tickText(id: string): string {
    const body: Tick = { at: timeText(clock.nowMs()), id, ...tickFacts() };
    return messageText("tick", body);
  }

  function flush(): void {
    readers.closeSlow();
    const news = floor.takeNews();
    for (const event of news.events) ring.push(() => namedEventJson(event, sessionId));
    const reached = [...commands.values()];
    commands.clear();
    if (readers.count === 0) return;
    const body = bodies.change(news, reached);
    readers.changed(news.robots.keys());
    readers.sendAll(body === null ? null : eventBytes("change", body));
  }

  function tick(): void {
    floor.tick();
    flush();
    // A tick means that the shown values are true now.
    if (areValuesKept()) readers.sendAll(Buffer.from(tickText(ticks.next())));
  }

  function follow(command: LoggedCommand): void {
    commands.delete(command.number);
    commands.set(command.number, command);
    const [oldest] = commands.keys();
    if (commands.size > MOST_COMMANDS && oldest !== undefined) commands.delete(oldest);
  }

  return {
    ticks,
    peers: readers.peers,
    add: (reader) => readers.add(reader, () => messageText("snapshot", bodies.snapshot())),
    open() {
      const over = new AbortController();
      const leave = commandLog.follow(follow);
      let rounds = 0;
      every(clock, FLUSH_MS, over.signal, () => {
        rounds += 1;
        // One round at a time: a second one in the same turn would find the first one unread.
        if (rounds % ROUNDS_OF_TICK === 0) tick();
        else if (readers.count > 0) flush();
      });
      return () => {
        over.abort();
        leave();
      };
    },
    endReaders() {
      flush();
      readers.endAll("stopping", "the gateway stops");
    },
  };
}

interface Route {
  readonly Querystring: { readonly last_event_id?: unknown };
}

const ID_BYTES = 16;

/**
 * `GET /api/v1/stream` answers 200 and then server-sent events, as long as the client reads. The id of the
 * last event comes in the header `Last-Event-ID`, or in the query for a client that cannot set headers.
 */
export function addStreamRoute(
  server: FastifyInstance,
  {
    stream,
    browserCookie,
    whose,
  }: {
    readonly stream: Pick<Stream, "add">;
    /**
     * The name of the cookie: a browser sends the cookies of a host to all its ports. Null: there are no
     * browsers.
     */
    readonly browserCookie: string | null;
    /** The user of a request. */
    readonly whose: (request: FastifyRequest) => WhoseStream;
  },
): void {
  // A HEAD request would read the stream, and get nothing of it.
  server.get<Route>("/api/v1/stream", { exposeHeadRoute: false }, (request, reply) => {
    const { headers, query } = request;
    const known = browserCookie === null ? null : cookieIn(headers.cookie, browserCookie);
    const isBounded = browserCookie !== null && request.raw.httpVersionMajor === 1;
    const browser = isBounded ? (known ?? randomBytes(ID_BYTES).toString("base64url")) : null;
    const { raw } = reply;
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value);
    raw.setHeader("content-type", "text/event-stream; charset=utf-8");
    // Otherwise a proxy that buffers answers until they end would pass nothing on.
    raw.setHeader("x-accel-buffering", "no");
    if (browser !== null && known === null)
      raw.setHeader("set-cookie", `${browserCookie}=${browser}; ${attributes(request.protocol)}`);
    const last = headers["last-event-id"] ?? query.last_event_id;
    const lastEventId = typeof last === "string" && last !== "" ? last : null;
    if (stream.add({ response: raw, browser, whose: whose(request), lastEventId }))
      return void reply.hijack();
    const full = `${MOST_STREAMS} readers follow the gateway already: end one of them`;
    return sendProblem(reply, 503, full);
  });
}

function attributes(protocol: string): string {
  return `Path=/api/v1; HttpOnly; SameSite=Strict${protocol === "https" ? "; Secure" : ""}`;
}

function cookieIn(header: string | undefined, name: string): string | null {
  for (const part of (header ?? "").split(";")) {
    const [key, value] = part.trim().split("=");
    if (key === name && value !== undefined && /^[\w-]{22}$/.test(value)) return value;
  }
  return null;
}

/** A start that a page sends later rests on old values. */
const START_MS = 10_000;
/** A user who pressed longer ago no longer waits for the stop. */
const STOP_MS = 5_000;

/**
 * The gateway's times, for commands of pages. A command names the tick that its page had last, so that it is
 * not sent when it no longer makes sense (docs/internals/decisions.md, A stop names the tick of its press).
 */
export interface Ticks {
  /** The id of the tick that is due now. */
  next(): string;
  /** The id of the last tick; null: none was sent. */
  last(): string | null;
  /** The id of this moment, for a reader without the stream. */
  fresh(): string;
  /** Why a command that names this tick is refused. */
  check(id: string): Pick<Expiry, "lacks" | "late">;
}

/** @param sessionId identifies the run: the monotonic clock of another run begins anew */
function createTicks(sessionId: string, clock: Pick<Clock, "monotonicMs">): Ticks {
  const prefix = `${sessionId}.`;
  let last: string | null = null;
  const fresh = () => `${prefix}${Math.floor(clock.monotonicMs())}`;

  /** Infinite for an id that this run has not given. */
  function ageMs(id: string): number {
    const digits = id.startsWith(prefix) ? id.slice(prefix.length) : "";
    const age = /^\d{1,15}$/.test(digits) ? clock.monotonicMs() - Number(digits) : Number.NaN;
    return age >= 0 ? age : Number.POSITIVE_INFINITY;
  }

  return {
    next() {
      last = fresh();
      return last;
    },
    last: () => last,
    fresh,
    check(id) {
      const age = ageMs(id);
      const older = (seconds: number) => `the tick that it names is older than ${seconds} s`;
      return {
        lacks: age <= START_MS ? null : `look at the robot again: ${older(START_MS / 1_000)}`,
        late: age <= STOP_MS ? null : `press again: ${older(STOP_MS / 1_000)}`,
      };
    },
  };
}
