import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openMemory } from "../../../src/northbound/opcua/opcua-store.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createMemoryDisk, type MemoryDisk } from "../../support/memory-tables.ts";
import { batteryChange, conveyorChange, robotChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let folder: string;
let running: RunningServer;
let plc: Caller;

let disk: MemoryDisk;
const openKept = () => openMemory(join(folder, "slots"), disk.open(), silentLog);

async function start(options: Parameters<typeof startServer>[0] = {}): Promise<void> {
  running = await startServer(options, { openMemory: openKept });
  plc = await openSession(running.url);
}
async function stop(): Promise<void> {
  await plc.close();
  await running.stop();
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "robots-"));
  disk = createMemoryDisk();
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The robot is heard of, with a conveyor. */
async function meet(): Promise<void> {
  running.server.write({
    changes: [robotChange("r9", "good"), batteryChange("r9", 50), conveyorChange("r9", 2)],
    events: [],
  });
  while (running.server.health().figures?.robotsWaiting !== 0) await new Promise(setImmediate);
  expect(await plc.value("Robots.r9.Present")).toBe(true);
}

it("a robot that was seen once keeps its nodes, and is not said to be there", async () => {
  await meet();
  for (let starts = 0; starts < 2; starts += 1) {
    await stop();
    await start();
    expect(await plc.value("Robots.r9.Present")).toBe(false);
    expect(await plc.value("Robots.r9.Valid")).toBe(false);
    expect(await plc.value("Robots.r9.Family")).toBe("cart");
    for (const name of ["Battery.ChargePercent", "Conveyors.2.Loaded"]) {
      const { statusCode, value } = await plc.read(`Robots.r9.${name}`);
      expect([statusCode, value.value]).toEqual([StatusCodes.BadWaitingForInitialData, null]);
    }
    expect(await plc.nextId("Robots.r9.ConveyorSlot.NextId")).toBeGreaterThan(0);
  }
});

it("every robot that is known has its nodes for every client, heard of or not", async () => {
  await stop();
  const robots = Array.from({ length: 60 }, (_unused, index) => ({
    robotId: `known-${index}`,
    alias: null,
    number: null,
    family: "cart" as const,
    conveyorIndexes: [0, 1],
  }));
  running = await startServer({ robots }, { openMemory: openKept });
  expect(running.server.health().figures?.robotsWaiting).toBeGreaterThan(0);
  plc = await openSession(running.url);
  for (const { robotId } of robots.toReversed()) {
    expect((await plc.read(`Robots.${robotId}.Conveyors.1.Loaded`)).statusCode).toBe(
      StatusCodes.BadWaitingForInitialData,
    );
  }
});

it("its values come to the nodes that it had", async () => {
  await meet();
  await stop();
  await start();
  running.server.write({ changes: [robotChange("r9", "good"), batteryChange("r9", 51)], events: [] });
  expect(await plc.value("Robots.r9.Battery.ChargePercent")).toBe(51);
  expect(await plc.value("Robots.r9.Present")).toBe(true);
});

it("an alias that it is given later names its nodes", async () => {
  await meet();
  await stop();
  await start({
    robots: [{ robotId: "r9", alias: "AMR09", number: null, family: "unknown", conveyorIndexes: [0] }],
  });
  expect(await plc.value("Robots.AMR09.Family")).toBe("cart");
  expect((await plc.read("Robots.AMR09.Conveyors.0.Loaded")).statusCode).toBe(
    StatusCodes.BadWaitingForInitialData,
  );
  expect((await plc.read("Robots.AMR09.Conveyors.2.Loaded")).statusCode).toBe(
    StatusCodes.BadWaitingForInitialData,
  );
  expect((await plc.read("Robots.r9.Valid")).statusCode).toBe(StatusCodes.BadNodeIdUnknown);
});
