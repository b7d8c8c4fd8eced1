import type { UpdateSink } from "../../contracts/stage.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { Aspect, Selection } from "./aspect.ts";
import type { Stream, StreamListener } from "./stream.ts";
import type { StreamEnding } from "./stream-call.ts";
import { NOT_OPEN_YET } from "./subscription.ts";

/** The common state of the wanted streams. */
export interface StreamSetState {
  readonly wanted: number;
  readonly open: number;
  /** How many of them are suspended until their next snapshot, because webhooks bring the events. */
  readonly suspended: number;
  /** Refused robots and locations, each with the service's message. */
  readonly refused: ReadonlyMap<string, string>;
  /** Why streams are not open, one sentence for each reason. */
  readonly problems: readonly string[];
  /** How often a stream was cut since the start. */
  readonly cuts: number;
  /** Whether none of the closed ones has failed so far. */
  readonly isUntried: boolean;
}

/** The streams that are wanted now. */
export interface StreamSet {
  /** Starts a stream. Does nothing if one with this id is wanted already. */
  start(id: string, aspect: Aspect, selection: Selection): void;
  /** Ends a stream for good. */
  end(id: string): void;
  find(id: string): Stream | undefined;
  all(): Iterable<Stream>;
  refused(): ReadonlyMap<string, string>;
  state(): StreamSetState;
  /**
   * Reports a quiet stream as live if its connection was proven alive: now and then, and soon after a
   * silence.
   */
  publishLive(): void;
  publishLink(state: "up" | "down", cause: string): void;
  /** Streams that start from now on run until the signal is aborted. */
  open(signal: AbortSignal): void;
  /** Resolves when every stream has ended. */
  ended(): Promise<void>;
}

interface Running {
  readonly stream: Stream;
  readonly end: () => void;
  /** The proof that was reported last, and when. */
  publishedMs: number;
  publishedAtMs: number;
}

/**
 * @param make makes a stream that calls the listener
 * @param onRefused called each time that the service refuses the request of a stream
 * @param publishingMs a stream that is proven alive is reported as live this often
 */
export function createStreamSet(
  make: (id: string, aspect: Aspect, selection: Selection, listener: StreamListener) => Stream,
  onRefused: StreamListener["refused"],
  serviceName: string,
  publishingMs: number,
  { sink, clock, log }: { readonly sink: UpdateSink; readonly clock: Clock; readonly log: Log },
): StreamSet {
  const streams = new Map<string, Running>();
  const open = new Set<string>();
  const runs = new Set<Promise<void>>();
  let cuts = 0;
  let signal: AbortSignal = AbortSignal.abort();

  const warnUnserved = createUnservedLog(serviceName, log);
  const listener: StreamListener = {
    opened(id, method) {
      // A renewal opens a stream that is open already; only the very first brings the link up.
      if (open.size === 0) publishLink("up", "");
      open.add(id);
      warnUnserved.served(method);
    },
    unserved: warnUnserved.unserved,
    refused: onRefused,
    cut() {
      cuts += 1;
    },
    lost(id, ending) {
      open.delete(id);
      if (open.size === 0) publishLink("down", `${ending.code}: ${ending.message}`);
    },
  };

  function publishLink(state: "up" | "down", cause: string): void {
    sink({ kind: "link", state, atMs: clock.nowMs(), cause });
  }

  function refused(): ReadonlyMap<string, string> {
    const all = new Map<string, string>();
    for (const { stream } of streams.values()) {
      for (const [name, message] of stream.refused) all.set(name, message);
    }
    return all;
  }

  return {
    start(id, aspect, selection) {
      if (streams.has(id)) return;
      const stream = make(id, aspect, selection, listener);
      const ending = new AbortController();
      const end = () => ending.abort();
      const forget = onAbort(signal, end);
      streams.set(id, { stream, end, publishedMs: 0, publishedAtMs: 0 });
      const run = stream.run(ending.signal).finally(() => {
        forget();
        runs.delete(run);
      });
      runs.add(run);
    },
    end(id) {
      streams.get(id)?.end();
      streams.delete(id);
      open.delete(id);
    },
    find: (id) => streams.get(id)?.stream,
    *all() {
      for (const { stream } of streams.values()) yield stream;
    },
    refused,
    state: () => ({
      wanted: streams.size,
      open: open.size,
      cuts,
      refused: refused(),
      ...problemsOf(streams.values()),
    }),
    publishLive() {
      const nowMs = clock.monotonicMs();
      for (const running of streams.values()) {
        if (nowMs - running.publishedAtMs < publishingMs) continue;
        const provenMs = running.stream.subscription.provenAtMs();
        if (provenMs === null || provenMs <= running.publishedMs) continue;
        running.publishedMs = provenMs;
        running.publishedAtMs = nowMs;
        sink({ kind: "stream", stream: running.stream.id, state: "live", atMs: clock.nowMs() });
      }
    },
    publishLink,
    open(outer) {
      signal = outer;
    },
    async ended() {
      await Promise.all(runs);
    },
  };
}

function problemsOf(
  streams: Iterable<Running>,
): Pick<StreamSetState, "suspended" | "problems" | "isUntried"> {
  const problems = new Set<string>();
  let suspended = 0;
  for (const { stream } of streams) {
    const { phase, problem } = stream.subscription.state();
    if (phase === "suspended") suspended += 1;
    if (problem !== null) problems.add(problem);
  }
  const isUntried = [...problems].every((problem) => problem === NOT_OPEN_YET);
  return { suspended, problems: [...problems], isUntried };
}

/** Logs each missing method of the service once, until it has it. */
function createUnservedLog(serviceName: string, log: Log) {
  const unserved = new Map<string, string>();
  return {
    served: (method: string) => void unserved.delete(method),
    unserved(method: string, { code, message }: StreamEnding): void {
      const problem = `${code}: ${message}`;
      if (unserved.get(method) === problem) return;
      unserved.set(method, problem);
      log.warn(
        { serviceName, method, problem },
        "the service does not have a stream: is fleet.grpc.serviceName right?",
      );
    },
  };
}
