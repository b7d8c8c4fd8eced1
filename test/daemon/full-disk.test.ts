import { fromJson } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import { FIRST_WITHOUT_DISK } from "../../src/domain/ticket-numbers.ts";
import { MissionSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import { listenMqtt, type MqttEar } from "../e2e/mqtt-ear.ts";
import { openPlc, type Plc } from "../e2e/plc.ts";
import { freePorts } from "../support/free-ports.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { mayMount, mountSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

/**
 * A user that may mount must run these tests: no package gives another user that right. A limit of the
 * process's files (prlimit) is no full disk: lmdb meets it, damages its heap, and the gateway may die.
 */
const hasMount = mayMount();
if (!hasMount)
  process.stderr.write("no file system can be mounted here: the test of a full one is skipped\n");

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ROBOT = "cart-01";
const toStation = (destinationId: string) => ({
  robotId: ROBOT,
  mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
});
const belt = (command: "CW" | "STOP") => ({
  robotId: ROBOT,
  commands: [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${command}` }],
});

/** What `health` says of the commands, once it says so much. */
async function commandsAre(ear: MqttEar, state: string): Promise<{ detail?: string }> {
  const from = Math.max(0, ear.received.entries.length - 1);
  const { text } = await ear.on("health", (each) => partsOf(each).commands?.state === state, from);
  return partsOf(text).commands ?? {};
}

function partsOf(text: string): Record<string, { state: string; detail?: string } | undefined> {
  const health = JSON.parse(text) as { parts?: Record<string, { state: string; detail?: string }> };
  return health.parts ?? {};
}

test.skipIf(!hasMount)(
  "a full disk refuses what moves or changes, with a reason, lets stops pass, and keeps data flowing",
  async () => {
    const { disk, simulator, ear, start } = await onSmallDisk();
    const daemon = await start();
    expect(await ear.send("ControlConveyor", "roll", belt("CW"))).toMatchObject({ outcome: "succeeded" });

    disk.fill();
    const before = simulator.control.record(0).at(-1)?.seq ?? 0;
    const full = /^it was not sent: the journal failed \(.+\)$/;
    expect(await ear.send("CreateMission", "go", toStation("Station D"))).toMatchObject({
      outcome: "refused",
      code: "JOURNAL_FAILED",
      message: expect.stringMatching(full),
      retry_safe: true,
    });
    const webhook = {
      url: "https://hooks.example/x",
      eventType: "battery",
      selector: { locationIds: { ids: ["a"] } },
    };
    expect(await ear.send("CreateWebhook", "hook", webhook)).toMatchObject({
      outcome: "refused",
      code: "JOURNAL_FAILED",
    });
    expect(await ear.send("ControlConveyor", "stop", belt("STOP"))).toMatchObject({ outcome: "succeeded" });
    const received = simulator.control
      .record(before)
      .flatMap(({ fact }) => (fact.what === "received" ? [fact] : []));
    expect(received.map(({ operation }) => operation)).toEqual(["ControlConveyor"]);
    expect((await commandsAre(ear, "degraded")).detail).toBe(
      "the journal cannot be written: nothing that moves or changes is sent, stops pass",
    );

    // What robots do is told all the same.
    const from = ear.received.entries.length;
    simulator.control.happen({ kind: "battery", robotId: ROBOT, percent: 33.9 });
    await ear.on(`robots/${ROBOT}/battery`, (text) => /"(charge_)?percent\w*":33/.test(text), from);

    await disk.free();
    await commandsTake(ear, daemon, "first");
    expect(await ear.send("CreateMission", "later", toStation("Station D"))).toMatchObject({
      outcome: "succeeded",
    });
    await commandsAre(ear, "up");
    expect(await daemon.stop(), daemon.said()).toBe(0);
  },
  120_000,
);

/**
 * Rejects when the gateway ends: it answers no more, and lmdb may have damaged its heap (LEAST_FREE_BYTES).
 */
function endOf(daemon: Daemon): Promise<never> {
  const died = daemon.ended.then((code) =>
    Promise.reject(new Error(`it ended with ${code}: ${daemon.said()}`)),
  );
  died.catch(() => {});
  return died;
}

/**
 * Turns the belt again with each refusal for the disk's sake: nothing but a command that is taken tells that
 * commands are, and for how long the store is left alone after a failure is its own affair.
 */
async function commandsTake(ear: MqttEar, daemon: Daemon, run: string): Promise<void> {
  const died = endOf(daemon);
  for (let round = 0; ; round += 1) {
    const again = ear.send("ControlConveyor", `${run}-again-${round}`, belt("CW"));
    const reply = await Promise.race([again, died]);
    if (reply.code !== "JOURNAL_FAILED") return expect(reply).toMatchObject({ outcome: "succeeded" });
  }
}

/** A gateway with all its protocols and all its files on a small disk. */
async function onSmallDisk() {
  const disk = await mountSmallDisk();
  cleanups.push(() => disk.unmount());
  const simulator = await startSimulator({ timeFactor: 5 });
  cleanups.push(() => simulator.stop());
  const broker = await startPlantBroker();
  cleanups.push(() => broker.close());
  const ear = await listenMqtt(broker.url, "scada", "fleetgate/full");
  cleanups.push(() => ear.close());
  const port = await freePorts(1);
  const config = await writeConfiguration(disk.path, "full", simulator.endpoints, [ROBOT], broker.url, {
    opcua: {
      listen: { host: "127.0.0.1", port },
      insecureLoopback: { role: "operator" },
      destinations: { 1: "Station D" },
    },
  });
  const start = async () => {
    const from = ear.received.entries.length;
    const daemon = startDaemon(config);
    cleanups.push(() => daemon.kill());
    await daemon.says(READY);
    const served = ear.on(`robots/${ROBOT}/availability`, (text) => text === "good", from);
    const ended = daemon.ended.then((code) => Promise.reject(new Error(`it ended with ${code}`)));
    await Promise.race([served, ended]).catch((cause: unknown) => {
      throw new Error(`it did not serve, and said: ${daemon.said()}`, { cause });
    });
    return daemon;
  };
  return { disk, simulator, ear, start, url: `opc.tcp://localhost:${port}` };
}

/** How often the disk has been full. */
type Run = "first" | "second" | "third";

interface Scene {
  readonly disk: SmallDisk;
  readonly simulator: RunningSimulator;
  readonly ear: MqttEar;
}

/** Many commands of both kinds on a disk that stays full, then one when there is room again. */
async function serveFull({ simulator, ear }: Scene, daemon: Daemon, run: Run): Promise<void> {
  const died = endOf(daemon);
  for (let round = 0; round < 20; round += 1) {
    const go = ear.send("CreateMission", `${run}-go-${round}`, toStation("Station D"));
    const move = await Promise.race([go, died]);
    expect(move).toMatchObject({
      outcome: "refused",
      code: "JOURNAL_FAILED",
      message: expect.stringContaining("the disk is full: 0.0 MB free, at least 8.0 are needed"),
      retry_safe: true,
    });
    const halt = ear.send("ControlConveyor", `${run}-stop-${round}`, belt("STOP"));
    expect(await Promise.race([halt, died])).toMatchObject({ outcome: "succeeded" });
  }
  const from = ear.received.entries.length;
  const percent = { first: 33.9, second: 21.9, third: 12.9 }[run];
  simulator.control.happen({ kind: "battery", robotId: ROBOT, percent });
  const shown = new RegExp(`"(charge_)?percent\\w*":${Math.floor(percent)}`);
  await Promise.race([ear.on(`robots/${ROBOT}/battery`, (text) => shown.test(text), from), died]);
}

test.skipIf(!hasMount)(
  "a gateway whose disk fills up to the last byte lives, and works again when there is room",
  async () => {
    const scene = await onSmallDisk();
    const { disk, ear } = scene;
    const daemon = await scene.start();
    expect(await ear.send("ControlConveyor", "roll", belt("CW"))).toMatchObject({ outcome: "succeeded" });
    disk.fill();
    await serveFull(scene, daemon, "first");
    await disk.free();
    await commandsTake(ear, daemon, "first");
    disk.fill();
    await serveFull(scene, daemon, "second");

    // What was there when the disk filled up is there at the next start.
    expect(await daemon.stop()).toBe(0);
    const again = await scene.start();
    expect(opcuaOf(ear)).toMatchObject({ state: "up" });
    const plc = await openPlc(scene.url);
    cleanups.push(() => plc.close());
    expect(await plc.value("Gateway.FleetLinkUp")).toBe(true);
    await slotOnFullDisk(scene, plc);
    await serveFull(scene, again, "third");
    await disk.free();
    await commandsTake(ear, again, "third");
    await slotWithRoom(plc);
    expect(await again.stop()).toBe(0);
  },
  240_000,
);

test.skipIf(!hasMount)(
  "a gateway starts for the first time on a full disk, and serves OPC UA when there is room for a key",
  async () => {
    const scene = await onSmallDisk();
    const { disk, ear } = scene;
    disk.fill();
    const daemon = await scene.start();
    expect(daemon.said()).toContain("opcua cannot write its key and certificate: ENOSPC");
    await ear.on("health", (text) => partsOf(text).opcua?.state === "down");
    await serveFull(scene, daemon, "first");
    await disk.free();
    await commandsTake(ear, daemon, "first");
    const from = Math.max(0, ear.received.entries.length - 1);
    await ear.on("health", (text) => partsOf(text).opcua?.state === "up", from);
    const plc = await openPlc(scene.url);
    cleanups.push(() => plc.close());
    expect(await plc.value("Gateway.FleetLinkUp")).toBe(true);
    expect(await daemon.stop()).toBe(0);
  },
  240_000,
);

const slot = (name: string) => `Robots.${ROBOT}.MissionSlot.${name}`;
const command = (...numbers: readonly number[]) =>
  [
    slot("Command"),
    {
      dataType: "Int32",
      arrayType: "Array",
      value: Int32Array.from([...numbers, ...new Array(12 - numbers.length).fill(0)]),
    },
  ] as const;

/** A start through the slot is void, and says how much room is needed; a stop arrives at the service. */
async function slotOnFullDisk({ simulator }: Scene, plc: Plc): Promise<void> {
  const goal = { destinationId: "Station C" };
  const mission = fromJson(MissionSchema, { cartMission: { navigateMission: { goal } } });
  simulator.control.startMission(ROBOT, "touchscreen", mission);
  await plc.shows(`Robots.${ROBOT}.Mission.State`, 2);
  const before = simulator.control.record(0).at(-1)?.seq ?? 0;

  const start = await plc.nextId(slot("NextId"));
  expect(start).toBeGreaterThanOrEqual(FIRST_WITHOUT_DISK);
  expect(await plc.write(command(start, 1, 1))).toEqual(["Good"]);
  const shown = ["RejectedId", "RejectedError", "RejectedText", "AcceptedId", "DoneId"];
  expect(await Promise.all(shown.map((name) => plc.value(slot(name))))).toEqual([
    start,
    1014,
    expect.stringMatching(
      /the disk is full: .+ MB free, at least .+ are needed.*; nothing was sent, and stops/,
    ),
    0,
    0,
  ]);
  expect(await plc.value(slot("Closed"))).toContain(start);

  const stop = await plc.nextId(slot("NextId"));
  expect(stop).toBeGreaterThanOrEqual(FIRST_WITHOUT_DISK);
  expect(stop).not.toBe(start);
  expect(await plc.write(command(stop, 10))).toEqual(["Good"]);
  await plc.shows(slot("DoneId"), stop);
  expect([await plc.value(slot("AcceptedId")), await plc.value(slot("Outcome"))]).toEqual([stop, 3]);
  const received = simulator.control
    .record(before)
    .flatMap(({ fact }) => (fact.what === "received" ? [fact.operation] : []));
  expect(received).toEqual(["UpdateMission"]);
}

/** Numbers come from the disk again, and start something. */
async function slotWithRoom(plc: Plc): Promise<void> {
  const shown = await plc.follow(slot("NextId"));
  const isKept = (value: unknown) => Number(value) > 0 && Number(value) < FIRST_WITHOUT_DISK;
  await shown.first("a number that the disk keeps", ({ value }) => isKept(value));
  const number = await plc.nextId(slot("NextId"));
  expect(await plc.write(command(number, 10))).toEqual(["Good"]);
  await plc.shows(slot("DoneId"), number);
}

/** What health said of the OPC UA server last. */
function opcuaOf(ear: MqttEar) {
  return partsOf(ear.texts("health").at(-1) ?? "{}").opcua;
}
