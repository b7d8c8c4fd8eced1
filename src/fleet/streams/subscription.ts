import { cutForgivenMs } from "../../domain/detection.ts";
import { createBackoff } from "../../platform/backoff.ts";
import { type Cancel, sleep } from "../../platform/clock.ts";
import type { FleetTimes } from "../options.ts";
import { createRenewalWait } from "./renewal-wait.ts";
import {
  type CallListener,
  isFutile,
  isRefusal,
  type OpenCall,
  type Opening,
  openCall,
  type StreamEnding,
  type StreamRequest,
  type SubscriptionDependencies,
} from "./stream-call.ts";

/** The client of a subscription: it gives the request, and receives the messages. */
export interface Subscriber {
  /** The present request; null: none, until `renewSoon` is called. */
  request(): StreamRequest | null;
  /** Receives a message of the call with this number; calls are numbered upwards. */
  receive(bytes: Buffer, call: number): void;
  /** From now on the call with this number serves the subscription. */
  opened(call: number): void;
  /** The serving call was cut; another is opened at once. */
  cut(ending: StreamEnding): void;
  /** No call serves any more, and none has come in the time for which a cut is forgiven. */
  lost(ending: StreamEnding): void;
  /**
   * The service refuses the request. Resolves with true if another request will be made, which may succeed at
   * once.
   */
  refused(ending: StreamEnding, signal: AbortSignal): Promise<boolean>;
  /** The service does not have the operation. */
  unserved(ending: StreamEnding): void;
  /** Monotonic time of the last proof that deliveries bring the events of a call; null: they do not. */
  deliveredAtMs(): number | null;
}

export interface SubscriptionState {
  /**
   * `suspended`: no call serves, and none is wanted before the next renewal. `cut`: no call serves, which is
   * still forgiven.
   */
  readonly phase: "closed" | "open" | "suspended" | "cut";
  /** Why it is closed; null: it is not. */
  readonly problem: string | null;
}

/** A logical stream, which outlives the calls that serve it one after the other. */
export interface Subscription {
  /** Asks again soon, new before old: a robot is missing, or the request has changed. */
  renewSoon(): void;
  /** Ends the call until the next renewal without being lost: deliveries bring its events. */
  suspend(): void;
  state(): SubscriptionState;
  /** Monotonic time of its last proof of life; null: no call serves. */
  provenAtMs(): number | null;
  run(signal: AbortSignal): Promise<void>;
}

/** The first wait before a refused request is repeated. */
const REFUSED_BASE_MS = 1_000;

/** The problem of a subscription without an answer yet. */
export const NOT_OPEN_YET = "not open yet";

type SubscriptionPhase =
  | { readonly phase: "closed"; readonly problem: string; readonly ending?: StreamEnding }
  | { readonly phase: "open"; readonly problem: null; readonly call: OpenCall }
  | { readonly phase: "suspended" | "cut"; readonly problem: null };

/**
 * Keeps a stream open whatever happens to its calls: opens the new call before it ends the old one, renews in
 * good time, and comes back after every ending with backoff and full jitter.
 */
