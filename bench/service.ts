import { join } from "node:path";
import { ownBuild } from "./build.ts";
import type { Child } from "./child.ts";
import { benchFolder, REPLY_TIMEOUT_MS, type SectionRun } from "./section-run.ts";
import type { Observation } from "./service-probe.ts";

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
  readonly observations: readonly Observation[];
}

/** How the service is started. */
export interface ServiceOptions {
  /** Keeps keys and credentials, so that a successor is the same service to its clients. */
  readonly folder: string;
  readonly port: number;
  /** As `fleetgate simulate` takes them. */
  readonly args: readonly string[];
  /** Its ports are bound no sooner than this (Unix milliseconds). */
  readonly listenAtMs?: number;
  /** Each call of this method is told; of none without it. */
  readonly toldMethod?: string;
}

/** Starts `fleetgate simulate` and resolves when it is ready. */
export async function startService(run: SectionRun, options: ServiceOptions): Promise<Service> {
  const { folder, port, args, listenAtMs = 0, toldMethod = "" } = options;
  const child = run.start(
    "service",
    ownBuild.script,
    ["simulate", "--json", "--base-port", String(port), "--data", folder, ...args],
    {
      preload: [join(benchFolder, "service-probe.js")],
      env: { BENCH_LISTEN_AT_MS: String(listenAtMs), BENCH_TOLD_METHOD: toldMethod },
    },
  );
  const observations: Observation[] = [];
  child.onMessage<readonly Observation[]>((seen) => observations.push(...seen));
  const { fleet } = JSON.parse(await child.line(REPLY_TIMEOUT_MS)) as { readonly fleet: ServiceAddress };
  return { child, address: fleet, observations };
}

/** The gateway's `fleet` section for a service of this kind. */
export function fleetSection({ grpc, https, ca, credentials }: ServiceAddress): object {
  return { grpc: { address: grpc }, https, ca, credentials };
}
