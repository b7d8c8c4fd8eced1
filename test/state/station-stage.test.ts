import { beforeEach, expect, it } from "vitest";
import type { StateChange } from "../../src/domain/change.ts";
import type { Quality } from "../../src/domain/observed.ts";
import type { VisibleStation } from "../../src/domain/station-visits.ts";
import { createLive, type Live } from "../../src/platform/live.ts";
import type { WriteBehind } from "../../src/platform/stores/write-behind.ts";
import { createStationStage, type StationStage } from "../../src/state/station-stage.ts";
import { createFakeState } from "../delivery/fake-state.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryDisk, type MemoryDisk } from "../support/memory-tables.ts";

let disk: MemoryDisk;
let tables: WriteBehind;
let clock = createManualClock();
beforeEach(() => {
  disk = createMemoryDisk();
  tables = disk.open();
  clock = createManualClock();
});

const stations = [
  { name: "dock", destinations: ["P7"] },
  { name: "gate", destinations: ["P8"] },
];
const open = (list: Live<typeof stations> = createLive(stations)): StationStage =>
  createStationStage(list, tables, clock);
const viewOf = (stage: StationStage) => stage.view?.(createFakeState()) ?? expect.fail("it has no view");
const apply = (stage: StationStage, ...changes: StateChange[]) =>
  stage.apply({ changes, events: [] }, () => expect.fail("a station waits for nothing")).changes;
const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs: 0 };
const robot = (quality: Quality): StateChange => ({ kind: "robot", robotId: "r1", family: "cart", quality });
const at = (position: string): StateChange => {
  const value = { amrId: 1, mapId: 1, position, stateId: "", taskChainId: 0, info: {} };
  return { kind: "presence", robotId: "r1", observed: { value, stamp, quality: "good" } };
};

/** What these changes make the stations show: the name of each, and the robot that is here. */
function see(stage: StationStage, ...changes: StateChange[]) {
  return stationsOf(apply(stage, ...changes)).map(({ station, shown }) => [
    station,
    shown.sight.here?.robotId ?? null,
    shown.sight.quality,
  ]);
}
function stationsOf(changes: readonly StateChange[]) {
  return changes.flatMap((change) => (change.kind === "station" ? [change] : []));
}
function shownOf(stage: StationStage, name: string): VisibleStation {
  const found = stationsOf(viewOf(stage).snapshot()).find(({ station }) => station === name);
  if (found === undefined) throw new Error(`there is no station ${name}`);
  return found.shown;
}

it("tells a station once that shows something else, and no other", () => {
  const stage = open();
  expect(see(stage, robot("good"))).toEqual([
    ["dock", null, "good"],
    ["gate", null, "good"],
  ]);
  expect(see(stage, at("P1"))).toEqual([]);
  expect(see(stage, at("P7"))).toEqual([["dock", "r1", "good"]]);
  expect(see(stage, at("P7"))).toEqual([]);
  expect(see(stage, at("P8"))).toEqual([
    ["dock", null, "good"],
    ["gate", "r1", "good"],
  ]);
  expect(see(stage, robot("stale"))).toEqual([
    ["dock", null, "stale"],
    ["gate", null, "stale"],
  ]);
});

it("passes a batch on as it is where there are no stations", () => {
  const batch = { changes: [robot("good")], events: [] };
  expect(open(createLive<typeof stations>([])).apply(batch, () => {})).toBe(batch);
});

it("answers with what a station shows now, and with the very change while that is the same", () => {
  const stage = open();
  see(stage, robot("good"), at("P7"));
  const [change] = stationsOf(viewOf(stage).snapshot());
  if (change === undefined) throw new Error("it shows nothing");
  expect(viewOf(stage).current(change)).toBe(change);
  see(stage, at("P1"));
  expect(viewOf(stage).current(change)).toMatchObject({ shown: { sight: { here: null } } });
  expect(viewOf(stage).current(robot("good"))).toEqual(robot("good"));
});

