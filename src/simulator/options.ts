import type { Chance } from "../platform/backoff.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { ExchangeLimits } from "./auth/exchange.ts";
import type { Scenario } from "./scenario/scenario.ts";
import type { DeliveryOptions } from "./webhooks/delivery.ts";
import type { Resolve } from "./webhooks/target.ts";
import type { Liveliness } from "./world/spec.ts";

/** Where the simulated plant comes from. */
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
  /** How many times faster than it was recorded; 1 unless told. */
  readonly speed?: number;
  /** The last message was played. */
  readonly onEnd?: () => void;
}

/** How a simulated fleet service is started. Only the data folder has no default. */
export interface SimulatorOptions {
  /** Folder for certificates, credentials and webhook subscriptions; made when missing. */
  readonly dataDir: string;
  readonly scenario?: ScenarioSource;
  /** Address to bind; 127.0.0.1 unless told. */
  readonly host?: string;
  /** 7443 unless told; 0 takes any free port. */
  readonly grpcPort?: number;
  /** The gRPC port and one unless told; 0 takes any free port. */
  readonly httpsPort?: number;
  /** Host names and addresses, beyond localhost, that the certificate is for. */
  readonly certificateNames?: readonly string[];
  /** These five override what the scenario says. */
  readonly seed?: number;
  readonly timeFactor?: number;
  readonly lively?: Liveliness;
  readonly confirmMs?: number;
  readonly confirmWaitMs?: number;
  /** Full names under which FleetService is served; `fleet.v1.FleetService` unless told. */
  readonly serviceNames?: readonly string[];
  /** One hour unless told. */
  readonly tokenLifeMs?: number;
  /** Tokens age, and exchanges are counted, at the speed of the world instead of the clock's. */
  readonly acceleratesTokens?: boolean;
  /** 60 minutes unless told. */
  readonly streamLifeMs?: number;
  /** Calls at once on one connection; 100 unless told. */
  readonly maxConcurrentStreams?: number;
  /** Bytes that may wait for a subscriber that does not read, before it is cut off; 8 MiB unless told. */
  readonly maxUnreadBytes?: number;
  /** Those of deployed services unless told. */
  readonly exchangeLimits?: ExchangeLimits;
  /**
   * Lets webhooks go to addresses that are not public, loopback among them, and
   * trusts `trustedCa` (PEM) beside the public authorities. For tests only.
   */
  readonly unsafeWebhookTargets?: { readonly trustedCa?: string };
  /** Resolves the host names of webhooks; the machine's resolver unless told. */
  readonly resolve?: Resolve;
  /** Attempts, pauses and queue of webhook deliveries. */
  readonly webhookDelivery?: DeliveryOptions;
  /** Plays a recording of a gateway, instead of a scenario's world. */
  readonly replay?: ReplayOptions;
  readonly clock?: Clock;
  readonly chance?: Chance;
  readonly log?: Log;
}
