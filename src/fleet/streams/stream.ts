import type { EventSink } from "../../contracts/event-sink.ts";
import type { RobotId } from "../../domain/robot.ts";
import { every, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Aspect, Selection } from "./aspect.ts";
import { probeStream } from "./probe.ts";
import { CannotAsk, findRefused } from "./refused.ts";
import type { Relief } from "./relief.ts";
import type { StreamRequest } from "./stream-call.ts";
import type { StreamEnding } from "./stream-ending.ts";
import { createSubscription, type Subscription, type SubscriptionParts } from "./subscription.ts";

/** One aspect of some robots, by one subscription, for as long as the gateway runs. */
export interface Stream {
  readonly id: string;
  readonly subscription: Subscription;
  /** Robots, or the location, that the service refuses, each with what it says. */
  readonly setAside: ReadonlyMap<string, string>;
  /** Nothing else brings its events any more: it is lost while it rests, and asks again at once. */
  recall(): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface StreamParts extends SubscriptionParts {
  readonly serviceName: string;
  readonly sink: EventSink;
  readonly log: Log;
  /** Told when the stream begins to serve, and when it no longer does. */
  readonly onOpen: (id: string) => void;
  readonly onLost: (id: string, ending: StreamEnding) => void;
  /** Told each time that the service does not have what the stream asks for. */
  readonly onUnserved: (method: string, ending: StreamEnding) => void;
  /** What brings the events of an aspect beside its streams; null: nothing. */
  readonly relief: Relief | null;
}

/** Decoding one takes at most some 50 ms, whatever is in it. A queue of 100 missions has 10 kB. */
const LARGEST_MESSAGE_BYTES = 64 * 1024;
/** How long after a renewal every robot should have been heard. */
const SNAPSHOT_SHARE = 0.05;
/** How often a robot is asked for again that a renewal did not bring, before it is let go. */
const SNAPSHOT_TRIES = 2;

/** Joins an aspect, a choice of robots and a subscription. */
export function createStream(id: string, aspect: Aspect, selection: Selection, parts: StreamParts): Stream {
  const { clock, log, sink, times } = parts;
  const setAside = new Map<string, string>();
  const relievedAtMs = () => parts.relief?.provenAtMs(aspect.name) ?? null;
  let running: AbortSignal = AbortSignal.abort();
  let tries = 0;
  let newestCall = 0;

  const requestFor = (selected: Selection): StreamRequest => ({
    path: `/${parts.serviceName}/${aspect.method}`,
    bytes: aspect.encode(selected),
  });

  function wanted(): Selection | null {
    if (selection.kind === "location" || setAside.size === 0) return selection;
    const ids = selection.ids.filter((robotId) => !setAside.has(robotId));
    return ids.length === 0 ? null : { kind: "robots", ids };
  }

  async function isRefused(ids: readonly RobotId[], signal: AbortSignal): Promise<boolean> {
    const request = requestFor({ kind: "robots", ids });
    const answer = await probeStream(request, parts.pool, parts.session, times.connectMs / 2, signal);
    if (answer.refused && ids.length === 1) for (const robotId of ids) put(robotId, answer.message);
    return answer.refused;
  }

  function put(name: string, message: string): void {
    if (!setAside.has(name)) {
      log.warn(
        { stream: id, [selection.kind]: name, message },
        "the service refuses what the gateway is for",
      );
    }
    setAside.set(name, message);
    aspect.release(name);
  }

  /** Sets aside the robots that are refused. Whether something else can now be asked for. */
  async function sortOut(ending: StreamEnding, signal: AbortSignal): Promise<boolean> {
    if (selection.kind === "location") {
      put(selection.locationId, `${ending.code}: ${ending.message}`);
      return false;
    }
    const asked = selection.ids.filter((robotId) => !setAside.has(robotId));
    try {
      for (const robotId of await findRefused(asked, (ids) => isRefused(ids, signal))) {
        put(robotId, setAside.get(robotId) ?? `${ending.code}: ${ending.message}`);
      }
      return true;
    } catch (error) {
      if (error instanceof CannotAsk) return false;
      throw error;
    }
  }

  /** Asks again for the robots that were set aside. */
  async function reconsider(signal: AbortSignal): Promise<void> {
    const ids = [...setAside.keys()];
    if (ids.length === 0) return;
    try {
      const refused = (await isRefused(ids, signal))
        ? new Set(await findRefused(ids, (some) => isRefused(some, signal)))
        : new Set<RobotId>();
      const welcome = ids.filter((robotId) => !refused.has(robotId));
      for (const robotId of welcome) {
        setAside.delete(robotId);
        log.info({ stream: id, robotId }, "the service allows a robot again");
      }
      if (welcome.length > 0) subscription.renewSoon();
    } catch (error) {
      // Nobody could be asked; the next turn asks again.
      log.debug({ stream: id, err: error }, "the robots that are set aside could not be asked for");
    }
  }

  /** Some time after a call began: asks again for who was not heard, or rests if something else goes on. */
  function lookForMissing(call: number): void {
    if (call !== newestCall) return;
    if (aspect.unheard(id, call) > 0 && tries < SNAPSHOT_TRIES) {
      tries += 1;
      subscription.renewSoon();
      return;
    }
    tries = 0;
    aspect.releaseUnheard(id, call);
    if (relievedAtMs() !== null) subscription.standDown();
  }

  /** The stream goes on: its other robots have done nothing. */
  function leaveOut(bytes: number): void {
    aspect.counts.malformed += 1;
    if (aspect.counts.malformed > 1) return;
    log.error({ stream: id, bytes, limit: LARGEST_MESSAGE_BYTES }, "a stream message is too large: left out");
  }

  const subscription = createSubscription(
    {
      request() {
        const selected = wanted();
        return selected === null ? null : requestFor(selected);
      },
      receive(bytes, call) {
        if (bytes.length > LARGEST_MESSAGE_BYTES) return leaveOut(bytes.length);
        if (aspect.receive(bytes, id, call) === "regressed") subscription.renewSoon();
      },
      opened(call) {
        newestCall = call;
        if (selection.kind === "location") setAside.clear();
        sink({ kind: "stream", stream: id, state: "live", atMs: clock.nowMs() });
        parts.onOpen(id);
        void sleep(clock, times.resyncMs * SNAPSHOT_SHARE, running).then((passed) => {
          if (passed) lookForMissing(call);
        });
      },
      lost(ending) {
        sink({ kind: "stream", stream: id, state: "lost", atMs: clock.nowMs() });
        parts.onLost(id, ending);
      },
      refused: sortOut,
      unserved: (ending) => parts.onUnserved(aspect.method, ending),
      relievedAtMs,
    },
    parts,
  );

  return {
    id,
    subscription,
    setAside,
    recall() {
      if (!subscription.state().isResting) return;
      sink({ kind: "stream", stream: id, state: "lost", atMs: clock.nowMs() });
      subscription.renewSoon();
    },
    async run(signal) {
      running = signal;
      let asking: Promise<void> = Promise.resolve();
      const ask = () => {
        asking = asking.then(() => reconsider(signal));
      };
      if (selection.kind === "robots") every(clock, times.refusedRetryMs, signal, ask);
      await subscription.run(signal);
      await asking;
    },
  };
}
