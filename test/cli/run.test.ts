import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { listenMqtt, type MqttEar } from "../e2e/mqtt-ear.ts";
import { haveMosquitto, startMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { freePorts } from "../support/free-ports.ts";
import { fleetSection } from "../support/simulator.ts";
import {
  endPrograms,
  fleetgate,
  newFolder,
  type Program,
  type Ready,
  ready,
  TEST_TIMEOUT_MS,
} from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS });

const BASE = "fleetgate/plant1";
/** Of every supported Node.js. The most at rest is 238 MB (Node.js 24). */
const MOST_RSS_ANON_MB = 260;
const MESSAGES_BEFORE_RSS = 2_000;
/** Far beyond what an end takes, also on a busy machine. */
const ENDED_WITHIN_MS = 15_000;

/** A service that all tests but the last may use. */
let fleet: Ready["fleet"];
beforeAll(async () => {
  fleet = await simulate();
});
afterAll(endPrograms);

/** Starts a simulated service, and waits until it is ready. */
async function simulate(...options: readonly string[]): Promise<Ready["fleet"]> {
  const base = await freePorts(2);
  const service = fleetgate(newFolder(), "simulate", "--json", "--base-port", String(base), ...options);
  const line = await ready(service);
  expect(line).toEqual({
    event: "ready",
    fleet: {
      grpc: `127.0.0.1:${base}`,
      https: `https://127.0.0.1:${base + 1}`,
      ca: expect.stringMatching(/^\//),
      credentials: expect.stringMatching(/^\//),
      otherCredentials: line.fleet.otherCredentials,
      locations: expect.arrayContaining([expect.any(String)]),
    },
  });
  return line.fleet;
}

/** Writes a configuration for a service. @returns its path */
async function configure(
  folder: string,
  sections: Readonly<Record<string, unknown>>,
  service = fleet,
): Promise<string> {
  const path = join(folder, "fleetgate.yaml");
  const file = {
    gateway: { id: "plant1", dataDir: "data" },
    fleet: fleetSection(service),
    ...sections,
  };
  await writeFile(path, stringify(file));
  return path;
}

function embedded(port: number) {
  return { broker: "embedded", listen: { host: "127.0.0.1", port }, anonymousLoopback: true };
}

/** Starts the gateway, and waits until it says that it is ready. */
async function run(folder: string, path: string): Promise<Program> {
  const gateway = fleetgate(folder, "run", "--config", path);
  await gateway.err.first("ready", (line) => line.includes('"msg":"ready"'));
  return gateway;
}

function stateOf(text: string): unknown {
  return (JSON.parse(text) as { state: unknown }).state;
}

test("simulate and run as two processes, check before them; SIGTERM says offline and ends with 0", async () => {
  const folder = newFolder();
  const port = await freePorts(2);
  const web = { listen: { host: "127.0.0.1", port: port + 1 } };
  const path = await configure(folder, { mqtt: embedded(port), web });

  const check = fleetgate(folder, "check", "--config", path);
  expect(await check.ended).toEqual({ code: 0, signal: null });
  expect(check.out.entries[0]).toContain(`${path} is valid`);

  const gateway = await run(folder, path);
  const mqtt = await listenMqtt(`mqtt://127.0.0.1:${port}`, "e2e", BASE);
  const status = await mqtt.on("status", (text) => stateOf(text) === "online");
  expect(status.retain).toBe(true);
  for (const robotId of ["cart-01", "cart-02", "cart-03", "serve-01", "serve-02", "base-01"]) {
    await mqtt.on(`robots/${robotId}/availability`, (text) => text === "good");
    await mqtt.on(`robots/${robotId}/battery`, (text) => text.includes('"quality":"good"'));
  }
  expect((await fetch(`http://127.0.0.1:${port + 1}/healthz`)).status).toBe(200);

  const sentMs = performance.now();
  gateway.send("SIGTERM");
  const offline = await mqtt.on("status", (text) => stateOf(text) === "offline");
  expect(JSON.parse(offline.text)).toMatchObject({
    state: "offline",
    session_id: JSON.parse(status.text).session_id,
    gateway_id: "plant1",
    at: expect.any(String),
  });
  await mqtt.on("robots/cart-01/availability", (text) => text === "offline");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - sentMs).toBeLessThan(ENDED_WITHIN_MS);
  expect(gateway.out.entries).toEqual([]);
});

test("what Node.js warns of is a line of the log like every other", async () => {
  const folder = newFolder();
  const path = await configure(folder, { log: { level: "debug" } });
  const warner = join(folder, "warner.cjs");
  // It warns once the program listens for warnings.
  const warn = 'setImmediate(() => process.emitWarning("an old call", "DeprecationWarning"))';
  await writeFile(warner, `process.on("newListener", (name) => { if (name === "warning") ${warn}; });`);
  vi.stubEnv("NODE_OPTIONS", `--require ${warner}`);
  const gateway = await run(folder, path).finally(() => vi.unstubAllEnvs());
  const warning = await gateway.err.first("the warning", (line) => line.includes("DeprecationWarning"));
  expect(JSON.parse(warning)).toMatchObject({
    msg: "Node.js warns",
    err: expect.stringContaining("an old call"),
  });
  gateway.send("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  for (const line of gateway.err.entries) expect(() => JSON.parse(line)).not.toThrow();
});

test.skipIf(!haveMosquitto)("a gateway that is killed is said to be offline by its last will", async () => {
  const folder = newFolder();
  const broker = await startMosquitto();
  let mqtt: MqttEar | undefined;
  try {
    mqtt = await listenMqtt(broker.url, "e2e", BASE);
    const path = await configure(folder, { mqtt: { broker: broker.url } });
    const gateway = await run(folder, path);
    await mqtt.on("robots/cart-01/availability", (text) => text === "good");
    const { session_id } = JSON.parse((await mqtt.on("status")).text) as Record<string, unknown>;
    gateway.send("SIGKILL");
    const will = await mqtt.on("status", (text) => stateOf(text) === "offline");
    expect(JSON.parse(will.text)).toEqual({ state: "offline", session_id, gateway_id: "plant1" });

    // A later subscriber finds the will retained, until the gateway starts again and replaces it.
    const late = await listenMqtt(broker.url, "late", BASE);
    expect(await late.on("status")).toMatchObject({ text: will.text, retain: true });
    const again = await run(folder, path);
    const online = await late.on("status", (text) => stateOf(text) === "online");
    expect(JSON.parse(online.text)).not.toMatchObject({ session_id });
    again.send("SIGTERM");
    expect(await again.ended).toEqual({ code: 0, signal: null });
    await late.close();
  } finally {
    await mqtt?.close();
    await broker.stop();
  }
});

test("a wrong configuration prints every problem with its path at once, exits with 78, and starts nothing", async () => {
  const folder = newFolder();
  const path = join(folder, "wrong.yaml");
  const port = await freePorts(1);
  await writeFile(
    path,
    `gateway: { id: plant1, dataDir: data }
fleet:
  grpc: { address: "localhost:7443", adress: typo }
  https: https://localhost:7444
  credentials: nowhere.json
  robots: [cart-01]
mqtt: { broker: embedded, listen: { host: 127.0.0.1, port: "${port}" }, anonymousLoopback: true }
`,
  );
  for (const command of ["run", "check"]) {
    const program = fleetgate(folder, command, "--config", path);
    expect(await program.ended).toEqual({ code: 78, signal: null });
    expect(program.out.entries).toEqual([]);
    expect(program.err.entries).toEqual([
      `${path}:3: error: fleet.grpc.adress: unknown key; the nearest known one is "address"`,
      `${path}:5: error: fleet.credentials: ${folder}/nowhere.json does not exist`,
      `${path}:7: error: mqtt.listen.port: must be a number: write ${port} without quotes, not "${port}"`,
      `fleetgate: 3 problems in ${path}; nothing was started`,
    ]);
  }
  expect(existsSync(join(folder, "data"))).toBe(false);
});

const statusFile = (pid: number | "self") => `/proc/${pid}/status`;

test.skipIf(!existsSync(statusFile("self")))(
  "run with 50 robots that are on their way needs at most 260 MB of its own",
  async () => {
    const folder = newFolder();
    const fifty = await simulate("--robots", "50", "--lively", "--time-factor", "20");
    const port = await freePorts(2);
    const opcua = { listen: { host: "127.0.0.1", port: port + 1 }, insecureLoopback: { role: "observer" } };
    const gateway = await run(folder, await configure(folder, { mqtt: embedded(port), opcua }, fifty));
    const mqtt = await listenMqtt(`mqtt://127.0.0.1:${port}`, "e2e", BASE);
    let messages = 0;
    const robots = new Set<string>();
    await mqtt.received.first("every robot, and many messages", ({ topic }) => {
      messages += 1;
      if (topic.endsWith("/availability")) robots.add(topic);
      return robots.size === 50 && messages >= MESSAGES_BEFORE_RSS;
    });
    const [, kilobytes] =
      /^RssAnon:\s+(\d+) kB$/m.exec(await readFile(statusFile(gateway.pid), "utf8")) ?? [];
    const megabytes = Number(kilobytes) / 1024;
    process.stderr.write(`RssAnon of fleetgate run with 50 robots: ${megabytes.toFixed(0)} MB\n`);
    expect(megabytes).toBeGreaterThan(0);
    expect(megabytes).toBeLessThanOrEqual(MOST_RSS_ANON_MB);
    await mqtt.close();
  },
);
