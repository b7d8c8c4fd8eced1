import type { IConnackPacket } from "mqtt";

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
