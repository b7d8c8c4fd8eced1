import { join } from "node:path";
import { Command, Option } from "commander";
import type { PortTaken } from "../platform/listener.ts";
import { createLog, type Log } from "../platform/log.ts";
import { NoRecording } from "../platform/recorder/recording.ts";
import type { ScenarioSource, SimulatorOptions } from "../simulator/options.ts";
import type { Endpoints } from "../simulator/simulator.ts";
import { exitCodes, fail, NotPossible } from "./exit.ts";
import { count, port, positive } from "./option.ts";
import { stopSignal } from "./stop-signal.ts";

interface Options {
  readonly basePort: number;
  readonly json?: boolean;
  readonly lively?: boolean;
  readonly data?: string;
  readonly scenario?: string;
  readonly robots?: number;
  readonly replay?: string;
  readonly speed?: number;
  readonly seed?: number;
  readonly timeFactor?: number;
  readonly host?: string;
  readonly certificateName?: string[];
  readonly serviceName?: string[];
  readonly tokenLife?: number;
  readonly accelerateTokens?: boolean;
  readonly unsafeWebhookTargets?: boolean;
}

/** `fleetgate simulate`: the fleet service alone, until SIGTERM. */
export function simulateCommand(): Command {
  return new Command("simulate")
    .description("run the simulated fleet service")
    .option("--base-port <n>", "gRPC on N, HTTPS on N+1", port, 7443)
    .option("--json", "print one JSON object when ready; robots stand still unless --lively is given")
    .option("--lively", "robots go on missions by themselves (the default without --json)")
    .option("--no-lively", "robots stand still until they are sent")
    .option("--data <folder>", "where certificates, keys and credentials are kept")
    .option("--scenario <file>", "the robots, maps and keys, instead of the built-in ones")
    .option("--robots <n>", "a generated fleet of N robots, instead of a scenario", count)
    .addOption(
      new Option("--replay <file>", "play a recording of fleetgate record, instead of a scenario").conflicts([
        ...["scenario", "robots", "lively", "seed", "timeFactor"],
      ]),
    )
    .option("--speed <x>", "with --replay: how many times faster than it was recorded (1)", positive)
    .option("--seed <n>", "the seed of everything that chance decides", count)
    .option("--time-factor <x>", "how many times faster than real time the world runs", positive)
    .option("--host <address>", "the address to listen on (127.0.0.1); 0.0.0.0 for every one")
    .option("--certificate-name <name...>", "host names and addresses, beyond localhost, that clients use")
    .option("--service-name <name...>", "package and name of the gRPC service, several at once")
    .option("--token-life <seconds>", "how long a token lives (3600)", count)
    .option("--accelerate-tokens", "with --time-factor: tokens age as fast as the world")
    .option(
      "--unsafe-webhook-targets",
      "UNSAFE, for tests: deliver webhooks to loopback and private addresses",
    )
    .action(async (options: Options) => {
      const stop = stopSignal(["SIGHUP"]);
      // Loaded here and not at the top: the other subcommands do not wait for it.
      const { createSimulator } = await import("../simulator/simulator.ts");
      if (options.speed !== undefined && options.replay === undefined) return usage("--speed needs --replay");
      const folder = options.data ?? demoFolder(`simulate-${options.basePort}`);
      const simulator = createSimulator(
        simulatorOptions({
          ...options,
          ports: { grpc: options.basePort, https: options.basePort + 1 },
          lively: options.lively ?? options.json !== true,
          folder,
          certificateNames: options.certificateName,
          serviceNames: options.serviceName,
          replay: replayOptions(options),
          tokenLifeMs: options.tokenLife === undefined ? undefined : options.tokenLife * 1000,
          acceleratesTokens: options.accelerateTokens,
          log: createLog(options.json === true ? "info" : "warn"),
        }),
      );
      try {
        await simulator.run(stop, () => {
          const fleet = simulator.endpoints();
          if (options.json === true) process.stdout.write(`${JSON.stringify({ event: "ready", fleet })}\n`);
          else process.stdout.write(greeting(fleet));
        });
      } catch (error) {
        if (error instanceof NoRecording) fail(new NotPossible(`--replay ${error.message}`), portOption);
        fail(error, portOption);
      }
    });
}

function replayOptions({ replay: path, speed, json }: Options): SimulatorOptions["replay"] | undefined {
  if (path === undefined) return undefined;
  const onEnd = () => {
    const text =
      json === true ? JSON.stringify({ event: "ended" }) : "The recording has ended. Ctrl-C ends this.";
    process.stdout.write(`${text}\n`);
  };
  return { path, onEnd, ...(speed === undefined ? {} : { speed }) };
}

function usage(problem: string): void {
  process.stderr.write(`fleetgate: ${problem}\n`);
  process.exitCode = exitCodes.usage;
}

function greeting(fleet: Endpoints): string {
  return [
    "The fleet service is up. Ctrl-C ends it.",
    `  gRPC         ${fleet.grpc}`,
    `  HTTPS        ${fleet.https}`,
    `  CA           ${fleet.ca}`,
    `  credentials  ${fleet.credentials}`,
    `  locations    ${fleet.locations.join(", ")}`,
    "",
  ].join("\n");
}

function portOption(_taken: PortTaken): string {
  return "--base-port";
}

/** The settings of the simulated fleet that `demo` and `simulate` have. */
interface SimulatorSettings {
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
