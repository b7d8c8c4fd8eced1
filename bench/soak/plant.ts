import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import { ownBuild, root } from "../build.ts";
import type { Child } from "../child.ts";
import { cartIds } from "../commands/scenario.ts";
import type { GatewayHealth } from "../gateway.ts";
import { benchFolder, freePorts, REPLY_TIMEOUT_MS, type SectionRun, until } from "../section-run.ts";
import { fleetSection, type ServiceAddress } from "../service.ts";
import { type Pace, paceFrom, realNowMs, realPace } from "./pace.ts";
import type { Census, Leak, PlcReply, ProbeRequest, ServiceRequest } from "./protocol.ts";
import { type Subscriber, subscribe } from "./subscriber.ts";

const ROBOTS = 50;
const ID = "soak";
/** Against the machine's clock: that makes about ten messages a second. */
const WORLD_PACE = 1.7;
/** Deadlines are for disks and networks, which are as fast as ever. The service has neither. */
const GATEWAY_SHORTEST_MS = 100;
const SERVICE_SHORTEST_MS = 1;
/** The program before it was bundled: its clock can be replaced. */
const program = join(root, ".build", "main.js");

/**
 * The service, the gateway, the broker and their clients, all in processes of their own but the subscriber.
 */
export interface Plant {
  readonly subscriber: Subscriber;
  readonly configuration: string;
  tokens(): number;
  /** Lets time pass so fast from now on. */
  go(factor: number): void;
  pace(): Pace;
  health(): Promise<GatewayHealth>;
  census(): Promise<Census>;
  plant(leak: Leak): void;
  control(path: string, body: object): Promise<void>;
  cutFleetLink(forMs: number): void;
  /** Kills it: its clients hear nothing. */
  endBroker(): Promise<void>;
  startBroker(): Promise<void>;
  /** Ends the PLC as a crash does, and starts another. @returns the thumbprint that the gateway showed it. */
  crashPlc(): Promise<string>;
  /** Why PLCs failed that nobody had crashed. */
  readonly plcFailures: readonly string[];
  readonly plc: { changes: number; commands: number };
  gatewayErrors(): string;
}

