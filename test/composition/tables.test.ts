import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openTables } from "../../src/composition/tables.ts";
import { openRobotRegister } from "../../src/northbound/opcua/robot-register.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryDisk, type MemoryDisk } from "../support/memory-tables.ts";

let dataDir: string;
let disk: MemoryDisk;
let clock: ReturnType<typeof createManualClock>;
let isOnTrial: boolean;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "tables-"));
  disk = createMemoryDisk();
  clock = createManualClock();
  isOnTrial = false;
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const robot = (robotId: string) => ({ robotId, family: "base", conveyorIndexes: [] }) as const;

/** Leaves the robot in the data folder, as a restore does. */
function restore(robotId: string): void {
  put(JSON.stringify({ robots: { [robotId]: robot(robotId) } }));
}
function put(text: string): void {
  writeFileSync(join(dataDir, "tables.json"), text);
}
const open = () =>
  openTables(async () => disk.store, dataDir, { clock, log: silentLog, isOnTrial: () => isOnTrial });
const robotsOf = async () => openRobotRegister(await open()).seen.map(({ robotId }) => robotId);
const left = () => readdirSync(dataDir);

it("what a restore has left takes the place of what there is, once", async () => {
  const tables = await open();
  openRobotRegister(tables).note(robot("r1"));
  await tables.close();
  restore("r2");
  expect(await robotsOf()).toEqual(["r2"]);
  expect(left()).toEqual([]);
  expect(await robotsOf()).toEqual(["r2"]);
});

it("a file that the tables do not take stays, and the next start takes it", async () => {
  restore("r1");
  disk.isFull = true;
  expect(await robotsOf()).toEqual([]);
  expect(left()).toEqual(["tables.json"]);
  disk.isFull = false;
  expect(await robotsOf()).toEqual(["r1"]);
  expect(left()).toEqual([]);
});

it("a crash before the file is removed loses nothing: it is taken again", async () => {
  restore("r1");
  await open();
  restore("r1");
  expect(await robotsOf()).toEqual(["r1"]);
});

it.each(["{", "[]", '{"robots":[]}'])("a file with %s is put aside", async (text) => {
  put(text);
  expect(await robotsOf()).toEqual([]);
  expect(left()).toEqual(["tables.json.damaged"]);
});

it("a version on trial leaves the file to the earlier one, until the trial is over", async () => {
  restore("r1");
  isOnTrial = true;
  expect(await robotsOf()).toEqual(["r1"]);
  expect(left()).toEqual(["tables.json"]);
  // The trial has failed: another restore is made, and the next trial takes that.
  restore("r2");
  expect(await robotsOf()).toEqual(["r2"]);
  isOnTrial = false;
  clock.advance(1_000);
  expect(left()).toEqual([]);
});
