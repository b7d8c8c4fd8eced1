import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import { onAbort } from "../../platform/on-abort.ts";
import { SETTLED_MS, type SlotHolder, type StreamPool, type StreamSlot } from "../channels/stream-pool.ts";
import type { FleetTimes } from "../options.ts";
import type { Session } from "../session/session.ts";
import { planRenewals } from "./renewal-plan.ts";
import { openStream, type StreamCall, type StreamRequest } from "./stream-call.ts";
import { isFutile, isRefusal, type StreamEnding } from "./stream-ending.ts";

/** What a subscription serves: it says what to ask for, and is told what comes. */
export interface Subscriber {
  /** What to ask for now; null: nothing, until `renewSoon` is called. */
  request(): StreamRequest | null;
  /** A message of the call with this number; calls are numbered upwards. */
  receive(bytes: Buffer, call: number): void;
  /** From now on the call with this number is the one that serves. */
  opened(call: number): void;
  /** No call serves any more. */
  lost(ending: StreamEnding): void;
  /**
   * The service refuses what was asked. Resolves true when asking again at once has
   * a chance, because something else will be asked for.
   */
  refused(ending: StreamEnding, signal: AbortSignal): Promise<boolean>;
  /** The service does not have what was asked for. */
  unserved(ending: StreamEnding): void;
  /** Monotonic time of the last proof that something else brings what a call would; null: nothing does. */
  relievedAtMs(): number | null;
}

export interface SubscriptionState {
  /** Monotonic time of the last proof that it is alive; null while no call serves. */
  readonly provenAtMs: number | null;
  /** Why no call serves; null while one does. */
  readonly problem: string | null;
  /** No call serves, and none is wanted before the next renewal. */
  readonly isResting: boolean;
}

/** A logical stream, which outlives the calls that serve it one after the other. */
export interface Subscription {
  /** Asks again soon, new before old: something is missing, or something else is wanted. */
  renewSoon(): void;
  /** Lets the call go until the next renewal, without being lost: something else brings what it would. */
  standDown(): void;
  state(): SubscriptionState;
  run(signal: AbortSignal): Promise<void>;
}

export interface SubscriptionParts {
  readonly pool: StreamPool;
  readonly session: Session;
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly chance: Chance;
}

/** Renewals that something asked for keep this distance, growing while they go on, and are no later than without it. */
const HASTE = { baseMs: 1_000, capMs: 30_000 };
/** Calls whose connection takes no more leave it spread over this: it may be cut in a second. */
const MOVE_MS = 100;

/** The problem of a subscription that has not been answered yet. */
export const NOT_OPEN_YET = "not open yet";

interface Serving {
  readonly call: StreamCall;
  readonly slot: StreamSlot;
  readonly number: number;
}

/**
 * Keeps a stream open whatever happens to the calls under it: opens the new one
 * before it lets go of the old, renews in good time, and comes back after every
 * ending with backoff and full jitter.
 */
