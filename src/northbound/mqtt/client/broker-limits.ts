import type { IConnackPacket } from "mqtt";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { brokerName, type MqttOptions } from "../options.ts";

/** What a broker takes and offers (MQTT 5, CONNACK). One of MQTT 3.1.1 does not say, and has no limits. */
export interface BrokerLimits {
  /** Of one packet, in bytes; infinite where there is no limit. */
  readonly maximumPacketSize: number;
  /** How many messages of QoS 1 may be unacknowledged. */
  readonly receiveMaximum: number;
  readonly maximumQos: number;
  readonly retainAvailable: boolean;
  readonly wildcardsAvailable: boolean;
}

/** The receive maximum of a broker that names none (MQTT 5, 3.2.2.3.3). */
const USUAL_RECEIVE_MAXIMUM = 65_535;

export const noLimits: BrokerLimits = {
  maximumPacketSize: Number.POSITIVE_INFINITY,
  receiveMaximum: USUAL_RECEIVE_MAXIMUM,
  maximumQos: 2,
  retainAvailable: true,
  wildcardsAvailable: true,
};

export function readLimits({ properties }: IConnackPacket): BrokerLimits {
  return {
    // A limit of 0 is a protocol error.
    maximumPacketSize: properties?.maximumPacketSize || noLimits.maximumPacketSize,
    receiveMaximum: properties?.receiveMaximum || USUAL_RECEIVE_MAXIMUM,
    maximumQos: properties?.maximumQoS ?? noLimits.maximumQos,
    retainAvailable: properties?.retainAvailable ?? true,
    wildcardsAvailable: properties?.wildcardSubscriptionAvailable ?? true,
  };
}

/** What a plant lacks at a broker, and what would mend it. */
export interface Missing {
  readonly what: string;
  readonly advice: string;
}

export function missingAtBroker(
  limits: BrokerLimits,
  refreshMs: number,
  takesCommands: boolean,
): readonly Missing[] {
  const missing: Missing[] = [];
  if (!limits.retainAvailable) {
    missing.push({
      what: `the broker retains no messages: a client that subscribes later sees a value only when it is published again, within ${refreshMs / 1_000} s`,
      advice: "let the broker retain messages",
    });
  }
  if (!limits.wildcardsAvailable && takesCommands) {
    missing.push({
      what: "the broker allows no wildcards in subscriptions: commands over MQTT are off",
      advice: "let the broker allow them",
    });
  }
  if (limits.maximumQos === 0) {
    missing.push({
      what: "the broker takes QoS 0 only: events and replies may be lost unnoticed",
      advice: "let the broker take QoS 1",
    });
  }
  return missing;
}

/**
 * The size of events that a broker takes, where it does not say: one of MQTT 3.1.1 closes the connection when
 * a larger one comes, and it would come again for ever.
 */
export interface SizeLimit {
  /** How many events may be under way. */
  window(): number;
  /** Of topic and payload, in bytes; null: none is known. */
  limitBytes(): number | null;
  sent(eventId: string, topic: string, bytes: number): void;
  acknowledged(eventId: string): void;
  /** It was not sent after all. */
  leftOut(eventId: string): void;
  /** All events that were handed over together are with the broker. */
  allArrived(): void;
  /** The connection has ended. */
  lost(): void;
}

/** How many events are under way, usually. */
export const EVENTS_IN_FLIGHT = 64;
/** So many connections in a row have to end at the same event. */
const LOSSES = 3;
/** A broker that closes for the sake of a size does so at once. */
const SOON_MS = 5_000;
/** No broker has a lower limit. */
const LEAST_BYTES = 1_024;
/** Then the broker is tried again: somebody may have mended it. */
const LEARNED_FOR_MS = 3_600_000;

interface Sent {
  readonly eventId: string;
  readonly topic: string;
  readonly bytes: number;
  readonly atMs: number;
}

/** One for each broker of the plant, over all connections to it; null: the gateway's own takes all. */
export function createSizeLimits(clock: Clock, log: Log): (options: MqttOptions) => SizeLimit | null {
  const limits = new Map<string, SizeLimit>();
  return (options) => {
    if (options.broker.kind === "embedded") return null;
    const name = brokerName(options);
    const limit = limits.get(name) ?? createSizeLimit(clock, log);
    limits.set(name, limit);
    return limit;
  };
}

function createSizeLimit(clock: Clock, log: Log): SizeLimit {
  const underWay = new Map<string, Sent>();
  /** One event at a time, until it is known which one the broker does not take. */
  let isCareful = false;
  let largestTaken = 0;
  let suspect: { readonly eventId: string; readonly losses: number } | null = null;
  let learned: { readonly bytes: number; readonly atMs: number } | null = null;

  function suspectOne({ eventId, topic, bytes, atMs }: Sent): void {
    const isSoon = clock.monotonicMs() - atMs <= SOON_MS;
    if (!isSoon || bytes < LEAST_BYTES || bytes <= largestTaken) {
      suspect = null;
      return;
    }
    suspect = { eventId, losses: suspect?.eventId === eventId ? suspect.losses + 1 : 1 };
    if (suspect.losses < LOSSES) return;
    suspect = null;
    learned = { bytes: bytes - 1, atMs: clock.monotonicMs() };
    log.warn(
      { topic, bytes, connections: LOSSES, forSeconds: LEARNED_FOR_MS / 1_000 },
      "the broker closes the connection at this event: events as large are left out for a while; let the broker take larger packets",
    );
  }

  return {
    window: () => (isCareful ? 1 : EVENTS_IN_FLIGHT),
    limitBytes() {
      if (learned !== null && clock.monotonicMs() - learned.atMs > LEARNED_FOR_MS) learned = null;
      return learned?.bytes ?? null;
    },
    sent: (eventId, topic, bytes) =>
      void underWay.set(eventId, { eventId, topic, bytes, atMs: clock.monotonicMs() }),
    acknowledged(eventId) {
      largestTaken = Math.max(largestTaken, underWay.get(eventId)?.bytes ?? 0);
      underWay.delete(eventId);
    },
    leftOut: (eventId) => void underWay.delete(eventId),
    allArrived() {
      isCareful = false;
    },
    lost() {
      const [only, another] = underWay.values();
      underWay.clear();
      if (only === undefined) return;
      isCareful = true;
      if (another === undefined) suspectOne(only);
    },
  };
}
