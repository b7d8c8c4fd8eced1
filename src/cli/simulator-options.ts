import { join } from "node:path";
import type { Log } from "../platform/log.ts";
import type { ScenarioSource, SimulatorOptions } from "../simulator/options.ts";

/** The settings of the simulated fleet that `demo` and `simulate` have. */
export interface SimulatorSettings {
  /** The folder of the demo; the fleet service gets a folder in it. */
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
  readonly acceleratesTokens?: boolean | undefined;
  readonly unsafeWebhookTargets?: boolean | undefined;
  readonly replay?: SimulatorOptions["replay"] | undefined;
  readonly log: Log;
}

/** The simulator's options for a command. A missing setting is the scenario's. */
export function simulatorOptions(settings: SimulatorSettings): SimulatorOptions {
  return {
    dataDir: join(settings.folder, "fleet"),
    scenario: scenarioSource(settings),
    grpcPort: settings.ports.grpc,
    httpsPort: settings.ports.https,
    lively: settings.lively ? (settings.robots === undefined ? "missions" : "patrols") : "none",
    ...given({
      seed: settings.seed,
      timeFactor: settings.timeFactor,
      host: settings.host,
      certificateNames: settings.certificateNames,
      serviceNames: settings.serviceNames,
      tokenLifeMs: settings.tokenLifeMs,
      acceleratesTokens: settings.acceleratesTokens,
      replay: settings.replay,
      unsafeWebhookTargets: settings.unsafeWebhookTargets === true ? {} : undefined,
    }),
    log: settings.log,
  };
}

/** Without absent options, because an absent one differs from one that is undefined. */
function given<T extends object>(settings: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The folder of a demo: one for each base port, so that two demos do not share keys. */
export function demoFolder(name: string): string {
  return join(process.cwd(), ".fleetgate", name);
}

function scenarioSource({ scenario, robots }: SimulatorSettings): ScenarioSource {
  if (scenario !== undefined) return { kind: "file", path: scenario };
  if (robots !== undefined) return { kind: "generated", robots };
  return { kind: "default" };
}
