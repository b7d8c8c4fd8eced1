import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { systemClock } from "../../src/platform/clock.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { readScenario, type Scenario } from "../../src/simulator/scenario/scenario.ts";
import { endMosquitto, runMosquitto, writePasswords } from "../northbound/mqtt/mosquitto.ts";
import { type Caller, newClient, openSession } from "../northbound/opcua/opcua-harness.ts";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";
import { type Changes, type ExampleFiles, examplesFolder, passwordOf } from "../support/example-files.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { runGateway } from "./e2e-harness.ts";

/** The service that an example names, before the example's gateway runs. */
export interface ExamplePlant extends AsyncDisposable {
  readonly files: ExampleFiles;
  /** The gateway's. */
  readonly dataDir: string;
  readonly simulator: RunningSimulator;
  /** Runs the gateway of an example that leads to this service. */
  run(name: string, changes?: Changes): Promise<void>;
  /** To be ended with the plant, before what was there earlier. */
  onClose(end: () => Promise<unknown> | unknown): void;
}

/** A fleet with the locations and destinations of the examples, and `robots` carts and others. */
export async function openExamplePlant(
  files: ExampleFiles,
  robots: number,
  options: Partial<SimulatorOptions> = {},
): Promise<ExamplePlant> {
  const scenario = { kind: "given" as const, scenario: fleetOf(robots) };
  const simulator = await startSimulator({ scenario, ...options });
  const ends: Array<() => Promise<unknown> | unknown> = [() => simulator.stop()];
  const dataDir = await mkdtemp(join(files.folder, "data-"));
  const { credentials, grpc, https, ca } = simulator.endpoints;
  await copyFile(credentials, join(files.folder, "secrets", "api-key.json"));
  const fleet = { "fleet.grpc.address": grpc, "fleet.https": https, "fleet.ca": ca };
  return {
    files,
    dataDir,
    simulator,
    async run(name, changes = {}) {
      const loaded = await files.load(name, { "gateway.dataDir": dataDir, ...fleet, ...changes });
      if (!loaded.ok) throw new Error(`${name} is wrong: ${JSON.stringify(loaded.problems)}`);
      const log = createChronicle<string>((line) => line);
      ends.push(await runGateway(loaded.config, systemClock, log));
    },
    onClose: (end) => void ends.push(end),
    async [Symbol.asyncDispose]() {
      for (const end of ends.reverse()) await end();
    },
  };
}

/** Of every ten robots three are carts: `cart-1`, `serve-1` and so on, at the three locations in turn. */
function fleetOf(robots: number): Scenario {
  const places = Array.from({ length: robots }, (_unused, index) => index);
  const counts = { cart: 0, serve: 0 };
  return readScenario({
    confirmMs: 0,
    distributors: [{ id: "acme", apiKeys: [{ apiKey: "acme-gateway" }] }],
    locations: ["hall-1", "hall-2", "warehouse"].map((id) => ({ id, distributor: "acme" })),
    maps: [
      {
        id: 1,
        name: "Plant",
        distributor: "acme",
        vertices: [
          { id: 1, code: "ST-A", alias: "Station A", x: 0, y: 9, kind: "station" },
          { id: 2, code: "ST-B", alias: "Station B", x: 9, y: 9, kind: "station" },
          ...places.map((index) => ({ id: 10 + index, code: `H${index}`, x: index, y: 0 })),
        ],
      },
    ],
    robots: places.map((index) => {
      const family = index % 10 < 3 ? "cart" : "serve";
      counts[family] += 1;
      const location = ["hall-1", "hall-2", "warehouse"][robots < 10 ? 0 : index % 3] ?? "";
      return {
        id: `${family}-${counts[family]}`,
        amrId: index + 1,
        family,
        location,
        map: 1,
        home: `H${index}`,
      };
    }),
  });
}

/**
 * Runs mosquitto as config/examples/mosquitto.conf and mosquitto.acl say, with these clients beside the
 * gateway's own user. @returns its port
 */
export async function runExampleMosquitto(plant: ExamplePlant, clients: readonly string[]): Promise<number> {
  const port = await freePorts(1);
  const folder = await mkdtemp(join(plant.files.folder, "mosquitto-"));
  await mkdir(join(folder, "certs"));
  await writeFile(join(folder, "certs", "broker.pem"), plant.files.server.certificate);
  await writeFile(join(folder, "certs", "broker.key"), plant.files.server.key);
  await copyFile(join(examplesFolder, "mosquitto.acl"), join(folder, "fleetgate.acl"));
  const passwords = clients.map((name): [string, string] => [name, passwordOf(name)]);
  const all = new Map([["fleetgate", passwordOf("mqtt")], ...passwords]);
  await writePasswords(join(folder, "fleetgate.passwords"), all);
  const example = await readFile(join(examplesFolder, "mosquitto.conf"), "utf8");
  const configuration = example
    .replaceAll("/etc/mosquitto", folder)
    .replace(/^listener 8883$/m, `listener ${port} 127.0.0.1`);
  // Started by root, mosquitto would become a user who cannot read the folder of this test.
  const owner = process.getuid?.() === 0 ? "user root\n" : "";
  const child = await runMosquitto(join(folder, "mosquitto.conf"), `${configuration}${owner}`);
  plant.onClose(() => endMosquitto(child));
  return port;
}

/**
 * Approves the certificate of the OPC UA clients: puts it where the operator moves it. Before the first start
 * of a gateway its data folder must be empty.
 */
export async function approveClients(plant: ExamplePlant): Promise<void> {
  const client = newClient(true);
  await client.clientCertificateManager.initialize();
  await client.createDefaultCertificate();
  const folder = join(plant.dataDir, "opcua", "server", "trusted", "certs");
  await writeFile(join(folder, "client.pem"), new X509Certificate(client.getCertificate()).toString());
}

/** A session with encryption, as this user. */
export async function sessionOf(plant: ExamplePlant, url: string, user: string): Promise<Caller> {
  const session = await openSession(url, { user: { name: user, password: passwordOf(user) }, secure: true });
  plant.onClose(() => session.close());
  return session;
}

/** A reverse proxy that does what the first server of config/examples/nginx.conf does. */
export interface ReverseProxy {
  readonly port: number;
  /** The status of each answer, as the service got it. */
  readonly answers: Chronicle<number>;
}

/** Starts one that forwards `path` to the listener for webhooks on a port, and nothing else. */
export async function startReverseProxy(
  plant: ExamplePlant,
  path: string,
  port: () => number,
): Promise<ReverseProxy> {
  const { server: own, office } = plant.files;
  const answers = createChronicle<number>(String);
  const server = createServer({ cert: own.certificate, key: own.key }, (asked, answer) => {
    if (asked.url !== path) {
      answer.writeHead(404).end();
      return;
    }
    const { method, headers } = asked;
    const target = { host: "127.0.0.1", port: port(), servername: "gateway1.example.com" };
    const forwarded = request({ ...target, path, method, headers, ca: office.certificate }, (got) => {
      answers.add(got.statusCode ?? 0);
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    // The gateway is not up yet, or not any more: what nginx answers then.
    forwarded.on("error", () => answer.writeHead(502).end());
    asked.pipe(forwarded);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  plant.onClose(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, answers };
}
