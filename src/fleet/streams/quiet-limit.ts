import { LATEST_RENEWAL } from "../../domain/detection.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";

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
