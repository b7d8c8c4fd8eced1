import type { QualityTimes } from "./observed.ts";

/** How often the gateway looks whether time alone has changed a quality, in milliseconds. */
export const QUALITY_TICK_MS = 500;

/**
 * What replaces traffic as a sign of life (pings, lists) is asked for and reported this often within
 * `streamSilenceMs`.
 */
export const LOOKS_A_SILENCE = 4;

/**
 * Silence is checked at least this often, in milliseconds: if it were found late, the recovery would be late
 * too.
 */
const LONGEST_LOOK_MS = 1_000;

/**
 * A cut stream is forgiven for this share of `streamSilenceMs`. A stream that is only silent is forgiven for
 * all of it.
 */
const FORGIVEN_SHARE = 1 / 4;

/**
 * The longest time for which a cut is forgiven, in milliseconds: a new connection and a new stream over a
 * slow network, with the first backoff.
 */
const LONGEST_FORGIVEN_MS = 2_000;

/**
 * A subscription is renewed at this share of `resyncMs` at the latest, so that no confirmation comes late.
 */
export const LATEST_RENEWAL = 0.7;

/** How missions and batteries come. Conveyors and snapshots come by streams always. */
export type EventWay = "streams" | "webhook";

/** The configured times on which detection depends, in milliseconds. */
export interface DetectionTimes extends QualityTimes {
  /** Between two HTTP/2 pings, and how long a ping waits for its answer; null: no pings. */
  readonly keepaliveMs: number | null;
  readonly keepaliveTimeoutMs: number;
  /** How long a connection may take to open, or a stream to be accepted. */
  readonly connectMs: number;
  /** Between two GetOnlineRobots; null: not polled. */
  readonly rosterPollMs: number | null;
  /** The deadline of a GetOnlineRobots. */
  readonly pollTimeoutMs: number;
}

/** How soon the online list shows a loss. */
export interface RosterLimits {
  /** A robot leaves the list while the service answers at once: offline. */
  readonly absentMs: number;
  /** The same while each answer takes as long as it may. */
  readonly absentSlowestMs: number;
  /** What each missing answer adds to either. */
  readonly unansweredMs: number;
  /** The list is not answered any more: a robot's presence is stale. */
  readonly silentMs: number;
}

/**
 * How soon a loss of missions and batteries shows while webhooks bring them and their streams are suspended.
 */
export interface DeliveryLimits {
  /** The service, or the way to it, is gone: stale. Only the watch of the subscriptions shows that. */
  readonly goneMs: number;
  /** The same: offline. */
  readonly linkGoneMs: number;
  /** Deliveries no longer arrive although the subscription exists: streams resume. */
  readonly standInMs: number;
}

/**
 * The longest time between a loss and the moment when values show it, in milliseconds. Null: never found out,
 * or not applicable. The time that the network needs for a message comes on top.
 */
export interface DetectionLimits {
  /**
   * A stream or its connection is ended, and the stream is not open again with a snapshot while that is
   * forgiven: stale, or offline if no stream is open.
   */
  readonly streamCutMs: number;
  /**
   * A connection is dead and silent (a cable, a firewall): values of its streams are offline, or stale if
   * other connections live.
   */
  readonly silentMs: number;
  /** A robot is no longer confirmed on a stream that is alive otherwise: stale. */
  readonly notRenewedMs: number;
  /** A message or a delivery is lost, and nothing shows that: the next snapshot corrects the value. */
  readonly madeUpMs: number;
  /** Null: missions and batteries come by streams, as conveyors do. */
  readonly deliveries: DeliveryLimits | null;
  /** Null: the list is not polled. */
  readonly roster: RosterLimits | null;
  /** From the moment when a value is stale or offline until it is lost. */
  readonly lostAfterMs: number;
}

/**
 * How often the gateway checks whether a connection, or what replaces its traffic, was silent for too long,
 * in milliseconds.
 */
export function silenceLookMs(streamSilenceMs: number): number {
  return Math.min(streamSilenceMs / LOOKS_A_SILENCE, LONGEST_LOOK_MS);
}

/** How long a stream that was cut may take to be open again with a snapshot, in milliseconds. */
export function cutForgivenMs(streamSilenceMs: number): number {
  return Math.min(streamSilenceMs * FORGIVEN_SHARE, LONGEST_FORGIVEN_MS);
}

/** The limits of a configuration (docs/troubleshoot.md, How soon a loss shows: as formulas). */
export function detectionLimits(times: DetectionTimes, events: EventWay): DetectionLimits {
  const { streamSilenceMs, resyncMs, holdMs, keepaliveMs, keepaliveTimeoutMs, connectMs } = times;
  const pingedMs = keepaliveMs === null ? Number.POSITIVE_INFINITY : keepaliveMs + keepaliveTimeoutMs;
  const noticedMs = streamSilenceMs + silenceLookMs(streamSilenceMs);
  const madeUpMs = resyncMs * LATEST_RENEWAL;
  const streamCutMs = cutForgivenMs(streamSilenceMs) + QUALITY_TICK_MS;
  return {
    streamCutMs,
    // A ping without an answer cuts the connection.
    silentMs: Math.min(noticedMs, pingedMs + streamCutMs),
    notRenewedMs: resyncMs + QUALITY_TICK_MS,
    madeUpMs,
    deliveries:
      events === "streams"
        ? null
        : { goneMs: noticedMs, linkGoneMs: noticedMs + connectMs, standInMs: madeUpMs + noticedMs },
    roster: rosterLimits(times),
    lostAfterMs: holdMs + QUALITY_TICK_MS,
  };
}

function rosterLimits(times: DetectionTimes): RosterLimits | null {
  const { rosterPollMs, pollTimeoutMs, streamSilenceMs, resyncMs } = times;
  if (rosterPollMs === null) return null;
  // One request at a time: the next is sent when the one before is over.
  const slowestTurnMs = Math.max(rosterPollMs, pollTimeoutMs);
  return {
    absentMs: rosterPollMs,
    absentSlowestMs: slowestTurnMs + pollTimeoutMs,
    unansweredMs: slowestTurnMs,
    silentMs: Math.min(streamSilenceMs, resyncMs) + QUALITY_TICK_MS,
  };
}