export async function openPlant(run: SectionRun, seed: number): Promise<Plant> {
  let pace = realPace;
  let tokens = 0;
  const mqttPort = await freePorts();
  const opcuaPort = await freePorts();
  const environment = (shortestMs: number) => ({
    SOAK_PROGRAM: pathToFileURL(join(root, ".build/")).href,
    SOAK_SHORTEST_MS: String(shortestMs),
  });
  const soakFolder = join(benchFolder, "soak");

  async function startBroker(): Promise<Child> {
    const child = run.start("broker", join(benchFolder, "plant-broker.js"), [run.folder, String(mqttPort)]);
    await child.next(REPLY_TIMEOUT_MS);
    return child;
  }
  let broker = await startBroker();

  const servicePort = await freePorts();
  const service = run.start(
    "service",
    program,
    [
      ...["simulate", "--json", "--base-port", String(servicePort), "--data", join(run.folder, "service")],
      ...["--robots", String(ROBOTS), "--seed", String(seed)],
      ...["--time-factor", String(WORLD_PACE / FACTOR)],
    ],
    { preload: [join(soakFolder, "service-preload.js")], env: environment(SERVICE_SHORTEST_MS) },
  );
  service.onMessage(() => {
    tokens += 1;
  });
  const { fleet: address } = JSON.parse(await service.line(REPLY_TIMEOUT_MS)) as { fleet: ServiceAddress };

  const configuration = join(run.folder, "soak.yaml");
  writeFileSync(configuration, stringify(settings(run.folder, address, mqttPort, opcuaPort)), {
    mode: 0o600,
  });
  const gateway = run.start("gateway", program, ["run", "--config", configuration], {
    nodeOptions: [...ownBuild.nodeOptions, "--expose-gc"],
    preload: [join(soakFolder, "gateway-preload.js")],
    env: { ...ownBuild.env, ...environment(GATEWAY_SHORTEST_MS) },
  });

  const plc = { changes: 0, commands: 0 };
  const plcFailures: string[] = [];
  const carts = cartIds(ROBOTS).filter((_, at) => [0, 3, 6].includes(at % 10));
  let plcChild: Child | null = null;
  async function startPlc(): Promise<string> {
    const child = run.start("plc", join(soakFolder, "plc.js"));
    plcChild = child;
    child.send({ port: opcuaPort, robots: carts });
    return new Promise((resolve, reject) => {
      child.onMessage((reply: PlcReply) => {
        if (reply.kind === "connected") resolve(reply.thumbprint);
        else if (reply.kind === "failed") {
          reject(new Error(`the PLC: ${reply.message}`));
          if (plcChild !== child) return;
          // The week goes on, so that its other figures are not lost.
          plcFailures.push(reply.message);
          crashPlc().catch((error: Error) => run.fail(error));
        } else plc[reply.kind] += reply.count;
      });
    });
  }
  async function crashPlc(): Promise<string> {
    const old = plcChild;
    plcChild = null;
    await old?.end("SIGKILL");
    return startPlc();
  }
  const health = async () => {
    const response = await fetch(`http://127.0.0.1:${opcuaPort + 1}/healthz`);
    return (await response.json()) as GatewayHealth;
  };
  const isUp = async () => {
    try {
      const { components } = await health();
      return components.fleet?.state === "up" && components.mqtt?.state === "up";
    } catch {
      return false;
    }
  };
  await until("the gateway is up", isUp, REPLY_TIMEOUT_MS, 100);
  const subscriber = await subscribe(mqttPort, `fleetgate/${ID}`, carts, () => pace);
  run.onEnd(() => subscriber.close());
  const control = (path: string, body: object) => post(address, path, body);
  await control("lively", { lively: "missions" });
  await startPlc();

  const toBoth = (message: ProbeRequest & ServiceRequest) => {
    gateway.send(message);
    service.send(message);
  };
  return {
    subscriber,
    configuration,
    plc,
    tokens: () => tokens,
    pace: () => pace,
    go(factor) {
      pace = paceFrom(pace, realNowMs(), factor);
      toBoth({ soak: "pace", pace });
    },
    health,
    census() {
      gateway.send({ soak: "census" });
      return gateway.next<Census>(REPLY_TIMEOUT_MS);
    },
    plant: (leak) => gateway.send({ soak: "plant", leak } satisfies ProbeRequest),
    control,
    cutFleetLink: (forMs) => service.send({ soak: "cut", forMs } satisfies ServiceRequest),
    endBroker: () => broker.end(),
    async startBroker() {
      broker = await startBroker();
    },
    crashPlc,
    plcFailures,
    gatewayErrors: () => gateway.errors,
  };
}

/** Simulated seconds in a real one: a week in an hour. */
export const FACTOR = 168;

/**
 * The product's own values, but for what the network takes of real time: in 168 times its pace a connection
 * would have 30 ms, and a stall of the machine of 0.2 s would be a stream that is silent.
 */
function settings(folder: string, address: ServiceAddress, mqttPort: number, opcuaPort: number): object {
  return {
    gateway: { id: ID, dataDir: join(folder, "data") },
    log: { level: "error" },
    fleet: {
      ...fleetSection(address),
      locations: ["plant-1"],
      times: {
        connectMs: 60_000,
        callMs: 120_000,
        pollTimeoutMs: 120_000,
        keepaliveTimeoutMs: 60_000,
        backoffBaseMs: 5_000,
        backoffCapMs: 60_000,
        rosterPollMs: 60_000,
        taskChainPollMs: 60_000,
      },
    },
    quality: { streamSilenceMs: 600_000, resyncMs: 600_000, holdMs: 3_600_000 },
    mqtt: {
      broker: `mqtt://127.0.0.1:${mqttPort}`,
      protocolVersion: 4,
      commands: { brokerEnforcesClientNames: true, requireExpiry: false },
    },
    opcua: { listen: { port: opcuaPort }, insecureLoopback: { role: "operator" } },
    web: { listen: { port: opcuaPort + 1 } },
    commands: { startByMs: 3_600_000, callDeadlineMs: 120_000, stopSyncMs: 5_000 },
    rights: [{ source: { protocol: "mqtt", name: "*" }, role: "operator" }],
  };
}

function post({ https, ca }: ServiceAddress, path: string, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", ca: readFileSync(ca), headers: { "content-type": "application/json" } };
    const sent = request(`${https}/simulator/${path}`, options, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) answer.once("end", resolve);
      else reject(new Error(`/simulator/${path}: ${answer.statusCode}`));
    });
    sent.once("error", reject);
    sent.end(JSON.stringify(body));
  });
}