export function createSubscription(subscriber: Subscriber, parts: SubscriptionParts): Subscription {
  const { pool, session, times, clock, chance } = parts;
  const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, chance);
  const patience = createBackoff({ baseMs: 1_000, capMs: times.refusedRetryMs }, chance);
  const haste = createBackoff(HASTE, () => 1);
  // It grows only where every connection is told to go as soon as it is there.
  const moving = createBackoff({ baseMs: MOVE_MS, capMs: times.backoffCapMs }, chance);
  const renewals = planRenewals(times.resyncMs, chance);
  let serving: Serving | null = null;
  let calls = 0;
  let calledAtMs = 0;
  let problem: string | null = NOT_OPEN_YET;
  let isRenewalWanted = false;
  /** The connection of the newest call takes no more, and may be cut soon. */
  let isLeaving = false;
  let wake: () => void = () => {};
  let isResting = false;

  /** Opens one more call. Resolves with how it ended when it was not taken. */
  async function open(request: StreamRequest, signal: AbortSignal): Promise<StreamEnding | null> {
    const jwt = await session.authorized(signal);
    if (jwt === null) return null;
    const holder: SlotHolder = { leaving: () => {}, silent: () => {} };
    const slot = await pool.acquire(holder, signal);
    if (slot === null) return null;
    calls += 1;
    isLeaving = false;
    const number = calls;
    calledAtMs = clock.monotonicMs();
    const call = openStream(request, jwt, slot, (bytes) => subscriber.receive(bytes, number));
    holder.leaving = () => leave(number);
    holder.silent = () => call.cancel();
    const letGo = onAbort(signal, () => call.cancel());
    let over: StreamEnding | null = null;
    void call.ended.then((ending) => {
      over = ending;
      letGo();
      if (!signal.aborted) fall(number, ending);
    });
    const ending = (await takenOrEnded(call, slot)) ?? over;
    if (ending?.code === "UNAUTHENTICATED") await session.replace(jwt, signal);
    if (ending === null) rise({ call, slot, number });
    return ending;
  }

  /** The same; a subscription that rests is lost when there is no connection to open one on. */
  async function openInTime(request: StreamRequest, signal: AbortSignal): Promise<StreamEnding | null> {
    if (!isResting) return open(request, signal);
    const message = `no stream within ${times.connectMs} ms`;
    const cancel = clock.after(times.connectMs, () => stayOut({ code: "UNAVAILABLE", message }));
    const ending = await open(request, signal);
    cancel();
    return ending;
  }

  /** Null when the service took the call. */
  async function takenOrEnded(call: StreamCall, slot: StreamSlot): Promise<StreamEnding | null> {
    let cancelTimer = () => {};
    const late = new Promise<"late">((resolve) => {
      cancelTimer = clock.after(times.connectMs, () => resolve("late"));
    });
    const first = await Promise.race([call.accepted, late]);
    cancelTimer();
    if (first === true) return null;
    if (first === false) return call.ended;
    // A server with nothing to send yet need not answer a stream; but if it leaves a plain
    // call unanswered too, the stream waits in a queue that grpc-js does not show.
    if (await slot.prove()) return null;
    slot.unanswered();
    call.cancel();
    return { code: "UNAVAILABLE", message: `no answer within ${times.connectMs} ms` };
  }

  function rise(next: Serving): void {
    const before = serving;
    serving = next;
    problem = null;
    isResting = false;
    subscriber.opened(next.number);
    before?.call.cancel();
  }

  function fall(number: number, ending: StreamEnding): void {
    if (serving?.number !== number) return;
    serving = null;
    renewals.restart();
    problem = `${ending.code}: ${ending.message}`;
    subscriber.lost(ending);
    wake();
  }

  /** The service does not take the call. */
  function stayOut(ending: StreamEnding): void {
    if (serving !== null) return;
    problem = `${ending.code}: ${ending.message}`;
    if (isResting) subscriber.lost(ending);
    isResting = false;
  }

  function standDown(): void {
    if (serving === null) return;
    const { call } = serving;
    serving = null;
    isResting = true;
    call.cancel();
  }

  function renewSoon(): void {
    isRenewalWanted = true;
    wake();
  }

  /** The connection of this call takes no more. One that a newer call came after has nothing left to move. */
  function leave(number: number): void {
    if (number !== calls) return;
    isLeaving = true;
    wake();
  }

  /** Waits for the time to renew, for the call to end, for somebody to ask, or for the connection to be left. */
  async function rest(signal: AbortSignal): Promise<void> {
    const plannedMs = renewals.delayMs(clock.monotonicMs());
    const isAsked = () => isRenewalWanted || isLeaving;
    if (!isAsked()) {
      await wait(plannedMs, signal, isAsked);
      if (!isAsked()) haste.reset();
    }
    if (isRenewalWanted && !isLeaving && serving !== null) {
      await wait(renewals.hastenedMs(clock.monotonicMs(), haste.nextMs()), signal, () => isLeaving);
    }
    // Haste is for what may be asked for again and again; a connection that goes does not wait.
    if (isLeaving && serving !== null) {
      if (clock.monotonicMs() - calledAtMs >= SETTLED_MS) moving.reset();
      await wait(renewals.hastenedMs(clock.monotonicMs(), moving.nextMs()), signal, () => false);
    }
    // Whoever asks while one waits, or while no call serves, is served by the call that comes next.
    isRenewalWanted = false;
  }

  /** Waits, no longer than until `isEnough` when somebody wakes it, or until no call serves. */
  function wait(delayMs: number, signal: AbortSignal, isEnough: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      let letGo = () => {};
      const done = () => {
        cancel();
        letGo();
        wake = () => {};
        resolve();
      };
      const cancel = clock.after(delayMs, done);
      wake = () => {
        if (isEnough() || serving === null) done();
      };
      letGo = onAbort(signal, done);
    });
  }

  return {
    renewSoon,
    standDown,
    state: () => ({
      provenAtMs: serving?.slot.provenAtMs() ?? (isResting ? subscriber.relievedAtMs() : null),
      problem,
      isResting,
    }),
    async run(signal) {
      while (!signal.aborted) {
        const request = subscriber.request();
        if (request === null) {
          serving?.call.cancel();
          isResting = false;
          isRenewalWanted = false;
          await wait(times.refusedRetryMs, signal, () => true);
          continue;
        }
        const ending = await openInTime(request, signal);
        if (signal.aborted) break;
        if (ending === null) {
          patience.reset();
          const risenAtMs = clock.monotonicMs();
          await rest(signal);
          if (clock.monotonicMs() - risenAtMs > times.backoffCapMs) backoff.reset();
          if (serving === null && !isResting) await sleep(clock, backoff.nextMs(), signal);
          continue;
        }
        stayOut(ending);
        if (ending.code === "UNIMPLEMENTED") subscriber.unserved(ending);
        if (isRefusal(ending) && (await subscriber.refused(ending, signal))) continue;
        // The time that a call hung until it was given up counts as waited.
        const hungMs = clock.monotonicMs() - calledAtMs;
        await sleep(clock, isFutile(ending) ? patience.nextMs() : backoff.nextMs() - hungMs, signal);
      }
      serving?.call.cancel();
    },
  };
}
