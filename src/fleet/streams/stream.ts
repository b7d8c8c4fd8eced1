import type { UpdateSink } from "../../contracts/stage.ts";
import type { FleetUpdate } from "../../domain/update.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { RecorderTap } from "../../platform/recorder/recording.ts";
import type { StreamPool } from "../channels/stream-pool.ts";
import type { FleetTimes } from "../options.ts";
import type { Session } from "../session/session.ts";
import type { Aspect, DeliverySource, Selection } from "./aspect.ts";
import { CannotAsk, createRefusedRobots } from "./refused-robots.ts";
import { isRefusal, openStream, type StreamEnding, type StreamRequest } from "./stream-call.ts";
import type { Subscriber, Subscription } from "./subscription.ts";

/** One aspect of some robots, by one subscription, for the life of the gateway. */
export interface Stream {
  readonly id: string;
  readonly aspect: Aspect["name"];
  readonly subscription: Subscription;
  /** Robots, or the location, that the service refuses, each with its message. */
  readonly refused: ReadonlyMap<string, string>;
  /** Deliveries no longer bring its events: if it is suspended, it counts as lost, and asks again at once. */
  resume(): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Called with what becomes of a stream. */
export interface StreamListener {
  /** It begins to serve. */
  opened(id: string, method: string): void;
  cut(): void;
  /** It no longer serves. */
  lost(id: string, ending: StreamEnding): void;
  /** The service refuses its request. */
  refused(id: string, ending: StreamEnding): void;
  /** The service does not have its operation. */
  unserved(method: string, ending: StreamEnding): void;
}

/** The calls to the service. */
export interface StreamCalls {
  subscribe(subscriber: Subscriber): Subscription;
  /** Whether the service refuses the request, and its message. Rejects with CannotAsk. */
  probe(
    request: StreamRequest,
    signal: AbortSignal,
  ): Promise<{ readonly refused: boolean; readonly message: string }>;
}

export interface StreamDependencies {
  readonly calls: StreamCalls;
  readonly serviceName: string;
  readonly times: FleetTimes;
  readonly sink: UpdateSink;
  /** Brings the events of an aspect beside its streams; null: nothing does. */
  readonly deliveries: DeliverySource | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly tap: RecorderTap;
}

/** Decoding a message takes at most some 50 ms, whatever is in it. A queue of 100 missions has 10 kB. */
const LARGEST_MESSAGE_BYTES = 64 * 1024;
/** How long after a renewal every robot should have sent a message. */
const SNAPSHOT_SHARE = 0.05;
/** How often a robot that a renewal did not bring is asked for again, before it is no longer expected. */
const SNAPSHOT_TRIES = 2;

type StreamState = Extract<FleetUpdate, { kind: "stream" }>["state"];

/** Joins an aspect, a choice of robots and a subscription. */
export function createStream(
  id: string,
  aspect: Aspect,
  selection: Selection,
  listener: StreamListener,
  { calls, serviceName, times, sink, deliveries, clock, log, tap }: StreamDependencies,
): Stream {
  const { method } = aspect;
  const origin = Buffer.from(originOf(aspect, selection));
  const deliveredAtMs = () => deliveries?.provenAtMs(aspect.name) ?? null;
  const publish = (state: StreamState) => sink({ kind: "stream", stream: id, state, atMs: clock.nowMs() });
  let running: AbortSignal = AbortSignal.abort();
  let tries = 0;
  let newestCall = 0;
  const record = recordCalls(tap, method);

  const requestFor = (selected: Selection) => requestOf(serviceName, aspect, selected);
  const robots = createRefusedRobots(selection, {
    stream: id,
    log,
    probe: (ids, signal) => calls.probe(requestFor({ kind: "robots", ids }), signal),
    onRefused: aspect.release,
  });

  /** Some time after a call began: asks again for missing robots, or suspends the stream. */
  function lookForMissing(call: number): void {
    if (call !== newestCall) return;
    if (aspect.missing(id, call) > 0 && tries < SNAPSHOT_TRIES) {
      tries += 1;
      subscription.renewSoon();
      return;
    }
    tries = 0;
    aspect.releaseMissing(id, call);
    if (deliveredAtMs() !== null) subscription.suspend();
  }

  const subscription = calls.subscribe({
    request() {
      const selected = robots.wanted();
      return selected === null ? null : requestFor(selected);
    },
    receive(bytes, call) {
      tap.write("message", { name: method, first: origin, second: bytes });
      if (bytes.length > LARGEST_MESSAGE_BYTES) return leaveOut(id, aspect, bytes.length, log);
      if (aspect.receive(bytes, id, call) === "regressed") subscription.renewSoon();
    },
    opened(call) {
      newestCall = call;
      robots.locationTaken();
      const selected = robots.wanted();
      record.opened(selected === null ? null : aspect.encode(selected));
      publish("live");
      listener.opened(id, aspect.method);
      void sleep(clock, times.resyncMs * SNAPSHOT_SHARE, running).then((passed) => {
        if (passed) lookForMissing(call);
      });
    },
    cut(ending) {
      record.ended(ending);
      publish("cut");
      listener.cut();
    },
    lost(ending) {
      record.ended(ending);
      publish("lost");
      listener.lost(id, ending);
    },
    refused(ending, signal) {
      listener.refused(id, ending);
      return signal.aborted ? Promise.resolve(false) : robots.sortOut(ending, signal);
    },
    unserved: (ending) => listener.unserved(aspect.method, ending),
    deliveredAtMs,
  });

  return {
    id,
    aspect: aspect.name,
    subscription,
    refused: robots.refused,
    resume() {
      if (subscription.state().phase !== "suspended") return;
      publish("lost");
      subscription.renewSoon();
    },
    async run(signal) {
      running = signal;
      let asking: Promise<void> = Promise.resolve();
      const ask = () => {
        asking = asking.then(async () => {
          if (await robots.reconsider(signal)) subscription.renewSoon();
        });
      };
      if (selection.kind === "robots") every(clock, times.refusedRetryMs, signal, ask);
      await subscription.run(signal);
      await asking;
    },
  };
}

function requestOf(serviceName: string, aspect: Aspect, selected: Selection): StreamRequest {
  return { path: `/${serviceName}/${aspect.method}`, bytes: aspect.encode(selected) };
}

/** Records when calls of a stream begin, and once for each when it ends. */
function recordCalls(tap: RecorderTap, method: string) {
  let isOpen = true;
  return {
    opened(request: Buffer | null): void {
      isOpen = true;
      if (request !== null) tap.write("opened", { name: method, first: request });
    },
    ended({ code, message }: StreamEnding): void {
      if (isOpen) tap.write("lost", { name: method, second: Buffer.from(`${code}: ${message}`) });
      isOpen = false;
    },
  };
}

/**
 * What a recording needs of a message beside its bytes: conveyor messages name no robot, and no message names
 * a location.
 */
function originOf({ name }: Aspect, selection: Selection): string {
  if (selection.kind === "location") return selection.locationId;
  return name === "conveyors" ? (selection.ids[0] ?? "") : "";
}

/** The stream continues, because its other robots are not to blame. */
function leaveOut(stream: string, { counts }: Aspect, bytes: number, log: Log): void {
  counts.malformed += 1;
  if (counts.malformed > 1) return;
  log.error({ stream, bytes, limit: LARGEST_MESSAGE_BYTES }, "a stream message is too large: left out");
}

/**
 * Finds out whether the service accepts a subscription, without using it. A refusal may follow the headers,
 * so only a message proves it. A server that has nothing to send may stay silent: that is no refusal. Rejects
 * with CannotAsk if the stream ended for another reason.
 */
export async function probeStream(
  request: StreamRequest,
  pool: StreamPool,
  session: Session,
  waitMs: number,
  signal: AbortSignal,
): Promise<{ readonly refused: boolean; readonly message: string }> {
  const jwt = await session.authorized(signal);
  const permit = jwt === null ? null : await pool.acquire({ leaving() {}, silent() {} }, signal);
  if (jwt === null || permit === null) throw new CannotAsk("the gateway stops");
  const call = openStream(request, jwt, permit, () => call.cancel());
  const timer = setTimeout(call.cancel, waitMs);
  const ending = await call.ended;
  clearTimeout(timer);
  if (ending.code === "CANCELLED") return { refused: false, message: "" };
  if (isRefusal(ending)) return { refused: true, message: `${ending.code}: ${ending.message}` };
  throw new CannotAsk(`${ending.code}: ${ending.message}`);
}
