import type { RandomSource } from "../platform/backoff.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { ExchangeLimits } from "./auth/api-key.ts";
import type { Scenario } from "./scenario/scenario.ts";
import type { Liveliness } from "./scenario/schema.ts";
import type { DeliveryOptions } from "./webhooks/sender.ts";
import type { Resolve } from "./webhooks/target.ts";

/** The source of the simulated plant. */
export type ScenarioSource =
  | { readonly kind: "default" }
  /** A YAML file. */
  | { readonly kind: "file"; readonly path: string }
  /** So many robots, without a file. */
  | { readonly kind: "generated"; readonly robots: number }
  | { readonly kind: "given"; readonly scenario: Scenario };

/** A recording that is played. */
export interface ReplayOptions {
  readonly path: string;
  /** How many times faster than it was recorded; default 1. */
  readonly speed?: number;
  /** The last message was played. */
  readonly onEnd?: () => void;
}

/** The options of a simulated fleet service. Only the data folder has no default. */
export interface SimulatorOptions {
  /** Folder for certificates, credentials and webhook subscriptions; made if it is missing. */
  readonly dataDir: string;
  readonly scenario?: ScenarioSource;
  /** The address to bind; default 127.0.0.1. */
  readonly host?: string;
  /** Default 7443; 0 takes any free port. */
  readonly grpcPort?: number;
  /** Default: the gRPC port plus one; 0 takes any free port. */
  readonly httpsPort?: number;
  /** Host names and addresses in the certificate, beyond localhost. */
  readonly certificateNames?: readonly string[];
  /** These five override the scenario. */
  readonly seed?: number;
  readonly timeFactor?: number;
  readonly lively?: Liveliness;
  readonly confirmMs?: number;
  readonly confirmWaitMs?: number;
  /** Full names under which FleetService is served; default `fleet.v1.FleetService`. */
  readonly serviceNames?: readonly string[];
  /** Default: one hour. */
  readonly tokenLifeMs?: number;
  /** Tokens age, and exchanges are counted, at the speed of the world instead of the clock's. */
  readonly acceleratesTokens?: boolean;
  /** Default: 60 minutes. */
  readonly streamLifeMs?: number;
  /** Calls at once on one connection; default 100. */
  readonly maxConcurrentStreams?: number;
  /** Bytes that may wait for a subscriber that does not read, before it is cut off; default 8 MiB. */
  readonly maxUnreadBytes?: number;
  /** Default: those of deployed services. */
  readonly exchangeLimits?: ExchangeLimits;
  /**
   * Allows webhooks to addresses that are not public, including loopback, and trusts `trustedCa` (PEM) beside
   * the public CAs. For tests only.
   */
  readonly unsafeWebhookTargets?: { readonly trustedCa?: string };
  /** Resolves the host names of webhooks; default: the machine's resolver. */
  readonly resolve?: Resolve;
  /** Attempts, pauses and queue of webhook deliveries. */
  readonly webhookDelivery?: DeliveryOptions;
  /** Plays a recording of a gateway instead of a scenario. */
  readonly replay?: ReplayOptions;
  readonly clock?: Clock;
  readonly random?: RandomSource;
  readonly log?: Log;
}
