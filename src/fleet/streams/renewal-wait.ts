import { LATEST_RENEWAL } from "../../domain/detection.ts";
import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { onAbort } from "../../platform/on-abort.ts";
import { SETTLED_MS } from "../channels/pooled-connection.ts";
import type { FleetTimes } from "../options.ts";
import type { QuietLimit } from "./quiet-limit.ts";

/**
 * Renewals on request keep this distance, which grows while they go on; none is later than the planned one.
 */
const ON_REQUEST = { baseMs: 1_000, capMs: 30_000 };
/** The calls of a connection that closes leave it spread over this time: it may be closed in a second. */
const MOVE_MS = 100;

/** Waits between the calls of one subscription. */
export interface RenewalWait {
  /** A renewal is wanted soon. */
  request(): void;
  /** The newest call's connection accepts no new calls: the next call is due at once. */
  connectionLeaves(): void;
  /** A new call is being made. */
  called(): void;
  /** No call serves the subscription any more. */
  lost(): void;
  /**
   * Waits for the planned renewal, a request, or a connection that leaves, or until no call serves the
   * subscription.
   */
  untilDue(signal: AbortSignal): Promise<void>;
  /** Waits until a renewal is requested, or until the time has passed. */
  untilRequested(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** @param isServing whether a call serves the subscription at this moment */
export function createRenewalWait(
  times: FleetTimes,
  quiet: QuietLimit,
  clock: Clock,
  random: RandomSource,
  isServing: () => boolean,
): RenewalWait {
  const plan = planRenewals(quiet.resyncMs, random);
  const requestBackoff = createBackoff(ON_REQUEST, () => 1);
  // It grows only if every connection leaves as soon as it is there.
  const moveBackoff = createBackoff({ baseMs: MOVE_MS, capMs: times.backoffCapMs }, random);
  let isRequested = false;
  let isLeaving = false;
  let calledAtMs = 0;
  let wake: () => void = () => {};

  /** Waits no longer than until `isEnough` when it is woken, or until no call serves. */
  function wait(delayMs: number, signal: AbortSignal, isEnough: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      let unlisten = () => {};
      const done = () => {
        cancel();
        unlisten();
        wake = () => {};
        resolve();
      };
      const cancel = clock.after(delayMs, done);
      wake = () => {
        if (isEnough() || !isServing()) done();
      };
      unlisten = onAbort(signal, done);
    });
  }

  const isDue = () => isRequested || isLeaving;

  return {
    request() {
      isRequested = true;
      wake();
    },
    connectionLeaves() {
      isLeaving = true;
      wake();
    },
    called() {
      isLeaving = false;
      calledAtMs = clock.monotonicMs();
    },
    lost() {
      plan.restart();
      wake();
    },
    async untilDue(signal) {
      const plannedMs = plan.delayMs(clock.monotonicMs());
      if (!isDue()) {
        await wait(plannedMs, signal, isDue);
        if (!isDue()) requestBackoff.reset();
      }
      if (isRequested && !isLeaving && isServing()) {
        const delayMs = plan.onRequestMs(clock.monotonicMs(), requestBackoff.nextMs());
        await wait(delayMs, signal, () => isLeaving);
      }
      // Requests come again and again; a connection that leaves does not wait.
      if (isLeaving && isServing()) {
        if (clock.monotonicMs() - calledAtMs >= SETTLED_MS) moveBackoff.reset();
        await wait(plan.onRequestMs(clock.monotonicMs(), moveBackoff.nextMs()), signal, () => false);
      }
      // A request during the wait, or while no call serves, is satisfied by the next call.
      isRequested = false;
    },
    async untilRequested(delayMs, signal) {
      isRequested = false;
      await wait(delayMs, signal, () => true);
    },
  };
}

/** A renewal takes place from this share of `resyncMs` on. */
const RENEW_FROM = 0.65;
/**
 * The moments in a `resyncMs` at which streams are renewed: a wake-up for each stream would cost more than
 * its renewal.
 */
const MOMENTS = 64;

/** When a stream is renewed. */
export interface RenewalPlan {
  /** From `nowMs`, monotonic, to the next renewal, in milliseconds. */
  delayMs(nowMs: number): number;
  /**
   * The same for a renewal on request, which should wait `backoffMs` from now. It is never later than the
   * last planned one, because the robots of the whole stream depend on that.
   */
  onRequestMs(nowMs: number, backoffMs: number): number;
  /** The stream was lost, together with others that come again at the same time. */
  restart(): void;
}

/**
 * Plans renewals between 0.65 and 0.7 of `resyncMs`, which may become less with time, so that a lost snapshot
 * can be asked for again in time. The first renewal may be at any moment before: so streams that began
 * together part, and stay apart. All streams share the moments.
 */
export function planRenewals(resyncMs: () => number, random: RandomSource): RenewalPlan {
  let isFirst = true;
  let plannedAtMs = Number.POSITIVE_INFINITY;
  return {
    delayMs(nowMs) {
      const from = isFirst ? 0 : RENEW_FROM;
      isFirst = false;
      const dueMs = nowMs + resyncMs() * (from + (LATEST_RENEWAL - from) * random());
      const stepMs = resyncMs() / MOMENTS;
      plannedAtMs = Math.max(nowMs, Math.floor(dueMs / stepMs) * stepMs);
      return plannedAtMs - nowMs;
    },
    onRequestMs: (nowMs, backoffMs) => Math.max(0, Math.min(backoffMs, plannedAtMs - nowMs)),
    restart() {
      isFirst = true;
    },
  };
}
