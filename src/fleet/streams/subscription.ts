import { cutForgivenMs } from "../../domain/detection.ts";
import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Cancel, type Clock, sleep } from "../../platform/clock.ts";
import type { StreamPool } from "../channels/stream-pool.ts";
import type { FleetTimes } from "../options.ts";
import type { Session } from "../session/session.ts";
import { type CallOpeningParts, type OpenCall, type Opening, openCall } from "./call-opening.ts";
import type { QuietLimit } from "./quiet-limit.ts";
import { createRenewalWait } from "./renewal-wait.ts";
import type { StreamRequest } from "./stream-call.ts";
import { isFutile, isRefusal, type StreamEnding } from "./stream-ending.ts";

/** What a subscription serves: it says what to ask for, and is told what comes. */
export interface Subscriber {
  /** What to ask for now; null: nothing, until `renewSoon` is called. */
  request(): StreamRequest | null;
  /** A message of the call with this number; calls are numbered upwards. */
  receive(bytes: Buffer, call: number): void;
  /** From now on the call with this number is the one that serves. */
  opened(call: number): void;
  /** The call that served was cut; another is opened at once. */
  cut(ending: StreamEnding): void;
  /** No call serves any more, and none has come in the time for which a cut is forgiven. */
  lost(ending: StreamEnding): void;
  /**
   * The service refuses what was asked. Resolves true when asking again at once has
   * a chance, because something else will be asked for.
   */
  refused(ending: StreamEnding, signal: AbortSignal): Promise<boolean>;
  /** The service does not have what was asked for. */
  unserved(ending: StreamEnding): void;
  /** Monotonic time of the last proof that deliveries bring what a call would; null: nothing does. */
  deliveredAtMs(): number | null;
}

export interface SubscriptionState {
  /**
   * `suspended`: no call serves, and none is wanted before the next renewal. `cut`: no call serves, which is
   * still forgiven.
   */
  readonly standing: "closed" | "open" | "suspended" | "cut";
  /** Why it is closed; null while it is not. */
  readonly problem: string | null;
}

/** A logical stream, which outlives the calls that serve it one after the other. */
export interface Subscription {
  /** Asks again soon, new before old: something is missing, or something else is wanted. */
  renewSoon(): void;
  /** Ends the call until the next renewal, without being lost: deliveries bring what it would. */
  suspend(): void;
  state(): SubscriptionState;
  /** Monotonic time of the last proof that it is alive; null while no call serves. */
  provenAtMs(): number | null;
  run(signal: AbortSignal): Promise<void>;
}

export interface SubscriptionParts {
  readonly pool: StreamPool;
  readonly session: Session;
  readonly times: FleetTimes;
  readonly quiet: QuietLimit;
  readonly clock: Clock;
  readonly chance: Chance;
}

/** The first wait before a request is repeated that the service refused. */
const REFUSED_BASE_MS = 1_000;

/** The problem of a subscription that has not been answered yet. */
export const NOT_OPEN_YET = "not open yet";

type Standing =
  | { readonly standing: "closed"; readonly problem: string }
  | { readonly standing: "open"; readonly problem: null; readonly call: OpenCall }
  | { readonly standing: "suspended" | "cut"; readonly problem: null };

/**
 * Keeps a stream open whatever happens to the calls under it: opens the new one before it ends the old,
 * renews in good time, and comes back after every ending with backoff and full jitter.
 */
export function createSubscription(subscriber: Subscriber, parts: SubscriptionParts): Subscription {
  const { times, clock, quiet } = parts;
  let now: Standing = { standing: "closed", problem: NOT_OPEN_YET };
  let calls = 0;
  let calledAtMs = 0;
  let endCut: Cancel = () => {};
  const wait = createRenewalWait(times, quiet, clock, parts.chance, () => now.standing === "open");
  const opening: CallOpeningParts = {
    ...parts,
    begin() {
      calls += 1;
      calledAtMs = clock.monotonicMs();
      wait.called();
      return calls;
    },
    taken(call) {
      const before = now;
      now = { standing: "open", problem: null, call };
      subscriber.opened(call.number);
      endCut();
      if (before.standing !== "open") return;
      quiet.survived(clock.monotonicMs() - before.call.heardAtMs());
      before.call.stream.cancel();
    },
    receive: subscriber.receive,
    leaving(call) {
      // A call that has a successor has nothing left to move.
      if (call === calls) wait.connectionLeaves();
    },
    ended(call, ending, isSilent) {
      if (now.standing !== "open" || now.call.number !== call) return;
      if (isSilent || isFutile(ending)) lose(ending);
      else cut(ending, clock.monotonicMs() - now.call.heardAtMs());
      wait.lost();
    },
  };

  function lose(ending: StreamEnding): void {
    endCut();
    now = closedBy(ending);
    subscriber.lost(ending);
  }

  function cut(ending: StreamEnding, quietMs: number): void {
    now = { standing: "cut", problem: null };
    endCut = clock.after(cutForgivenMs(times.streamSilenceMs), () => lose(ending));
    quiet.cut(quietMs);
    subscriber.cut(ending);
  }

  function notTaken(ending: StreamEnding): void {
    if (now.standing === "open" || (now.standing === "cut" && !isFutile(ending))) return;
    if (now.standing === "closed") now = closedBy(ending);
    else lose(ending);
  }

  /** A suspended subscription is lost when there is no connection to open a call on. */
  async function open(request: StreamRequest, signal: AbortSignal): Promise<Opening> {
    const cancel =
      now.standing === "suspended" ? clock.after(times.connectMs, () => notTaken(late(times))) : null;
    const opened = await openCall(request, opening, signal);
    cancel?.();
    return opened;
  }

  function cancelOpen(): void {
    if (now.standing === "open") now.call.stream.cancel();
  }

  return {
    renewSoon: wait.request,
    suspend() {
      const before = now;
      if (before.standing !== "open") return;
      now = { standing: "suspended", problem: null };
      before.call.stream.cancel();
    },
    state: () => now,
    provenAtMs() {
      if (now.standing === "open") return now.call.permit.provenAtMs();
      return now.standing === "suspended" ? subscriber.deliveredAtMs() : null;
    },
    async run(signal) {
      const pace = createPace(parts, () => calledAtMs);
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
          await pace.afterCall(now.standing === "closed" || now.standing === "cut", signal);
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

/** Waits until another call may be tried, after one that was not taken. */
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

function closedBy({ code, message }: StreamEnding): Standing {
  return { standing: "closed", problem: `${code}: ${message}` };
}

/** The waits before the next call is tried. */
function createPace({ times, clock, chance }: SubscriptionParts, calledAtMs: () => number) {
  const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, chance);
  const refusalBackoff = createBackoff({ baseMs: REFUSED_BASE_MS, capMs: times.refusedRetryMs }, chance);
  let takenAtMs = 0;

  return {
    taken() {
      refusalBackoff.reset();
      takenAtMs = clock.monotonicMs();
    },
    /** A call has served until now. `isOver`: none serves any more. */
    async afterCall(isOver: boolean, signal: AbortSignal) {
      if (clock.monotonicMs() - takenAtMs > times.backoffCapMs) backoff.reset();
      if (isOver) await sleep(clock, backoff.nextMs(), signal);
    },
    async afterFailure(ending: StreamEnding, signal: AbortSignal) {
      // The time that a call hung until it was given up counts as waited.
      const hungMs = clock.monotonicMs() - calledAtMs();
      const delayMs = isFutile(ending) ? refusalBackoff.nextMs() : backoff.nextMs() - hungMs;
      await sleep(clock, delayMs, signal);
    },
  };
}
