import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { listenMqtt, type MqttEar } from "../e2e/mqtt-ear.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { startDaemon, writeConfiguration } from "./daemon.ts";

/** Sets a limit on a process's files: a full disk that needs no disk. */
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;
if (!hasPrlimit) {
  if (process.env.CI) throw new Error("prlimit is not installed, and CI must run its tests");
  process.stderr.write("prlimit is not installed: the test of a full disk is skipped\n");
}

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** No file of the process may have more bytes. */
function limitFiles(pid: number, bytes: string): void {
  const done = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]);
  if (done.status !== 0) throw new Error(`prlimit: ${done.stderr}`);
}

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
  const from = Math.max(0, ear.heard.entries.length - 1);
  const { text } = await ear.on("health", (each) => partsOf(each).commands?.state === state, from);
  return partsOf(text).commands ?? {};
}

function partsOf(text: string): Record<string, { state: string; detail?: string } | undefined> {
  const health = JSON.parse(text) as { parts?: Record<string, { state: string; detail?: string }> };
  return health.parts ?? {};
}

test.skipIf(!hasPrlimit)(
  "a full disk refuses what moves or changes, with a reason, lets stops pass, and keeps data flowing",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-full-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const simulator = await startSimulator({ timeFactor: 5 });
    cleanups.push(() => simulator.stop());
    const broker = await startPlantBroker();
    cleanups.push(() => broker.close());
    const ear = await listenMqtt(broker.url, "scada", "fleetgate/full");
    cleanups.push(() => ear.close());
    const config = await writeConfiguration(folder, "full", simulator.endpoints, [ROBOT], broker.url);
    const daemon = startDaemon(config);
    cleanups.push(() => daemon.kill());
    await ear.on(`robots/${ROBOT}/availability`, (text) => text === "good");
    expect(await ear.send("ControlConveyor", "roll", belt("CW"))).toMatchObject({ outcome: "succeeded" });

    limitFiles(daemon.pid, "4096");
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
    const from = ear.heard.entries.length;
    simulator.control.happen({ kind: "battery", robotId: ROBOT, percent: 33.9 });
    await ear.on(`robots/${ROBOT}/battery`, (text) => /"(charge_)?percent\w*":33/.test(text), from);

    limitFiles(daemon.pid, "unlimited");
    expect(await ear.send("CreateMission", "later", toStation("Station D"))).toMatchObject({
      outcome: "succeeded",
    });
    await commandsAre(ear, "up");
    expect(await daemon.stop()).toBe(0);
  },
  60_000,
);