it("keeps what it has counted over a restart, and counts a visit that was cut off as aborted", async () => {
  const first = open();
  see(first, robot("good"), at("P7"));
  clock.advance(2_000);
  see(first, at("P1"));
  see(first, at("P7"));
  await tables.flushed();
  const second = open();
  expect(shownOf(second, "dock").counters).toMatchObject({ cycles: 1, aborted: 1, cycleLastMs: 2_000 });
  expect(shownOf(second, "dock").sight).toMatchObject({ here: null, quality: "unknown" });
  expect(shownOf(second, "gate").counters).toMatchObject({ cycles: 0, aborted: 0 });
  see(second, robot("good"), at("P7"));
  await tables.flushed();
  expect(shownOf(open(), "dock").counters).toMatchObject({ cycles: 1, aborted: 2 });
});

it("counts from 0 again when it is reset, over a restart too", async () => {
  const stage = open();
  see(stage, robot("good"), at("P7"));
  see(stage, at("P1"));
  clock.advance(1_000);
  const [change] = stationsOf(stage.reset("dock").changes);
  expect(change?.shown.counters).toMatchObject({ cycles: 0, sinceMs: clock.nowMs() });
  expect(stage.reset("nope").changes).toEqual([]);
  await tables.flushed();
  expect(shownOf(open(), "dock").counters).toMatchObject({ cycles: 0, sinceMs: clock.nowMs() });
});

it.each([[], { cycles: "many" }, null, { cycles: -1, isVisited: false }])(
  "begins at 0 with a record of %j",
  async (record) => {
    disk.records.set("stations/dock", record);
    const stage = open();
    expect(shownOf(stage, "dock").counters).toMatchObject({ cycles: 0, aborted: 0 });
    see(stage, robot("good"), at("P7"));
    await tables.flushed();
    expect(disk.records.get("stations/dock")).toMatchObject({ cycles: 0, isVisited: true });
  },
);

it("goes on with other stations and destinations, and keeps the counters of those that stay", async () => {
  const list = createLive([{ name: "dock", destinations: ["P7"] }]);
  const stage = open(list);
  see(stage, robot("good"));
  see(stage, at("P7"));
  see(stage, at("P1"));
  see(stage, at("P7"));
  const counted = shownOf(stage, "dock").counters;
  expect(counted.cycles).toBe(1);

  list.replace([...list.now(), { name: "gate", destinations: ["P7"] }]);
  const added = stationsOf(stage.review([]).changes);
  expect(added.map(({ station, shown }) => [station, shown.sight.here?.robotId])).toEqual([
    ["dock", "r1"],
    ["gate", "r1"],
  ]);
  expect(shownOf(stage, "dock").counters).toEqual(counted);

  // The robot did not leave: no cycle is counted.
  await tables.flushed();
  expect([...disk.records.keys()]).toEqual(["stations/dock", "stations/gate"]);
  list.replace([{ name: "dock", destinations: ["P9"] }]);
  expect(stage.review([]).changes.map((change) => change.kind)).toEqual(["station_removed", "station"]);
  expect(shownOf(stage, "dock").counters).toMatchObject({ cycles: 1, aborted: 1 });
  expect(
    viewOf(stage)
      .snapshot()
      .map((change) => ("station" in change ? change.station : "")),
  ).toEqual(["dock"]);
  await tables.flushed();
  expect([...disk.records.keys()]).toEqual(["stations/dock"]);
  // What waits in a queue for a station that is gone becomes its end.
  expect(viewOf(stage).current(added[1] as StateChange)).toEqual({
    kind: "station_removed",
    station: "gate",
  });

  list.replace([...list.now(), { name: "gate", destinations: ["P7"] }]);
  expect(stationsOf(stage.review([]).changes).map(({ station }) => station)).toEqual(["dock", "gate"]);
  expect(shownOf(stage, "gate").counters.aborted).toBe(0);
});

it("knows the robots of before the first station", () => {
  const list = createLive<typeof stations>([]);
  const stage = open(list);
  see(stage, robot("good"), at("P7"));
  list.replace([{ name: "dock", destinations: ["P7"] }]);
  const [change] = stationsOf(stage.review([robot("good"), at("P7")]).changes);
  expect(change?.shown.sight.here?.robotId).toBe("r1");
});
