import { writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { Command } from "commander";
import { stringify } from "yaml";
import type { Config } from "../config/load.ts";
import type { Sink } from "../contracts/link.ts";
import { namedEventJson } from "../models/event.ts";
import { systemClock } from "../platform/clock.ts";
import type { Component } from "../platform/component.ts";
import { makeFolder } from "../platform/folder.ts";
import type { PortTaken } from "../platform/listener.ts";
import { createLog, type LeveledLog } from "../platform/log.ts";
import { renewStore } from "../platform/stores/kept-store.ts";
import { runSupervised } from "../platform/supervisor.ts";
import type { Endpoints, Simulator } from "../simulator/simulator.ts";
import { readBuild } from "../version.ts";
import { configurationOrExit } from "./configuration.ts";
import { createDemoFaults } from "./demo-faults.ts";
import { fail } from "./exit.ts";
import { logWarnings } from "./node-version.ts";
import { port } from "./option.ts";
import { demoFolder, simulatorOptions } from "./simulate.ts";
import { stopSignal } from "./stop-signal.ts";
import { eventLine } from "./tail.ts";

interface Options {
  readonly basePort?: number;
  readonly json?: boolean;
  readonly lively?: boolean;
  readonly sparkplug?: boolean;
  readonly data?: string;
}

const START_TIMEOUT_MS = 60_000;
/** Longer than one component of the gateway may take. */
const STOP_TIMEOUT_MS = 10_000;

/** `fleetgate demo`: a simulated fleet and the gateway in one process, on loopback. */
export function demoCommand(): Command {
  return new Command("demo")
    .description("run a simulated fleet, the gateway, an MQTT broker and an OPC UA server on this machine")
    .option(
      "--base-port <n>",
      "fleet gRPC on N, HTTPS N+1, MQTT N+2, OPC UA N+3, web N+4 (7443, 7444, 1883, 4840, 8080)",
      port,
    )
    .option("--json", "print one JSON object when ready; robots stand still unless --lively is given")
    .option("--lively", "robots go on missions by themselves (the default without --json)")
    .option("--no-lively", "robots stand still until they are sent")
    .option("--sparkplug", "the robots are devices of Sparkplug B too, with commands on")
    .option("--data <folder>", "where certificates, credentials and the configuration are kept")
    .action(async (options: Options) => {
      try {
        // A terminal window that closes sends SIGHUP.
        await demo(options, stopSignal(["SIGHUP"]));
      } catch (error) {
        fail(error, portOption);
      }
    });
}

async function demo(options: Options, signal: AbortSignal): Promise<void> {
  const ports = options.basePort === undefined ? usualPorts : portsFrom(options.basePort);
  // Absolute, because relative paths in the configuration are relative to its own folder.
  const folder = resolve(
    options.data ?? demoFolder(options.basePort === undefined ? "demo" : `demo-${options.basePort}`),
  );
  const log = createLog(options.json === true ? "info" : "warn");
  logWarnings(log);
  const lively = options.lively ?? options.json !== true;
  const { createSimulator } = await import("../simulator/simulator.ts");
  const simulator = createSimulator(simulatorOptions({ folder, ports, lively, log }));
  const gateway: Component = {
    name: "gateway",
    health: () => ({ state: "up" }),
    async run(stop, ready) {
      const file = join(folder, "gateway.yaml");
      const fleet = simulator.endpoints();
      const config = await writeConfiguration(file, ports, fleet, options.sparkplug === true);
      const first =
        options.json === true
          ? JSON.stringify(readyLine(fleet, ports))
          : demoGreeting(fleet, ports, relative(process.cwd(), file), options.sparkplug === true);
      await runGateway(config, log, stop, ready, first, simulator, options.json === true);
    },
  };
  // Closed in reverse order, so that the gateway does not report a lost service.
  const steps = [simulator, gateway].map((component) => ({
    component,
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  }));
  await runSupervised(steps, signal, { clock: systemClock, log, onReady: () => {} });
}

async function runGateway(
  config: Config,
  log: LeveledLog,
  signal: AbortSignal,
  ready: () => void,
  first: string,
  simulator: Simulator,
  asJson: boolean,
): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const { createGateway } = await import("../composition/gateway.ts");
  const simulatedFaults = createDemoFaults(simulator.control(), systemClock);
  const parts = {
    clock: systemClock,
    random: Math.random,
    log,
    logLevels: log.levels,
    simulatedFaults,
    builtAt: readBuild().builtAt,
    isAttended: true as const,
  };
  const gateway = createGateway(config, parts);
  if (!asJson) gateway.attach("terminal", createEventPrinter(print));
  await gateway.run(signal, () => {
    print(first);
    ready();
  });
}

/** Prints events as `fleetgate tail` does, without the state of conveyors before the demo was watched. */
function createEventPrinter(print: (line: string) => void): Sink {
  return {
    write({ events }) {
      for (const event of events) {
        if (event.kind === "conveyor" && event.from === null) continue;
        print(eventLine(JSON.parse(namedEventJson(event, ""))));
      }
    },
  };
}

function readyLine(fleet: Endpoints, ports: DemoPorts) {
  return {
    event: "ready",
    fleet,
    mqtt: `mqtt://127.0.0.1:${ports.mqtt}`,
    opcua: `opc.tcp://127.0.0.1:${ports.opcua}`,
    web: `http://127.0.0.1:${ports.web}`,
  };
}

