import type { QualityTimes } from "./quality.ts";

/** How often the gateway looks whether time alone has changed a quality, in milliseconds. */
export const QUALITY_TICK_MS = 500;

/** What stands in for traffic is asked for, and told, this often within `streamSilenceMs`. */
export const LOOKS_A_SILENCE = 4;

/**
 * Silence itself is looked at this often at least, in milliseconds: finding it late would delay the way back
 * too.
 */
const LONGEST_LOOK_MS = 1_000;

/**
 * A cut is forgiven for this share of `streamSilenceMs`, as a stream that is only silent is for all of it.
 */
const FORGIVEN_SHARE = 1 / 4;

/**
 * And no longer than this, in milliseconds: a new connection and a new stream over a slow network, with the
 * first backoff.
 */
const LONGEST_FORGIVEN_MS = 2_000;

/**
 * A subscription is renewed at this share of `resyncMs` at the latest, so that no confirmation comes late.
 */
export const LATEST_RENEWAL = 0.7;

/** How missions and batteries come. Conveyors and snapshots come by streams always. */
export type EventWay = "streams" | "webhook";

/** The configured times that detection hangs on, in milliseconds. */
export interface DetectionTimes extends QualityTimes {
  /** Between two HTTP/2 pings, and how long one waits for its answer; null: no pings. */
  readonly keepaliveMs: number | null;
  readonly keepaliveTimeoutMs: number;
  /** How long a connection may take to be made, or a stream to be taken. */
  readonly connectMs: number;
  /** Between two GetOnlineRobots; null: not polled. */
  readonly rosterPollMs: number | null;
  /** The deadline of a GetOnlineRobots. */
  readonly pollTimeoutMs: number;
}

/** What is found out of the online list. */
export interface RosterLimits {
  /** A robot leaves the list, while the list is answered at once: offline. */
  readonly absentMs: number;
  /** The same, while each answer takes as long as it may. */
  readonly absentSlowestMs: number;
  /** What each answer in a row that does not come at all adds to either. */
  readonly unansweredMs: number;
  /** The list is not answered any more: a robot's presence is stale. */
  readonly silentMs: number;
}

/** What is found out of missions and batteries while webhooks bring them, and their streams rest. */
export interface DeliveryLimits {
  /**
   * The service, or the way to it, is gone: stale. However it went, nothing but the watch of subscriptions
   * tells.
   */
  readonly goneMs: number;
  /** The same: offline. */
  readonly linkGoneMs: number;
  /** Deliveries no longer arrive, and the subscription stands: streams stand in. */
  readonly standInMs: number;
}

/**
 * The longest time between a loss and the moment when values say so, in milliseconds.
 * Null: never found out, or nothing of the kind. What a network needs to carry a message comes on top.
 */
export interface DetectionLimits {
  /**
   * The service or a balancer ends a stream, or the connection, and the stream is not open again with a
   * snapshot while that is forgiven: stale, or offline if no stream is open.
   */
  readonly streamCutMs: number;
  /**
   * A connection is dead and says nothing (a cable, a firewall that forgets): values of its streams are
   * offline, or stale where other connections live.
   */
  readonly silentMs: number;
  /** A robot is no longer heard on a stream that is alive otherwise: stale. */
  readonly notRenewedMs: number;
  /** A message or a delivery is lost, and nothing shows that: the next snapshot has what it said. */
  readonly madeUpMs: number;
  /** Null: missions and batteries come by streams, as conveyors do. */
  readonly deliveries: DeliveryLimits | null;
  /** Null: the list is not polled. */
  readonly roster: RosterLimits | null;
  /** From the moment when a value is stale or offline until it is lost. */
  readonly lostAfterMs: number;
}

/**
 * How often the gateway looks whether a connection, or what stands in for one, has been silent too long, in
 * milliseconds.
 */
export function silenceLookMs(streamSilenceMs: number): number {
  return Math.min(streamSilenceMs / LOOKS_A_SILENCE, LONGEST_LOOK_MS);
}

/** How long a stream that was cut may take to be open again, with a snapshot, in milliseconds. */
export function cutForgivenMs(streamSilenceMs: number): number {
  return Math.min(streamSilenceMs * FORGIVEN_SHARE, LONGEST_FORGIVEN_MS);
}

/** The limits of a configuration. `docs/install.md` has the same as formulas. */
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
  // One at a time: the next is asked for when the one before is over.
  const slowestTurnMs = Math.max(rosterPollMs, pollTimeoutMs);
  return {
    absentMs: rosterPollMs,
    absentSlowestMs: slowestTurnMs + pollTimeoutMs,
    unansweredMs: slowestTurnMs,
    silentMs: Math.min(streamSilenceMs, resyncMs) + QUALITY_TICK_MS,
  };
}
