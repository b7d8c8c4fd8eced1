import { join } from "node:path";
import type { Log } from "../platform/log.ts";
import type { ScenarioSource, SimulatorOptions } from "../simulator/options.ts";

/** What `demo` and `simulate` say about the simulated fleet. */
export interface SimulatorWishes {
  /** Where the demo's files are; the fleet service gets a folder in it. */
  readonly folder: string;
  readonly ports: { readonly grpc: number; readonly https: number };
  readonly lively: boolean;
  readonly seed?: number | undefined;
  readonly timeFactor?: number | undefined;
  readonly scenario?: string | undefined;
  readonly robots?: number | undefined;
  readonly host?: string | undefined;
  readonly certificateNames?: readonly string[] | undefined;
  readonly serviceNames?: readonly string[] | undefined;
  readonly tokenLifeMs?: number | undefined;
  readonly unsafeWebhookTargets?: boolean | undefined;
  readonly log: Log;
}

/** The simulator's options for a command. What was not wished for is the scenario's. */
export function simulatorOptions(wishes: SimulatorWishes): SimulatorOptions {
  return {
    dataDir: join(wishes.folder, "fleet"),
    scenario: scenarioSource(wishes),
    grpcPort: wishes.ports.grpc,
    httpsPort: wishes.ports.https,
    lively: wishes.lively ? (wishes.robots === undefined ? "missions" : "patrols") : "none",
    ...given({
      seed: wishes.seed,
      timeFactor: wishes.timeFactor,
      host: wishes.host,
      certificateNames: wishes.certificateNames,
      serviceNames: wishes.serviceNames,
      tokenLifeMs: wishes.tokenLifeMs,
      unsafeWebhookTargets: wishes.unsafeWebhookTargets === true ? {} : undefined,
    }),
    log: wishes.log,
  };
}

/** The wishes that were made: an absent option is not the same as one that is undefined. */
function given<T extends object>(wishes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const made = Object.entries(wishes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(made) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The folder of a demo: one for each base port, so that two demos do not share keys. */
export function demoFolder(name: string): string {
  return join(process.cwd(), ".fleetgate", name);
}

function scenarioSource({ scenario, robots }: SimulatorWishes): ScenarioSource {
  if (scenario !== undefined) return { kind: "file", path: scenario };
  if (robots !== undefined) return { kind: "generated", robots };
  return { kind: "default" };
}
