import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { fleetgate } from "../cli/program.ts";
import { listenMqtt, type MqttEar } from "../e2e/mqtt-ear.ts";
import { flipBehind } from "../support/flip-bytes.ts";
import { freePorts } from "../support/free-ports.ts";
import { type PlantBroker, startPlantBroker } from "../support/plant-broker.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { startHere } from "./built-gateway.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

const ROBOT = "cart-01";
const TIMEOUT_MS = 90_000;
const belt = (command: "CW" | "STOP") => ({
  robotId: ROBOT,
  commands: [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${command}` }],
});

let simulator: RunningSimulator;
let broker: PlantBroker;
let folder: string;
let config: string;
let ear: MqttEar;
let daemons: Pick<Daemon, "kill">[];
let commands = 0;

beforeAll(async () => {
  simulator = await startSimulator({ timeFactor: 5 });
  broker = await startPlantBroker();
});
afterAll(async () => {
  await broker.close();
  await simulator.stop();
});
beforeEach(async () => {
  daemons = [];
  folder = await mkdtemp(join(tmpdir(), "fleetgate-lost-"));
  // A name of its own: what another test left retained at the broker is another gateway's.
  const id = `lost${commands}`;
  config = await writeConfiguration(folder, id, simulator.endpoints, [ROBOT], broker.url);
  ear = await listenMqtt(broker.url, "scada", `fleetgate/${id}`);
});
afterEach(async () => {
  for (const daemon of daemons) await daemon.kill();
  await ear.close();
  await rm(folder, { recursive: true, force: true });
});

/** Only with OPC UA are there tickets; its server takes longer to start than all the rest. */
async function withOpcUa(): Promise<void> {
  const port = await freePorts(1);
  await appendFile(config, `opcua: { listen: { host: 127.0.0.1, port: ${port} }, insecureLoopback: {} }\n`);
}

const inData = (...names: readonly string[]) => join(folder, "data", ...names);

/** Starts the gateway, and waits until the robot's values are good: then commands pass. */
async function start(): Promise<Daemon> {
  const from = ear.received.entries.length;
  const daemon = startDaemon(config);
  daemons.push(daemon);
  await daemon.says(READY);
  await robotIsGood(from);
  return daemon;
}

/** The same, in this process. */
async function startInProcess(): ReturnType<typeof startHere> {
  const from = ear.received.entries.length;
  const gateway = await startHere(config);
  daemons.push(gateway);
  await robotIsGood(from);
  return gateway;
}

async function robotIsGood(from: number): Promise<void> {
  await ear.on(`robots/${ROBOT}/availability`, (text) => text === "good", from);
}

async function send(operation: string, request: object, id?: string) {
  commands += 1;
  return ear.send(operation, id ?? `command-${commands}`, request);
}

async function reset(...options: readonly string[]): Promise<string> {
  const program = fleetgate(folder, "journal", "reset", "--config", config, ...options);
  expect(await program.ended, program.err.entries.join("\n")).toEqual({ code: 0, signal: null });
  return program.out.entries.join("\n");
}

/** What the last `health` after `from` says of a part. */
async function health(part: string, state: string, from: number): Promise<string> {
  const partOf = (text: string) =>
    (JSON.parse(text) as { parts?: Record<string, { state: string; detail?: string }> }).parts?.[part];
  const { text } = await ear.on("health", (each) => partOf(each)?.state === state, from);
  return partOf(text)?.detail ?? "";
}

/** Random, and the same each time. */
function randomBytes(): Buffer {
  const random = seededRandom(7);
  return Buffer.from(Array.from({ length: 200_000 }, () => Math.floor(random() * 256)));
}

/** In the records of commands, and of tickets. */
const FLIPPED = { journal: '"robotId":"', slots: '"firstId":' };

type Damage = readonly [string, (store: string, text: string) => void, RegExp];

const damages: readonly Damage[] = [
  ["a file that is cut off", (store) => truncateSync(join(store, "data.mdb"), 8_192), /SIGBUS/],
  ["random bytes", (store) => writeFileSync(join(store, "data.mdb"), randomBytes()), /does not begin/],
  ["a file without a byte", (store) => truncateSync(join(store, "data.mdb"), 0), /data\.mdb is empty/],
  ["no file", (store) => rmSync(join(store, "data.mdb")), /data\.mdb is missing/],
  ["a damaged format", (store) => writeFileSync(join(store, "format.json"), "x"), /format\.json is damaged/],
  [
    "a byte of a record",
    (store, text) => flipBehind(join(store, "data.mdb"), text),
    /is not as it was written/,
  ],
  ["no folder", (store) => rmSync(store, { recursive: true }), /data\.mdb is missing/],
];

/** In any store: what is found in its records, and what the walk of another process finds. */
const damagesOf = {
  journal: damages,
  // The engine is the journal's, and `test/platform/kept-store.test.ts` damages it in each way.
  slots: damages.filter(([what]) =>
    ["a file that is cut off", "a byte of a record", "no folder"].includes(what),
  ),
};

/** Lost again and again: what each loss has put aside is not the next one's. */
test.each(["journal", "slots"] as const)(
  "a lost store lets only stops and reads pass until the reset, then all commands: %s",
  async (store) => {
    if (store === "slots") await withOpcUa();
    const first = await startInProcess();
    expect(await send("ControlConveyor", belt("CW"), "once")).toMatchObject({ outcome: "succeeded" });
    expect(await first.stop()).toBe(0);
    // Each damage is done to the store as it is now: while it is lost, it stays empty.
    const whole = join(folder, "whole");
    cpSync(inData(store), whole, { recursive: true, preserveTimestamps: true });
    for (const [at, [, harm, reason]] of damagesOf[store].entries()) {
      rmSync(inData(store), { recursive: true });
      cpSync(whole, inData(store), { recursive: true, preserveTimestamps: true });
      harm(inData(store), FLIPPED[store]);
      const from = ear.received.entries.length;
      // The first damage would end the process that opens the store: that one is a process of its own.
      const daemon = await (at === 0 ? start() : startInProcess());
      expect(daemon.said()).toMatch(reason);
      expect(await health("stores", "degraded", from)).toMatch(reason);
      expect(await health("commands", "degraded", from)).toContain("fleetgate journal reset");
      await ear.on("alarms", (text) => text.includes("RECORDS_LOST"), from);
      await refusesWhatMoves(store);
      expect(await daemon.stop()).toBe(0);
      expect(await reset()).toMatch(reason);
    }
    const from = ear.received.entries.length;
    const last = await startInProcess();
    await health("commands", "up", from);
    expect(await send("ControlConveyor", belt("CW"))).toMatchObject({ outcome: "succeeded" });
    expect(await last.stop()).toBe(0);
    const kept = readdirSync(inData()).filter((name) => name.startsWith(`${store}.damaged-`));
    expect(kept).toHaveLength(damagesOf[store].length - 1);
    if (store === "slots") return;
    const random = inData(kept.sort()[1] ?? "", "data.mdb");
    expect(readFileSync(random).equals(randomBytes())).toBe(true);
  },
  // Nine starts of the gateway, one after the other.
  4 * TIMEOUT_MS,
);

async function refusesWhatMoves(store: "journal" | "slots"): Promise<void> {
  const refused = {
    outcome: "refused",
    code: "JOURNAL_FAILED",
    message: expect.stringContaining("fleetgate journal reset"),
  };
  const before = simulator.control.record(0).at(-1)?.seq ?? 0;
  // It was sent before: without a journal the gateway cannot know that.
  const once = await send("ControlConveyor", belt("CW"), "once");
  const unknown = { ...refused, outcome: "unknown", retry_safe: false };
  expect(once).toMatchObject(store === "slots" ? { outcome: "succeeded", duplicate: true } : unknown);
  const other = await send("ControlConveyor", belt("CW"));
  expect(other).toMatchObject(store === "slots" ? refused : unknown);
  const sent = simulator.control
    .record(before)
    .filter(({ fact }) => fact.what === "received" && fact.operation === "ControlConveyor");
  expect(sent).toEqual([]);
  expect(await send("ControlConveyor", belt("STOP"))).toMatchObject({ outcome: "succeeded" });
  expect(await send("GetConveyorIndex", { robotId: ROBOT })).toMatchObject({ outcome: "succeeded" });
}

test(
  "a kill -9 loses nothing: the next start reads the stores, says nothing of it, and knows what was sent",
  async () => {
    const killed = await start();
    expect(await send("ControlConveyor", belt("CW"), "once")).toMatchObject({ outcome: "succeeded" });
    await killed.kill();
    expect(existsSync(inData("journal", "closed.json"))).toBe(false);
    const again = await start();
    const once = await send("ControlConveyor", belt("CW"), "once");
    expect(once).toMatchObject({ outcome: "succeeded", duplicate: true });
    expect(again.said()).not.toContain("a store is lost");
    expect(await again.stop()).toBe(0);
    expect(existsSync(inData("journal", "closed.json"))).toBe(true);
  },
  TIMEOUT_MS,
);

test(
  "lost tables stop neither the start nor a command: they begin empty, and the log says so",
  async () => {
    await (await startInProcess()).stop();
    const whole = join(folder, "whole");
    cpSync(inData("tables"), whole, { recursive: true, preserveTimestamps: true });
    for (const [what, harm, reason] of damages.filter(([each]) => each !== "no folder")) {
      // A table is lost by itself: lmdb-store.test.ts has that.
      if (what === "a byte of a record") continue;
      rmSync(inData("tables"), { recursive: true });
      cpSync(whole, inData("tables"), { recursive: true, preserveTimestamps: true });
      harm(inData("tables"), "");
      const from = ear.received.entries.length;
      const gateway = await startInProcess();
      expect(gateway.said()).toContain("a store is lost: it begins empty");
      expect(await health("stores", "degraded", from)).toMatch(reason);
      expect(await send("ControlConveyor", belt("CW"))).toMatchObject({ outcome: "succeeded" });
      expect(await gateway.stop()).toBe(0);
    }
    const again = await startInProcess();
    expect(again.said()).not.toContain("a store is lost");
    expect(await again.stop()).toBe(0);
  },
  2 * TIMEOUT_MS,
);

test.each([
  ["journal", 4],
  ["slots", 3],
  ["tables", 1],
])(
  "a store of a newer program is refused by name, with an exit code that ends the restarts: %s",
  async (store, known) => {
    if (store === "slots") await withOpcUa();
    await (await startInProcess()).stop();
    writeFileSync(inData(store, "format.json"), JSON.stringify({ store, version: 7 }));
    const refused = startDaemon(config);
    daemons.push(refused);
    expect(await refused.ended).toBe(65);
    expect(refused.said()).toContain(
      `fleetgate: ${inData(store)} holds the store "${store}" in version 7, and this program knows it up to version ${known}: `,
    );
    expect(readFileSync("systemd/fleetgate.service", "utf8")).toMatch(/^RestartPreventExitStatus=.*\b65\b/m);
  },
  TIMEOUT_MS,
);

test(
  "the reset changes nothing while the gateway runs, where nothing is lost, or in a folder of somebody else",
  async () => {
    const daemon = await start();
    const busy = fleetgate(folder, "journal", "reset", "--data", inData());
    expect(await busy.ended).toMatchObject({ code: 1 });
    expect(busy.err.entries.join()).toContain(`is in use by process ${daemon.pid}: stop the gateway first`);
    await daemon.stop();
    expect(await reset()).toContain("Nothing is lost");
    const wrong = fleetgate(folder, "journal", "reset", "--data", folder);
    expect(await wrong.ended).toMatchObject({ code: 1 });
    expect(wrong.err.entries.join()).toContain("is no gateway's data folder");
    expect(readdirSync(folder)).not.toContain("lock");
  },
  TIMEOUT_MS,
);

test(
  "an older copy of the data folder looks whole: the reset discards its journal and slots",
  async () => {
    await withOpcUa();
    await (await startInProcess()).stop();
    cpSync(inData(), join(folder, "snapshot"), { recursive: true });
    const later = await startInProcess();
    expect(await send("ControlConveyor", belt("CW"), "later")).toMatchObject({ outcome: "succeeded" });
    await later.stop();
    rmSync(inData(), { recursive: true });
    cpSync(join(folder, "snapshot"), inData(), { recursive: true });
    expect(await reset("--discard")).toMatch(/slots begins empty.*kept as .*\n.*journal begins empty/);
    const from = ear.received.entries.length;
    const again = await startInProcess();
    await health("commands", "up", from);
    expect(again.said()).not.toContain("a store is lost");
    expect(await again.stop()).toBe(0);
    const kept = readdirSync(inData()).filter((name) => name.includes(".damaged-"));
    expect(kept.map((name) => name.split(".")[0]).sort()).toEqual(["journal", "slots"]);
  },
  TIMEOUT_MS,
);
