import { join } from "node:path";
import type { Family, RobotId } from "../domain/robot.ts";
import type { ListenerPair } from "../platform/tls-files.ts";

/**
 * The API key document (docs/internals/service.md, How deployed services behave). The secret goes nowhere but
 * to the exchange.
 */
export interface FleetCredentials {
  readonly apiKey: string;
  /** Names the distributor for which the key is authorized. */
  readonly scope: string;
  readonly secret: string;
}

/** The trusted CA and the gateway's own certificate, in PEM. TLS cannot be switched off. */
export interface FleetTls {
  /** The CA to trust instead of the system's; null: the system's. */
  readonly ca: string | null;
  /** Our own certificate with its key, for services that ask for one. */
  readonly client: { readonly certificate: string; readonly key: string } | null;
}

/** The robots of the gateway: by id, or all at some locations. */
export type RobotChoice =
  | { readonly kind: "ids"; readonly ids: readonly RobotId[] }
  | { readonly kind: "locations"; readonly locations: readonly string[] };

/** The options of the receiver of webhooks. */
export interface WebhookOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** The https URL under which the service reaches `listen`. */
  readonly publicUrl: string;
  readonly tls: ListenerPair;
  /** Whether the subscriptions outlive the gateway, or are deleted when it stops. */
  readonly onShutdown: "keep" | "delete";
  /** A folder of the gateway's own: the secret, and the ids of received events. */
  readonly directory: string;
}

/** The folder of webhooks, in the gateway's folder of the fleet. */
export function webhookDirectory(fleetDirectory: string): string {
  return join(fleetDirectory, "webhooks");
}

/** How missions and batteries come. Conveyors and snapshots always come by streams. */
export type EventSource =
  | { readonly kind: "streams" }
  | { readonly kind: "webhook"; readonly webhook: WebhookOptions };

/**
 * Long enough to list some subscriptions on a slow service and to delete them, and short enough for an
 * operator who stops the gateway.
 */
const LEAVING_MS = 8_000;

/** How long a stopping session may take for its last calls to the service; 0: it makes none. */
export function leavingMs(events: EventSource): number {
  return events.kind === "webhook" && events.webhook.onShutdown === "delete" ? LEAVING_MS : 0;
}

/** Times in milliseconds. `defaultFleetTimes` has the product's own. */
export interface FleetTimes {
  /** The age at which the token is exchanged for a new one, plus up to a third at random. */
  readonly tokenRefreshMs: number;
  /** A token is exchanged at the latest this long before its `exp`. */
  readonly tokenMarginMs: number;
  /** A stream without a proof of life for this long is given up. */
  readonly streamSilenceMs: number;
  /** A robot's snapshot is confirmed by a new subscription at least this often. */
  readonly resyncMs: number;
  /** Between HTTP/2 pings; null: none, as many servers allow one in 5 minutes only. */
  readonly keepaliveMs: number | null;
  /** How long a ping waits for its answer. */
  readonly keepaliveTimeoutMs: number;
  /** How long a connection may take to open. */
  readonly connectMs: number;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
  /** After how long a refused robot or operation is asked for again. */
  readonly refusedRetryMs: number;
  /** Between two GetOnlineRobots; null: not polled. */
  readonly rosterPollMs: number | null;
  /** Between two QueryTaskChain of the chains that are not finished; null: not polled. */
  readonly taskChainPollMs: number | null;
  /**
   * The deadline of one poll. A poll that hangs must not hold up the next one for as long as a call may take.
   */
  readonly pollTimeoutMs: number;
  /** The deadline of the other calls of the gateway itself. */
  readonly callMs: number;
}

/**
 * The product's own times (docs/troubleshoot.md, How soon a loss shows; docs/internals/service.md, How
 * deployed services behave).
 */
export const defaultFleetTimes: FleetTimes = {
  tokenRefreshMs: 15 * 60_000,
  tokenMarginMs: 60_000,
  streamSilenceMs: 30_000,
  resyncMs: 60_000,
  keepaliveMs: null,
  keepaliveTimeoutMs: 10_000,
  connectMs: 5_000,
  backoffBaseMs: 250,
  backoffCapMs: 5_000,
  refusedRetryMs: 60_000,
  rosterPollMs: 2_000,
  taskChainPollMs: 2_000,
  pollTimeoutMs: 4_000,
  callMs: 15_000,
};

/** The configuration of the fleet session. */
export interface FleetOptions {
  /** `host:port` of the gRPC service; always TLS. */
  readonly grpcAddress: string;
  /** The package and name of the service, as its maker calls it. */
  readonly serviceName: string;
  /** `https://host:port` of the task-chain, robot, map and REST operations. */
  readonly httpsUrl: string;
  /** `https://host:port` of `authorizeApiAccess`. */
  readonly authUrl: string;
  readonly credentials: FleetCredentials;
  /** How many processes exchange the key, each its share of the documented rate: the members of a cluster. */
  readonly sharers: number;
  readonly tls: FleetTls;
  /** `http://[user:password@]host:port` of an HTTP proxy; null: none. */
  readonly proxyUrl: string | null;
  /** How unary gRPC operations travel. Streams always use gRPC. */
  readonly transport: "grpc" | "rest";
  readonly robots: RobotChoice;
  readonly events: EventSource;
  /** Families that are known beforehand; GetConveyorIndex finds the carts among the rest. */
  readonly families: ReadonlyMap<RobotId, Family>;
  /** Robot numbers (amr_id) that are known beforehand; the rest come from GetOnlineRobots. */
  readonly amrIds: ReadonlyMap<RobotId, number>;
  /** A folder of the gateway's own for files that may be kept on disk; null: none. */
  readonly cacheDirectory: string | null;
  readonly times: FleetTimes;
}
