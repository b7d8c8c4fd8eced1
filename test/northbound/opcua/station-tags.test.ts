import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ActTargets } from "../../../src/commands/acts/performers.ts";
import type { PermitState, Permits } from "../../../src/contracts/stations.ts";
import type { Quality } from "../../../src/domain/observed.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import { type StationSight, unknownSight } from "../../../src/domain/station-sight.ts";
import { noCounters, type VisibleStation } from "../../../src/domain/station-visits.ts";
import { allowedRights } from "../../support/allowed-rights.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { type Caller, noStations, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { int32 } from "./slots-harness.ts";

const on = { dataType: "Boolean", value: true } as const;
const off = { dataType: "Boolean", value: false } as const;
const clock = createManualClock();
let running: RunningServer;
let plc: Caller;
let asked: string[] = [];
let permit: PermitState;
let mayUse = true;

/** What the station `gate` shows when its nodes are made. */
const before: VisibleStation = {
  sight: { ...unknownSight, quality: "stale", here: { robotId: "r1", hasArrived: true } },
  counters: { ...noCounters(0), cycles: 7 },
};

const permits: Permits & ActTargets["permits"] = {
  write(station, { name }, isGiven) {
    asked.push(`write ${station} ${name} ${isGiven}`);
    if (!mayUse) return refusal("NOT_ALLOWED", "no user of it");
    permit = { ...permit, isGiven, reason: isGiven ? "" : "Permit is FALSE" };
    return null;
  },
  heartbeat: (station, { name }) => void asked.push(`heartbeat ${station} ${name}`),
  permitOf: () => permit,
};

beforeEach(async () => {
  asked = [];
  mayUse = true;
  permit = { isRequired: true, isGiven: false, reason: "not yet" };
  running = await startServer(
    {
      robots: [{ robotId: "r1", alias: "AMR01", number: 7, family: "cart", conveyorIndexes: [] }],
      stations: [
        { name: "dock", needsPermit: true, load: null },
        { name: "gate", needsPermit: false, load: null },
      ],
    },
    {
      clock,
      permits,
      resetCounters: (station) => asked.push(`reset ${station}`),
      rights: {
        ...allowedRights,
        refusedStation: () => (mayUse ? null : "no user of it"),
      },
      stations: { ...noStations, leased: () => [], shown: (station) => (station === "gate" ? before : null) },
    },
  );
  plc = await openSession(running.url);
});
afterEach(async () => {
  await plc.close();
  await running.stop();
});

const tag = (name: string) => `Stations.dock.${name}`;
function show(sight: Partial<StationSight>): void {
  const shown = {
    sight: { ...unknownSight, ...sight },
    counters: { ...noCounters(0), cycles: 3, cycleLastMs: 1_500 },
  };
  running.server.write({ changes: [{ kind: "station", station: "dock", shown }], events: [] });
}
const read = async (...names: string[]) => {
  const values = await Promise.all(names.map((name) => plc.read(tag(name))));
  return values.map(({ value, statusCode }) => [value.value, statusCode.name]);
};
const here = {
  here: { robotId: "r1", hasArrived: true },
  count: 1,
  conveyors: [
    { index: 2, isLoaded: true, isRolling: false },
    { index: 9, isLoaded: true, isRolling: true },
  ],
};
const good = { quality: "good", conveyorQuality: "good", nextQuality: "good" } as const;
const flags = ["RobotHere", "RobotHereNo", "RobotHereName", "Arrived", "NextRobot"];

