import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openTables, type Tables } from "../../src/composition/tables.ts";
import { openPublishedTopics } from "../../src/northbound/mqtt/published-topics.ts";
import { openRobotRegister } from "../../src/northbound/opcua/robot-register.ts";
import { createLive } from "../../src/platform/live.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createAlarmStore } from "../../src/state/alarm-store.ts";
import { createStationStage } from "../../src/state/station-stage.ts";
import { external, mqttOptions } from "../northbound/mqtt/mqtt-harness.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryDisk, type MemoryDisk } from "../support/memory-tables.ts";
import { standingAlarm } from "../support/test-alarms.ts";

const alarm = standingAlarm("ROBOT_LOST", "r1");
const counters = {
  sinceMs: 1,
  cycles: 2,
  aborted: 3,
  waitingLastMs: 4,
  waitingTotalMs: 5,
  cycleLastMs: 6,
  cycleTotalMs: 7,
};
const topicsOf = (broker: string) => ({
  broker,
  rules: "rules",
  chains: "chains/+",
  sessions: ["s1"],
  topics: { "b/r1/info": ["b/r1/info", "b/r1/mission"] },
});
/** As the version before the tables has written them. */
const files = {
  "opcua/robots.json": [
    { robotId: "r1", family: "cart", conveyorIndexes: [1, 2] },
    { robotId: "", family: "cart", conveyorIndexes: [] },
  ],
  "stations.json": { dock: { ...counters, isVisited: false } },
  "alarms.json": { alarms: [alarm], outOfService: ["r9"], lastId: 9 },
  "mqtt/topics.json": topicsOf("mqtt://plant"),
  "mqtt/topics-0123456789abcdef.json": topicsOf("mqtt://fallback"),
};

let dataDir: string;
let disk: MemoryDisk;
let clock: ReturnType<typeof createManualClock>;
let isOnTrial: boolean;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "earlier-files-"));
  disk = createMemoryDisk();
  clock = createManualClock();
  isOnTrial = false;
  for (const [name, json] of Object.entries(files)) put(name, JSON.stringify(json));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(dataDir, name)), { recursive: true });
  writeFileSync(join(dataDir, name), text);
}
const open = () =>
  openTables(async () => disk.store, dataDir, { clock, log: silentLog, isOnTrial: () => isOnTrial });
const left = () =>
  readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((name) => /json/.test(name));

function topicsLeft(tables: Tables, url: string): readonly string[] {
  const options = mqttOptions({ broker: external(url) });
  return [...openPublishedTopics({ options, chainFilter: "", sessionId: "s2", tables }).left.keys()];
}

function expectAll(tables: Tables): void {
  expect(openRobotRegister(tables).seen).toEqual(files["opcua/robots.json"].slice(0, 1));
  expect(createAlarmStore(tables).load()).toEqual(files["alarms.json"]);
  const stations = createLive([{ name: "dock", destinations: [] }]);
  expect(createStationStage(stations, tables, clock).shown("dock")?.counters).toEqual(counters);
  for (const url of ["mqtt://plant", "mqtt://fallback"])
    expect(topicsLeft(tables, url)).toEqual(["b/r1/info", "b/r1/mission"]);
  expect(topicsLeft(tables, "mqtt://other")).toEqual([]);
}

it("what an earlier version has kept is taken once", async () => {
  expectAll(await open());
  expect(left()).toEqual([]);
  expectAll(await open());
});

it("files that the tables do not take stay, and the next start takes them", async () => {
  disk.isFull = true;
  const tables = await open();
  expect(openRobotRegister(tables).seen).toEqual([]);
  expect(left()).toHaveLength(5);
  disk.isFull = false;
  expectAll(await open());
  expect(left()).toEqual([]);
});

it("a crash before a file is removed loses nothing: it is taken again", async () => {
  const before = left().map((name) => [name, readFileSync(join(dataDir, name), "utf8")] as const);
  await open();
  for (const [name, text] of before) put(name, text);
  expectAll(await open());
});

it("a file that cannot be read is put aside, and the others are taken", async () => {
  put("stations.json", "{");
  put("alarms.json", "[]");
  const tables = await open();
  expect(openRobotRegister(tables).seen).toHaveLength(1);
  expect(createAlarmStore(tables).load().alarms).toEqual([]);
  expect(left().sort()).toEqual(["alarms.json.damaged", "stations.json.damaged"]);
});

it("a version on trial leaves the files to the earlier one, until the trial is over", async () => {
  isOnTrial = true;
  expectAll(await open());
  expect(left()).toHaveLength(5);
  // The trial has failed: the earlier version goes on, and the next trial takes what it has written.
  put("stations.json", JSON.stringify({ dock: { ...counters, cycles: 8, isVisited: false } }));
  const tables = await open();
  const stations = createLive([{ name: "dock", destinations: [] }]);
  expect(createStationStage(stations, tables, clock).shown("dock")?.counters.cycles).toBe(8);
  isOnTrial = false;
  clock.advance(1_000);
  expect(left()).toEqual([]);
});

it("the export of a backup takes the place of what there is", async () => {
  const tables = await open();
  openRobotRegister(tables).note({ robotId: "r2", family: "serve", conveyorIndexes: [] });
  await tables.close();
  put(
    "tables.json",
    JSON.stringify({ robots: { r3: { robotId: "r3", family: "base", conveyorIndexes: [] } } }),
  );
  const restored = await open();
  expect(openRobotRegister(restored).seen.map(({ robotId }) => robotId)).toEqual(["r3"]);
  expect(createAlarmStore(restored).load()).toEqual(files["alarms.json"]);
  expect(existsSync(join(dataDir, "tables.json"))).toBe(false);
});
