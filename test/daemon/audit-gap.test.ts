import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { listenMqtt, type MqttEar } from "../e2e/mqtt-ear.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { type Daemon, startDaemon, writeConfiguration } from "./daemon.ts";

const ROBOT = "cart-01";
const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A gateway that takes commands for the robot. */
async function live(config: string, ear: MqttEar): Promise<Daemon> {
  const from = ear.received.entries.length;
  const daemon = startDaemon(config);
  cleanups.push(() => daemon.kill());
  await ear.on(`robots/${ROBOT}/availability`, (text) => text === "good", from);
  return daemon;
}

async function linesOf(path: string): Promise<readonly string[]> {
  return (await readFile(path, "utf8")).trim().split("\n");
}

test("audit lines that a power cut has taken are there after the next start, marked, and no line is there twice", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-audit-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const simulator = await startSimulator({});
  cleanups.push(() => simulator.stop());
  const broker = await startPlantBroker();
  cleanups.push(() => broker.close());
  const ear = await listenMqtt(broker.url, "scada", "fleetgate/gap");
  cleanups.push(() => ear.close());
  const config = await writeConfiguration(folder, "gap", simulator.endpoints, [ROBOT], broker.url);
  const audit = join(folder, "data", "audit", "audit.jsonl");

  const first = await live(config, ear);
  const navigateMission = { goal: { destinationId: "Station A" } };
  const request = { robotId: ROBOT, mission: { baseMission: { navigateMission } } };
  for (const operation of ["CreateMission", "AppendMission", "AppendMission"]) {
    expect(await ear.send(operation, randomUUID(), request)).toMatchObject({ outcome: "succeeded" });
  }
  // A reply may be here before the line is.
  await vi.waitFor(async () => expect(await linesOf(audit)).toHaveLength(3), 20_000);
  await first.kill();
  const told = await linesOf(audit);
  // What a power cut leaves of lines that were not synced: one whole, and a piece of the next.
  const kept = `${told[0]}\n${told[1]?.slice(0, 40)}`;
  await truncate(audit, Buffer.byteLength(kept));

  const second = await live(config, ear);
  await second.kill();
  const after = await linesOf(audit);
  expect(after.slice(0, 2).join("\n")).toBe(kept);
  const madeUp = after.slice(2).map((line) => JSON.parse(line));
  expect(madeUp.map(({ recorded_after_restart: at, ...line }) => [JSON.stringify(line), typeof at])).toEqual([
    [told[1], "string"],
    [told[2], "string"],
  ]);

  const third = await live(config, ear);
  expect(await third.stop()).toBe(0);
  expect(await linesOf(audit)).toEqual(after);
}, 60_000);