async function writeConfiguration(
  path: string,
  ports: DemoPorts,
  fleet: Endpoints,
  hasSparkplug: boolean,
): Promise<Config> {
  const folder = dirname(path);
  const dataDir = join(folder, "gateway");
  await makeFolder(folder);
  // The simulated world begins anew at each start (docs/internals/decisions.md, The demo starts with an empty
  // journal).
  for (const kept of ["journal", "slots", "outbox", "sparkplug-outbox"])
    await renewStore(join(dataDir, kept));
  await writeFile(path, demoConfig({ ...fleet, dataDir, ports, hasSparkplug }));
  return configurationOrExit(path);
}

const portsInOrder = ["grpc", "https", "mqtt", "opcua", "web"] as const;

function portOption(taken: PortTaken): string {
  return `--base-port (five ports in a row: ${portsInOrder.join(", ")}; this is ${taken.listener})`;
}

/**
 * The first lines of the demo: every address, and one command to copy for each protocol.
 *
 * @param configuration the path of the gateway's configuration, for `--config`
 * @param hasSparkplug whether the robots are devices of Sparkplug B too
 */
function demoGreeting(
  fleet: Endpoints,
  ports: DemoPorts,
  configuration: string,
  hasSparkplug: boolean,
): string {
  return [
    "",
    "Fleetgate demo: a simulated fleet behind a gateway. Everything is on this machine; Ctrl-C ends it.",
    "INSECURE: every program of this machine may read and command. A plant's configuration is closed.",
    "",
    `  Console  http://127.0.0.1:${ports.web}`,
    `  MQTT     mqtt://127.0.0.1:${ports.mqtt}`,
    `           npx mqtt sub -h 127.0.0.1 -p ${ports.mqtt} -v -t 'fleetgate/demo/robots/+/mission'`,
    ...(hasSparkplug
      ? ["           Sparkplug B: group plant1, edge node fleetgate, commands on (docs/sparkplug.md)"]
      : []),
    `  OPC UA   opc.tcp://127.0.0.1:${ports.opcua}   (anonymous, no encryption)`,
    `           node dist/main.js watch opc.tcp://127.0.0.1:${ports.opcua} Robots.cart-01`,
    `  Service  gRPC ${fleet.grpc}, HTTPS ${fleet.https}`,
    `           CA ${fleet.ca}`,
    `           credentials ${fleet.credentials}`,
    `  Gateway  node dist/main.js status --config ${configuration}`,
    "",
    "Send a robot on its way:",
    `  npx mqtt pub -h 127.0.0.1 -p ${ports.mqtt} -t fleetgate/demo/clients/me/command/CreateMission \\`,
    `    -m '{"id":"1","request":{"robotId":"cart-01","mission":{"baseMission":{"navigateMission":{"goal":{"destinationId":"Station A"}}}}}}'`,
    "",
    "What happens (time in UTC):",
  ].join("\n");
}

/** The ports of the demo: counted from its base port, or the usual ones of the protocols. */
interface DemoPorts {
  readonly grpc: number;
  readonly https: number;
  readonly mqtt: number;
  readonly opcua: number;
  readonly web: number;
}

/** The default ports of the protocols' clients. */
const usualPorts: DemoPorts = { grpc: 7443, https: 7444, mqtt: 1883, opcua: 4840, web: 8080 };

/** Five ports in a row. */
function portsFrom(base: number): DemoPorts {
  return { grpc: base, https: base + 1, mqtt: base + 2, opcua: base + 3, web: base + 4 };
}

/**
 * The demo's configuration as a file, which `fleetgate run` accepts too. It opens everything to programs of
 * this machine, and says so. It contains only addresses, because a machine without /etc/hosts cannot resolve
 * `localhost`.
 */
function demoConfig(demo: {
  readonly dataDir: string;
  readonly ports: DemoPorts;
  readonly ca: string;
  readonly credentials: string;
  readonly locations: readonly string[];
  readonly hasSparkplug: boolean;
}): string {
  const { ports } = demo;
  const everyone = (protocol: string) => ({ source: { protocol: protocol, name: "*" }, role: "engineer" });
  const file = stringify({
    gateway: { id: "demo", dataDir: demo.dataDir },
    log: { level: "warn" },
    fleet: {
      grpc: { address: `127.0.0.1:${ports.grpc}` },
      https: `https://127.0.0.1:${ports.https}`,
      ca: demo.ca,
      credentials: demo.credentials,
      locations: demo.locations,
    },
    mqtt: {
      broker: "embedded",
      listen: { host: "127.0.0.1", port: ports.mqtt },
      anonymousLoopback: true,
      tags: true,
      commands: { requireExpiry: false },
      // As on docs/sparkplug.md.
      ...(demo.hasSparkplug ? { sparkplug: { groupId: "plant1", nodeId: "fleetgate", commands: true } } : {}),
    },
    opcua: {
      listen: { host: "127.0.0.1", port: ports.opcua },
      hostname: "127.0.0.1",
      insecureLoopback: { role: "engineer" },
      destinations: { 1: "Station A", 2: "Station B", 3: "Station C", 4: "Station D" },
    },
    web: {
      listen: { host: "127.0.0.1", port: ports.web },
      // The numbers of the simulated service.
      floor: {
        pointTypes: {
          1: { name: "station", shape: "station" },
          2: { name: "charger", shape: "charger" },
          3: { name: "home", shape: "home" },
        },
      },
    },
    stations: { dock: { destinations: ["Station A"] } },
    commands: { drainMs: 1_000 },
    rights: ["mqtt", "opcua", "web", "cli"].map(everyone),
  });
  return `# Written by fleetgate demo at each start. INSECURE: every program of this machine may read and command.\n${file}`;
}
