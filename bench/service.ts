import { join } from "node:path";
import { ownBuild } from "./build.ts";
import type { Child } from "./child.ts";
import { benchFolder, type House, PATIENCE_MS } from "./house.ts";
import type { Sighting } from "./witness.ts";

/** What a client of the simulated service needs. */
export interface ServiceAddress {
  /** `host:port`. */
  readonly grpc: string;
  readonly https: string;
  /** Paths of files. */
  readonly ca: string;
  readonly credentials: string;
}

/** The simulated service in a process of its own. */
export interface Service {
  readonly child: Child;
  readonly address: ServiceAddress;
  /** What it saw of its clients so far. */
  readonly sightings: readonly Sighting[];
}

/** How the service is started. */
export interface ServiceWishes {
  /** Keeps keys and credentials, so that a successor is the same service to its clients. */
  readonly folder: string;
  readonly port: number;
  /** As `fleetgate simulate` takes them. */
  readonly args: readonly string[];
  /** Its ports are bound no sooner than this (Unix milliseconds). */
  readonly listenAtMs?: number;
}

/** Starts `fleetgate simulate` and resolves when it is ready. */
export async function startService(house: House, wishes: ServiceWishes): Promise<Service> {
  const { folder, port, args, listenAtMs = 0 } = wishes;
  const child = house.start(
    "service",
    ownBuild.script,
    ["simulate", "--json", "--base-port", String(port), "--data", folder, ...args],
    { preload: [join(benchFolder, "witness.js")], env: { BENCH_LISTEN_AT_MS: String(listenAtMs) } },
  );
  const sightings: Sighting[] = [];
  child.onMessage<readonly Sighting[]>((seen) => sightings.push(...seen));
  const { fleet } = JSON.parse(await child.line(PATIENCE_MS)) as { readonly fleet: ServiceAddress };
  return { child, address: fleet, sightings };
}

/** The gateway's `fleet` section for a service of this kind. */
export function fleetSection({ grpc, https, ca, credentials }: ServiceAddress): object {
  return { grpc: { address: grpc }, https, ca, credentials };
}
