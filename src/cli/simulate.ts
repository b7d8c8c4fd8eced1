import { Command } from "commander";
import { createLog } from "../platform/log.ts";
import type { PortTaken } from "../platform/port-taken.ts";
import type { Endpoints } from "../simulator/simulator.ts";
import { fail } from "./exit.ts";
import { count, port, positive } from "./option.ts";
import { demoFolder, simulatorOptions } from "./simulator-options.ts";
import { stopSignal } from "./stop-signal.ts";

interface Options {
  readonly basePort: number;
  readonly json?: boolean;
  readonly lively?: boolean;
  readonly data?: string;
  readonly scenario?: string;
  readonly robots?: number;
  readonly seed?: number;
  readonly timeFactor?: number;
  readonly host?: string;
  readonly certificateName?: string[];
  readonly serviceName?: string[];
  readonly tokenLife?: number;
  readonly unsafeWebhookTargets?: boolean;
}

/** `fleetgate simulate`: the fleet service alone, until SIGTERM. */
export function simulateCommand(): Command {
  return new Command("simulate")
    .description("run the simulated fleet service")
    .option("--base-port <n>", "gRPC on N, HTTPS on N+1", port, 7443)
    .option("--json", "print one JSON object when ready; robots stand still unless --lively is given")
    .option("--lively", "robots go on missions by themselves")
    .option("--data <folder>", "where certificates, keys and credentials are kept")
    .option("--scenario <file>", "the robots, maps and keys, instead of the built-in ones")
    .option("--robots <n>", "a generated fleet of N robots, instead of a scenario", count)
    .option("--seed <n>", "the seed of everything that chance decides", count)
    .option("--time-factor <x>", "how many times faster than real time the world runs", positive)
    .option("--host <address>", "the address to listen on (127.0.0.1); 0.0.0.0 for every one")
    .option("--certificate-name <name...>", "host names and addresses, beyond localhost, that clients use")
    .option("--service-name <name...>", "package and name of the gRPC service, several at once")
    .option("--token-life <seconds>", "how long a token lives (3600)", count)
    .option(
      "--unsafe-webhook-targets",
      "UNSAFE, for tests: deliver webhooks to loopback and private addresses",
    )
    .action(async (options: Options) => {
      const stop = stopSignal(["SIGHUP"]);
      // Loaded here and not at the top: the other subcommands do not wait for it.
      const { createSimulator } = await import("../simulator/simulator.ts");
      const folder = options.data ?? demoFolder(`simulate-${options.basePort}`);
      const simulator = createSimulator(
        simulatorOptions({
          ...options,
          ports: { grpc: options.basePort, https: options.basePort + 1 },
          lively: options.lively ?? options.json !== true,
          folder,
          certificateNames: options.certificateName,
          serviceNames: options.serviceName,
          tokenLifeMs: options.tokenLife === undefined ? undefined : options.tokenLife * 1000,
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
        fail(error, portOption);
      }
    });
}

function greeting(fleet: Endpoints): string {
  return [
    "The fleet service is up. Ctrl-C ends it.",
    `  gRPC         ${fleet.grpc}`,
    `  HTTPS        ${fleet.https}`,
    `  authority    ${fleet.ca}`,
    `  credentials  ${fleet.credentials}`,
    `  locations    ${fleet.locations.join(", ")}`,
    "",
  ].join("\n");
}

function portOption(_taken: PortTaken): string {
  return "--base-port";
}
