import type { QualityTimes } from "./quality.ts";

/** How often the gateway looks whether time alone has changed a quality, in milliseconds. */
export const QUALITY_TICK_MS = 500;

/** Silence is looked for this often within `streamSilenceMs`. */
export const LOOKS_A_SILENCE = 4;

/** The configured times that detection hangs on, in milliseconds. */
export interface DetectionTimes extends QualityTimes {
  /** Between two HTTP/2 pings, and how long one waits for its answer; null: no pings. */
  readonly keepaliveMs: number | null;
  readonly keepaliveTimeoutMs: number;
  /** Between two GetOnlineRobots; null: not polled. */
  readonly rosterPollMs: number | null;
  /** The deadline of a GetOnlineRobots. */
  readonly callMs: number;
}

/**
 * The longest time between a loss and the moment when values say so, in milliseconds.
 * Null: never found out. What a network needs to carry a message comes on top.
 */
export interface DetectionLimits {
  /** The service or a balancer ends a stream, or the connection: its end is an event, and told at once. */
  readonly streamCutMs: number;
  /** A connection is dead and says nothing (a cable, a firewall that forgets): values are offline, or stale where other connections live. */
  readonly silentMs: number;
  /** A robot is no longer heard on a stream that is alive otherwise: stale. */
  readonly notRenewedMs: number;
  /** A robot leaves the online list, while the list is answered at once: offline. */
  readonly absentMs: number | null;
  /** The same, while each answer takes as long as its deadline allows. */
  readonly absentSlowestMs: number | null;
  /** The list is not answered any more: a robot's presence is stale. */
  readonly rosterSilentMs: number | null;
  /** From the moment when a value is stale or offline until it is lost. */
  readonly lostAfterMs: number;
}

/** The limits of a configuration. `docs/install.md` has the same as formulas. */
export function detectionLimits(times: DetectionTimes): DetectionLimits {
  const { streamSilenceMs, resyncMs, holdMs, keepaliveMs, keepaliveTimeoutMs, rosterPollMs, callMs } = times;
  // The proof may have come just after a look, and the silence ends just after another.
  const noticedMs = streamSilenceMs + streamSilenceMs / LOOKS_A_SILENCE + QUALITY_TICK_MS;
  const pingedMs = keepaliveMs === null ? Number.POSITIVE_INFINITY : keepaliveMs + keepaliveTimeoutMs;
  return {
    streamCutMs: 0,
    silentMs: Math.min(noticedMs, pingedMs),
    notRenewedMs: resyncMs + QUALITY_TICK_MS,
    absentMs: rosterPollMs,
    absentSlowestMs: rosterPollMs === null ? null : Math.max(rosterPollMs, callMs) + callMs,
    rosterSilentMs: rosterPollMs === null ? null : Math.min(streamSilenceMs, resyncMs) + QUALITY_TICK_MS,
    lostAfterMs: holdMs + QUALITY_TICK_MS,
  };
}