export function createSubscription(
  subscriber: Subscriber,
  dependencies: SubscriptionDependencies,
): Subscription {
  const { times, clock, quiet, random } = dependencies;
  let now: SubscriptionPhase = { phase: "closed", problem: NOT_OPEN_YET };
  let calls = 0;
  let calledAtMs = 0;
  let endCut: Cancel = () => {};
  const wait = createRenewalWait(times, quiet, clock, random, () => now.phase === "open");
  const listener: CallListener = {
    begin() {
      calls += 1;
      calledAtMs = clock.monotonicMs();
      wait.called();
      return calls;
    },
    taken(call) {
      const before = now;
      now = { phase: "open", problem: null, call };
      subscriber.opened(call.number);
      endCut();
      if (before.phase !== "open") return;
      quiet.survived(clock.monotonicMs() - before.call.receivedAtMs());
      before.call.stream.cancel();
    },
    receive: subscriber.receive,
    leaving(call) {
      // A call with a successor has nothing left to move.
      if (call === calls) wait.connectionLeaves();
    },
    ended(call, ending, isSilent) {
      if (now.phase !== "open" || now.call.number !== call) return;
      if (isSilent || isFutile(ending)) lose(ending);
      else cut(ending, clock.monotonicMs() - now.call.receivedAtMs());
      wait.lost();
    },
  };

  function lose(ending: StreamEnding): void {
    endCut();
    now = closedBy(ending);
    subscriber.lost(ending);
  }

  function cut(ending: StreamEnding, quietMs: number): void {
    now = { phase: "cut", problem: null };
    endCut = clock.after(cutForgivenMs(times.streamSilenceMs), () => lose(ending));
    quiet.cut(quietMs);
    subscriber.cut(ending);
  }

  function notTaken(ending: StreamEnding): void {
    if (now.phase === "open" || (now.phase === "cut" && !isFutile(ending))) return;
    if (now.phase === "closed") now = closedBy(ending);
    else lose(ending);
  }

  /** A suspended subscription is lost if there is no connection to open a call on. */
  async function open(request: StreamRequest, signal: AbortSignal): Promise<Opening> {
    const cancel =
      now.phase === "suspended" ? clock.after(times.connectMs, () => notTaken(late(times))) : null;
    const opened = await openCall(request, listener, dependencies, signal);
    cancel?.();
    return opened;
  }

  function cancelOpen(): void {
    if (now.phase === "open") now.call.stream.cancel();
  }

  return {
    renewSoon: wait.request,
    suspend() {
      const before = now;
      if (before.phase !== "open") return;
      now = { phase: "suspended", problem: null };
      before.call.stream.cancel();
    },
    state: () => now,
    provenAtMs() {
      if (now.phase === "open") return now.call.permit.provenAtMs();
      return now.phase === "suspended" ? subscriber.deliveredAtMs() : null;
    },
    async run(signal) {
      const pace = createPace(dependencies, () => calledAtMs);
      while (!signal.aborted) {
        const request = subscriber.request();
        if (request === null) {
          cancelOpen();
          await wait.untilRequested(times.refusedRetryMs, signal);
          continue;
        }
        const opened = await open(request, signal);
        if (signal.aborted || opened.kind === "aborted") break;
        if (opened.kind === "taken") {
          pace.taken();
          await wait.untilDue(signal);
          await goOnAfterServing(now, subscriber, pace, signal);
          continue;
        }
        notTaken(opened.ending);
        await goOnAfter(opened.ending, subscriber, pace, signal);
      }
      cancelOpen();
      endCut();
    },
  };
}

/** Waits until another call may be tried, after one that was accepted. A refusal may follow its headers. */
async function goOnAfterServing(
  now: SubscriptionPhase,
  subscriber: Subscriber,
  pace: ReturnType<typeof createPace>,
  signal: AbortSignal,
): Promise<void> {
  const ending = now.phase === "closed" ? now.ending : undefined;
  if (ending !== undefined && isFutile(ending)) await goOnAfter(ending, subscriber, pace, signal);
  else await pace.afterCall(now.phase === "closed" || now.phase === "cut", signal);
}

/** Waits until another call may be tried, after one that was refused, or was not accepted. */
async function goOnAfter(
  ending: StreamEnding,
  subscriber: Subscriber,
  pace: ReturnType<typeof createPace>,
  signal: AbortSignal,
): Promise<void> {
  if (ending.code === "UNIMPLEMENTED") subscriber.unserved(ending);
  if (isRefusal(ending) && (await subscriber.refused(ending, signal))) return;
  await pace.afterFailure(ending, signal);
}

function late({ connectMs }: FleetTimes): StreamEnding {
  return { code: "UNAVAILABLE", message: `no stream within ${connectMs} ms` };
}

function closedBy(ending: StreamEnding): SubscriptionPhase {
  return { phase: "closed", problem: `${ending.code}: ${ending.message}`, ending };
}

/** The waits before the next call is tried. */
function createPace({ times, clock, random }: SubscriptionDependencies, calledAtMs: () => number) {
  const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, random);
  const refusalBackoff = createBackoff({ baseMs: REFUSED_BASE_MS, capMs: times.refusedRetryMs }, random);
  let takenAtMs = 0;

  return {
    taken() {
      takenAtMs = clock.monotonicMs();
    },
    /** A call has served until now, and was not refused. `isOver`: none serves any more. */
    async afterCall(isOver: boolean, signal: AbortSignal) {
      refusalBackoff.reset();
      if (clock.monotonicMs() - takenAtMs > times.backoffCapMs) backoff.reset();
      if (isOver) await sleep(clock, backoff.nextMs(), signal);
    },
    async afterFailure(ending: StreamEnding, signal: AbortSignal) {
      // The time for which a call hung until it was given up counts as waited.
      const hungMs = clock.monotonicMs() - calledAtMs();
      const delayMs = isFutile(ending) ? refusalBackoff.nextMs() : backoff.nextMs() - hungMs;
      await sleep(clock, delayMs, signal);
    },
  };
}
