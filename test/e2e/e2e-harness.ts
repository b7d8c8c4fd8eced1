import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { createGateway } from "../../src/composition/gateway.ts";
import { type Config, loadConfig } from "../../src/config/load.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { createLog } from "../../src/platform/log.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import type { Endpoints } from "../../src/simulator/simulator.ts";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";
import { freePorts } from "../support/free-ports.ts";
import { createIdleClock, type IdleClock } from "../support/idle-clock.ts";
import { fleetSection, type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { listenMqtt, type MqttEar } from "./mqtt-ear.ts";
import { openPlc, type Plc } from "./plc.ts";

/**
 * The whole of it in one process: a simulated fleet, the gateway as its configuration file says, and clients.
 */
export interface E2eHarness {
  /** The service that runs now. */
  simulator(): RunningSimulator;
  /** Hears everything that the gateway publishes. */
  readonly mqtt: MqttEar;
  readonly mqttUrl: string;
  readonly plc: Plc;
  readonly opcuaUrl: string;
  readonly webUrl: string;
  /** The gateway's control socket. */
  readonly socketPath: string;
  /** The gateway's log, a line an entry. */
  readonly log: Chronicle<string>;
  /** The gateway's audit log so far, a record a line. */
  audit(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** What the service really did since the harness was opened, of one robot. */
  record(robotId: string): ReturnType<RunningSimulator["control"]["record"]>;
  stopService(): Promise<void>;
  /** Starts a service with the same keys and ports, after the one before was stopped. */
  startService(): Promise<void>;
  close(): Promise<void>;
}

/** Sections of the configuration file that differ from the harness's own. */
type Sections = Readonly<Record<string, Readonly<Record<string, unknown>> | readonly unknown[]>>;

/** The client name under which the tests of a harness send commands over MQTT. */
const CLIENT = "e2e";

/** Opens a harness. It is ready when robots can be commanded. `clock` is the gateway's. */
export async function openE2eHarness(
  simulatorOptions: Partial<SimulatorOptions> = {},
  sections: Sections = {},
  clock: Clock = systemClock,
): Promise<E2eHarness> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-e2e-"));
  // While the service is away, nobody else must be given its ports.
  const port = await freePorts(2);
  const ports = { grpcPort: port, httpsPort: port + 1 };
  const base = { dataDir: join(folder, "fleet"), seed: 7, ...ports, ...simulatorOptions };
  let simulator = await startSimulator(base);
  const { endpoints } = simulator;
  const gateway = await startGateway(folder, endpoints, sections, clock);
  const mqtt = await listenMqtt(gateway.mqttUrl, CLIENT, "fleetgate/e2e");
  const plc = await openPlc(gateway.opcuaUrl);
  return {
    ...gateway,
    simulator: () => simulator,
    mqtt,
    plc,
    record: (robotId) => simulator.control.record(0).filter((entry) => entry.robotId === robotId),
    stopService: () => simulator.stop(),
    async startService() {
      simulator = await startSimulator(base);
    },
    async close() {
      await plc.close();
      await mqtt.close();
      await gateway.stop();
      await simulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A harness whose gateway and service have a clock of their own. */
export interface IdleHarness extends E2eHarness {
  readonly clock: IdleClock;
}

/**
 * The same on a clock whose time passes `pace` times as fast while nothing is to be done: what a test waits
 * for in vain takes a part of its time.
 */
export async function openIdleHarness(
  pace: number,
  simulatorOptions: Partial<SimulatorOptions> = {},
  sections: Sections = {},
): Promise<IdleHarness> {
  const clock = createIdleClock(pace);
  const harness = await openE2eHarness({ ...simulatorOptions, clock }, sections, clock);
  return {
    ...harness,
    clock,
    async close() {
      await harness.close();
      clock.close();
    },
  };
}

/** A gateway that runs in this process, and where its northbounds listen. */
export interface RunningGateway {
  readonly mqttUrl: string;
  readonly opcuaUrl: string;
  readonly webUrl: string;
  readonly socketPath: string;
  /** Its log, a line an entry. */
  readonly log: Chronicle<string>;
  /** Its audit log so far, a record a line. */
  audit(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Resolves when it has ended; rejects when it failed. */
  stop(): Promise<void>;
}

/** Starts a gateway for a service, with its data in `folder`. Rejects when it cannot start. */
export async function startGateway(
  folder: string,
  fleet: Endpoints,
  sections: Sections = {},
  clock: Clock = systemClock,
): Promise<RunningGateway> {
  const listeners = await freePorts(3);
  const log = createChronicle<string>((line) => line);
  const config = await configOf(folder, fleet, listeners, sections);
  const stop = await runGateway(config, clock, log);
  return {
    mqttUrl: `mqtt://127.0.0.1:${listeners}`,
    opcuaUrl: `opc.tcp://localhost:${listeners + 1}`,
    webUrl: `http://127.0.0.1:${listeners + 2}`,
    socketPath: join(folder, "gateway", "control.sock"),
    log,
    async audit() {
      const lines = await readFile(join(folder, "gateway", "audit", "audit.jsonl"), "utf8");
      return lines
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    },
    stop,
  };
}

async function configOf(
  folder: string,
  fleet: Endpoints,
  firstPort: number,
  sections: Sections,
): Promise<Config> {
  const listen = (place: number) => ({ host: "127.0.0.1", port: firstPort + place });
  const rights = ["mqtt", "opcua", "web"].map((protocol) => ({
    source: { protocol, name: "*" },
    role: "engineer",
  }));
  const file: Record<string, unknown> = {
    gateway: { id: "e2e", dataDir: "gateway" },
    fleet: {
      ...fleetSection(fleet),
      times: { rosterPollMs: 200, connectMs: 1_000, callMs: 1_000, backoffBaseMs: 20, backoffCapMs: 200 },
    },
    mqtt: { broker: "embedded", listen: listen(0), anonymousLoopback: true },
    opcua: { listen: listen(1), insecureLoopback: { role: "engineer" } },
    web: { listen: listen(2) },
    commands: { drainMs: 500 },
    rights,
  };
  for (const [name, section] of Object.entries(sections)) {
    file[name] = Array.isArray(section) ? section : { ...(file[name] as object | undefined), ...section };
  }
  const path = join(folder, "fleetgate.yaml");
  await writeFile(path, stringify(file));
  const loaded = await loadConfig(path, {}, createCatalogue(), Date.now());
  if (!loaded.ok) throw new Error(`the harness's configuration is wrong: ${JSON.stringify(loaded.problems)}`);
  return loaded.config;
}

/** Resolves when the gateway is ready, with what stops it; rejects when it cannot start. */
export async function runGateway(
  config: Config,
  clock: Clock,
  log: Chronicle<string>,
): Promise<() => Promise<void>> {
  const destination = { write: (line: string) => log.add(line.trimEnd()) };
  const gateway = createGateway(config, {
    clock,
    random: Math.random,
    log: createLog("info", destination),
  });
  const stopping = new AbortController();
  let run: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    run = gateway.run(stopping.signal, resolve);
    run.catch(reject);
  });
  return async () => {
    stopping.abort();
    await run;
  };
}
