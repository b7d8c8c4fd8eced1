import type { Live } from "../../platform/live.ts";
import type { ListenerPair, TlsPaths, TlsTexts } from "../../platform/tls-files.ts";
import type { Placement } from "./topic-templates.ts";

/** A client that may log in to the embedded broker; its name is its client name in command topics. */
export interface BrokerUser {
  readonly name: string;
  /** The password itself, or its hash (`platform/password.ts`). */
  readonly password: string;
}

/** The broker that the gateway brings along (aedes: MQTT 3.1 and 3.1.1). */
export interface EmbeddedBrokerOptions {
  readonly kind: "embedded";
  /** The address to listen on. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /**
   * INSECURE, for a demo: clients on this machine need no password and may use any
   * client name. Clients from elsewhere still need a user.
   */
  readonly anonymousLoopback: boolean;
  readonly users: Live<readonly BrokerUser[]>;
  /** PEM texts; null listens without TLS. */
  readonly tls: Live<ListenerPair | null>;
}

/** A broker that somebody else runs. */
export interface ExternalBrokerOptions {
  readonly kind: "external";
  /** mqtt://, mqtts://, ws:// or wss://. */
  readonly url: string;
  /** Where the configuration names it. */
  readonly setting: string;
  /** Further brokers for when those before them are away, in order. */
  readonly fallbacks: readonly { readonly url: string; readonly setting: string }[];
  /** How long an earlier broker must have been reachable before the gateway goes back to it. */
  readonly returnMs: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly tls: Live<TlsTexts>;
  /** The files with those texts, which are read again when they change. */
  readonly tlsPaths: Live<TlsPaths>;
}

/** How commands from MQTT are taken (docs/mqtt.md, Commands). */
interface CommandOptions {
  readonly enabled: boolean;
  /**
   * The operator's word that the external broker lets a client write only under its
   * own `clients/<name>/command`. Without it commands stay off there: anybody could
   * speak in another's name. The embedded broker enforces it itself.
   */
  readonly brokerEnforcesClientNames: boolean;
  /** Whether operations that move need expires_at or MQTT 5 expiry. Off only for a demo. */
  readonly requireExpiry: boolean;
}

/** The MQTT northbound, all values given. */
export interface MqttOptions {
  readonly broker: EmbeddedBrokerOptions | ExternalBrokerOptions;
  /** 5 needs an external broker: the embedded one speaks 3.1.1. */
  readonly protocolVersion: 4 | 5;
  /** What every topic begins with, e.g. `fleetgate/plant7`. */
  readonly base: string;
  readonly gatewayId: string;
  /** The gateway's MQTT client identifier. */
  readonly clientId: string;
  readonly placement: Live<Placement>;
  readonly stateQos: 0 | 1;
  /**
   * With MQTT 5, state is published again after this time and expires after three of them, in milliseconds.
   */
  readonly refreshMs: number;
  /** Whether the flat one-value topics are published too. */
  readonly tags: boolean;
  readonly commands: CommandOptions;
}

/**
 * The options of each broker by itself, in the order in which they are tried.
 *
 * @param tls the certificates for the brokers of the plant; absent: those of the options
 */
export function brokersOf(options: MqttOptions, tls?: Live<TlsTexts>): readonly MqttOptions[] {
  const { broker } = options;
  if (broker.kind === "embedded") return [options];
  const { url, setting, fallbacks } = broker;
  return [{ url, setting }, ...fallbacks].map((one) => ({
    ...options,
    broker: { ...broker, ...one, fallbacks: [], tls: tls ?? broker.tls },
  }));
}

/** The key that names the broker, for log and health. */
export function brokerName({ broker }: MqttOptions): string {
  return broker.kind === "external" ? broker.setting : "the embedded broker";
}
