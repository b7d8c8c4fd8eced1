import { LATEST_RENEWAL } from "../../domain/detection.ts";
import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import { SETTLED_MS } from "../channels/pooled-connection.ts";
import type { FleetTimes } from "../options.ts";

/**
 * Renewals on request keep this distance, which grows while they go on; none is later than the planned one.
 */
const ON_REQUEST = { baseMs: 1_000, capMs: 30_000 };
/** The calls of a connection that closes leave it spread over this time: it may be closed in a second. */
const MOVE_MS = 100;

/** Waits between the calls of one subscription. */
interface RenewalWait {
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
interface RenewalPlan {
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

/**
 * How long the way to the service lets a stream be quiet. A proxy may end quiet streams without announcing
 * it: then calls end at the same age, one time after the other (docs/internals/decisions.md, The limit of a
 * proxy is learned).
 */
export interface QuietLimit {
  /** A call was cut after this long without a message. */
  cut(quietMs: number): void;
  /** A call was open this long without a message when a new one replaced it. */
  survived(quietMs: number): void;
  /** The `resyncMs` for renewing streams: the configured one, or less if the limit needs it. */
  resyncMs(): number;
  /** The limit that was found; null: none. */
  foundMs(): number | null;
}

/** A stream that ends sooner was not quiet for long: the service itself may have ended it. */
const SHORTEST_MS = 2_000;
/** How many cuts in a row, at different times, show a limit. */
const CUTS = 3;
/** Cuts whose ages differ by less than this share have the same age. */
const TOLERANCE = 0.1;
/** A stream is renewed at this share of the limit at the latest. */
const MARGIN = 0.8;
/** However short a limit is, streams are renewed as if by this at the most. */
const LEAST_RESYNC_MS = 10_000;

/** One for a session: all its streams go the same way. */
export function createQuietLimit(configuredMs: number, clock: Clock, log: Log): QuietLimit {
  let resyncMs = configuredMs;
  let foundMs: number | null = null;
  let seenMs: readonly number[] = [];
  let seenAtMs = Number.NEGATIVE_INFINITY;

  function find(limitMs: number): void {
    const neededMs = Math.floor((limitMs * MARGIN) / LATEST_RENEWAL / 1_000) * 1_000;
    if (neededMs >= resyncMs || resyncMs <= LEAST_RESYNC_MS) return;
    foundMs = limitMs;
    resyncMs = Math.min(resyncMs, Math.max(neededMs, LEAST_RESYNC_MS));
    log.warn(
      { quietMs: Math.round(limitMs), resyncMs },
      "the way to the service ends streams on which nothing comes for so long, as proxies do: streams are now" +
        " renewed as with this quality.resyncMs; set it, or raise the proxy's limit",
    );
  }

  return {
    cut(quietMs) {
      const nowMs = clock.monotonicMs();
      // Streams that began together are cut together: the cause may have occurred once.
      if (quietMs < SHORTEST_MS || nowMs - seenAtMs < quietMs / 2) return;
      seenAtMs = nowMs;
      const isSame = seenMs.every((otherMs) => Math.abs(otherMs - quietMs) <= quietMs * TOLERANCE);
      seenMs = isSame ? [...seenMs, quietMs] : [quietMs];
      if (seenMs.length < CUTS) return;
      find(Math.min(...seenMs));
      seenMs = [];
    },
    survived(quietMs) {
      if (seenMs.some((cutMs) => quietMs > cutMs * (1 + TOLERANCE))) seenMs = [];
    },
    resyncMs: () => resyncMs,
    foundMs: () => foundMs,
  };
}
