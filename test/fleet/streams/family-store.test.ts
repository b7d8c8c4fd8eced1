import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FoundFamily, openFamilyStore } from "../../../src/fleet/streams/family-store.ts";
import { familiesFolder } from "../../../src/fleet/streams/streams.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { type FleetHarness, type FleetOverrides, startFleetSession } from "../../support/fleet-harness.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

let folder = "";
let simulator: RunningSimulator;
const harnesses: FleetHarness[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-families-"));
  simulator = await startSimulator();
});
afterEach(async () => {
  for (const harness of harnesses.splice(0)) if (!harness.isStopped()) await harness.stop();
  await simulator.stop();
  await rm(folder, { recursive: true });
});

async function start(overrides: FleetOverrides = {}): Promise<FleetHarness> {
  const harness = await startFleetSession(simulator.endpoints, { cacheDirectory: folder, ...overrides });
  harnesses.push(harness);
  return harness;
}

/** Until the conveyors of every cart are read and no family is asked for. */
async function allKnown(harness: FleetHarness): Promise<void> {
  await harness.event("conveyors");
  await harness.until("all streams are open", () => {
    const { robots = 0, families_pending, streams_open, streams_wanted } = harness.health().figures ?? {};
    return robots > 2 && families_pending === 0 && streams_open === streams_wanted;
  });
}

async function remember(families: Readonly<Record<string, FoundFamily>>): Promise<void> {
  const memory = await openFamilyStore(familiesFolder(folder), systemClock, silentLog);
  for (const [robotId, family] of Object.entries(families)) memory.note(robotId, family);
  await memory.close();
}

async function recalled(...robotIds: readonly string[]): Promise<readonly (FoundFamily | null)[]> {
  const memory = await openFamilyStore(familiesFolder(folder), systemClock, silentLog);
  try {
    return robotIds.map(memory.recall);
  } finally {
    await memory.close();
  }
}

/** From now on no question for a family is answered. */
function answerNoFamily(): void {
  const { kind, effect, count } = { kind: "command", effect: "internal-before", count: 1_000_000 } as const;
  simulator.control.apply({ kind, operation: "GetConveyorIndex", effect, count });
}

function familiesTold(harness: FleetHarness, robotId: string): readonly string[] {
  return harness.events.flatMap((event) =>
    event.kind === "robot" && event.robotId === robotId ? [event.family] : [],
  );
}

test("a restart asks for no family that was found out before, and tells a cart when its conveyors have come", async () => {
  const first = await start();
  await allKnown(first);
  await first.stop();

  answerNoFamily();
  const second = await start();
  await allKnown(second);
  expect(second.figure("streams_wanted")).toBe(first.figure("streams_wanted"));
  await second.event("robot", ({ robotId, family }) => robotId === "cart-01" && family === "cart");
  expect(familiesTold(second, "cart-01")).toEqual(["unknown", "cart"]);
  expect(familiesTold(second, "serve-01")).toEqual(["unknown"]);
});

test("a robot that is wrongly remembered as a cart is asked about, shown as no cart, and no longer remembered as one", async () => {
  await remember({ "serve-01": "cart" });
  const harness = await start();
  await allKnown(harness);
  await harness.stop();
  expect(familiesTold(harness, "serve-01")).toEqual(["unknown"]);
  expect(
    harness.events.filter((event) => event.kind === "conveyors" && event.robotId === "serve-01"),
  ).toEqual([]);
  expect(harness.health().figures?.robots_refused).toBe(0);
  expect(await recalled("serve-01", "cart-01")).toEqual(["other", "cart"]);
});

test("a cart that is wrongly remembered as another robot is found, and remembered", async () => {
  await remember({ "cart-01": "other" });
  const harness = await start();
  await harness.event("robot", ({ robotId, family }) => robotId === "cart-01" && family === "cart");
  await harness.event("conveyors", ({ robotId }) => robotId === "cart-01");
  await harness.stop();
  expect(await recalled("cart-01")).toEqual(["cart"]);
});

test("where the memory cannot be kept, robots are asked about as without one", async () => {
  await writeFile(join(folder, "families"), "no folder");
  const harness = await start();
  await allKnown(harness);
  expect(familiesTold(harness, "cart-01")).toEqual(["unknown", "cart"]);
});