it("shows a station, and of what is not good only the status code", async () => {
  expect(await read("RobotHere", "Counters.Cycles")).toEqual(
    new Array(2).fill([null, "BadWaitingForInitialData"]),
  );
  show({ ...good, ...here, next: { robotId: "stranger", goalsBefore: 2 } });
  expect(await read("Valid", ...flags)).toEqual(
    [true, true, 7, "AMR01", true, true].map((value) => [value, "Good"]),
  );
  expect(await read("NextRobotNo", "NextRobotName", "NextRobotGoalsBefore")).toEqual(
    [0, "stranger", 2].map((value) => [value, "Good"]),
  );
  const [loaded, rolling] = await read("Loaded", "Rolling");
  expect(loaded?.[0]).toEqual([false, false, true, false, false, false, false, false]);
  expect(rolling?.[0]).toEqual(new Array(8).fill(false));
  expect(await read("Counters.Cycles", "Counters.CycleLast", "Counters.Since")).toEqual(
    [3, 1.5, new Date(0)].map((value) => [value, "Good"]),
  );

  const shownAs: ReadonlyArray<readonly [Quality, string, readonly unknown[]]> = [
    ["stale", "UncertainLastUsableValue", [false, 0, "", false, false]],
    ["offline", "UncertainNoCommunicationLastUsableValue", [false, 0, "", false, false]],
    ["lost", "BadNoCommunication", [null, null, null, null, null]],
  ];
  for (const [quality, status, values] of shownAs) {
    show({ quality, conveyorQuality: quality, nextQuality: quality });
    expect(await read(...flags)).toEqual(values.map((value) => [value, status]));
    expect(await read("Valid")).toEqual([[false, "Good"]]);
  }
  show({ ...good, ...here, conveyorQuality: "stale" });
  expect(await read("RobotHere", "Valid")).toEqual([
    [true, "Good"],
    [false, "Good"],
  ]);
});

it("shows what a station showed before its nodes were made", async () => {
  const found = await plc.read("Stations.gate.RobotHereName");
  expect([found.value.value, found.statusCode.name]).toEqual(["AMR01", "UncertainLastUsableValue"]);
  expect((await plc.read("Stations.gate.Counters.Cycles")).value.value).toBe(7);
  expect(await read("RobotHere")).toEqual([[null, "BadWaitingForInitialData"]]);
});

it("takes the permit and the reset of users of the station, and no others", async () => {
  expect(await read("Permit", "Permitted", "NotPermittedReason")).toEqual(
    [false, false, "not yet"].map((value) => [value, "Good"]),
  );
  expect(await plc.write([tag("Permit"), on])).toEqual([StatusCodes.Good]);
  expect(await read("Permit", "Permitted", "NotPermittedReason")).toEqual(
    [true, true, ""].map((value) => [value, "Good"]),
  );
  permit = { isRequired: true, isGiven: false, reason: "lapsed" };
  clock.advance(1_000);
  expect(await read("Permit", "Permitted", "NotPermittedReason")).toEqual(
    [true, false, "lapsed"].map((value) => [value, "Good"]),
  );
  expect(await plc.write([tag("Permit"), int32(1)])).toEqual([StatusCodes.BadTypeMismatch]);
  const resets = [on, on, off, on].map((value) => [tag("Counters.Reset"), value] as const);
  expect(await plc.write(...resets)).toEqual(new Array(4).fill(StatusCodes.Good));
  expect(asked).toEqual(["write dock anonymous true", "reset dock", "reset dock"]);

  mayUse = false;
  const denied = await plc.write(
    [tag("Permit"), off],
    [tag("Counters.Reset"), off],
    [tag("Counters.Reset"), on],
  );
  expect(denied).toEqual(new Array(3).fill(StatusCodes.BadUserAccessDenied));
  expect(asked).toHaveLength(4);
  expect((await plc.read("Stations.gate.Permit")).statusCode).toBe(StatusCodes.BadNodeIdUnknown);
});

it("does not take the first number of a session for a heartbeat of the permit", async () => {
  const beat = (value: number) => plc.write([tag("Slot.Heartbeat"), int32(value)]);
  await beat(1);
  await beat(1);
  expect(asked).toEqual([]);
  await beat(2);
  expect(asked).toEqual(["heartbeat dock anonymous"]);
  await plc.close();
  plc = await openSession(running.url);
  await beat(2);
  expect(asked).toHaveLength(1);
});
