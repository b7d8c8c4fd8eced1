import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ActRequest } from "../../../src/contracts/acts.ts";
import type { ActName } from "../../../src/domain/acts.ts";
import type { AlarmSource } from "../../../src/domain/alarm.ts";
import { ending, type Outcome, refusal } from "../../../src/domain/outcome.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { noAlarms, standingAlarm } from "../../support/test-alarms.ts";
import { robotChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { text } from "./slots-harness.ts";

const station = { name: "dock", needsPermit: false, load: null } as const;
const cleanups: Array<() => Promise<unknown>> = [];
let running: RunningServer;
let clock: ManualClock;
let asked: Array<readonly [ActName, ActRequest]>;
let answer: Outcome;
let storeProblem: string | null;

function user(name: string, role: OpcUaUser["role"]): OpcUaUser {
  return { name, role, number: null, secret: { kind: "plain", text: "pw" } };
}

beforeEach(async () => {
  [asked, answer, storeProblem] = [[], ending("succeeded", "OK", "", true), null];
  clock = createManualClock(Date.now());
  const robots = [{ robotId: "r1", alias: "AMR01", number: 7, family: "cart", conveyorIndexes: [] }] as const;
  const run = (name: ActName, request: ActRequest) => {
    asked.push([name, request]);
    return answer;
  };
  const alarms = {
    storeProblem: async () => storeProblem,
    shown: noAlarms.shown,
  };
  running = await startServer(
    { robots, users: [user("ann", "operator"), user("tv", "observer")] },
    { alarms, clock, acts: { run, refusedRight: () => null } },
  );
  running.server.write({ changes: [robotChange("r1", "good")], events: [] });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await running.stop();
});

async function session(name: string): Promise<Caller> {
  const caller = await openSession(running.url, { user: { name, password: "pw" } });
  cleanups.push(caller.close);
  return caller;
}

const shown = (caller: Caller, folder: string) =>
  Promise.all(["Active", "Count", "HighestSeverity"].map((name) => caller.value(`${folder}.Alarms.${name}`)));
const sixteen = (...lines: readonly string[]) => [...lines, ...new Array(16 - lines.length).fill("")];

describe("the folder Alarms", () => {
  it("shows the robot's alarms, the most urgent first, and those of all", async () => {
    const ann = await session("ann");
    expect(await shown(ann, "Robots.AMR01")).toEqual([sixteen(), 0, 0]);
    const alarms = [standingAlarm("BATTERY_CRITICAL", "r1"), standingAlarm("BATTERY_LOW", "r1")];
    const all = [standingAlarm("DISK_FULL", ""), ...alarms];
    running.server.write({
      changes: [
        { kind: "robot_alarms", robotId: "r1", alarms, isOutOfService: false },
        { kind: "alarms", alarms: all },
      ],
      events: [],
    });
    const lines = ["BATTERY_CRITICAL-1 found", "BATTERY_LOW-1 found"];
    expect(await shown(ann, "Robots.AMR01")).toEqual([sixteen(...lines), 2, 600]);
    expect(await shown(ann, "Gateway")).toEqual([sixteen("DISK_FULL-1 found", ...lines), 3, 700]);
  });

  it("shows the sixteen most urgent of more, and the count of all", async () => {
    const ann = await session("ann");
    const alarms = Array.from({ length: 20 }, (_, index) => standingAlarm(`CONVEYOR_ERROR_${index}`, "r1"));
    running.server.write({
      changes: [{ kind: "robot_alarms", robotId: "r1", alarms, isOutOfService: false }],
      events: [],
    });
    const [active, count] = await shown(ann, "Robots.AMR01");
    expect([active, count]).toEqual([alarms.slice(0, 16).map(({ id }) => `${id} found`), 20]);
  });
});

it("shows from the first read what stood before the server ran", async () => {
  await running.stop();
  const [low, full, lost] = [
    standingAlarm("BATTERY_LOW", "r1"),
    standingAlarm("DISK_FULL", ""),
    standingAlarm("ROBOT_LOST", "r1"),
  ] as const;
  const standing = { gateway: [full, lost, low], robot: [lost, low], station: [low] } as const;
  const shownNow = ({ kind }: AlarmSource) => ({ alarms: standing[kind], isOutOfService: kind === "robot" });
  running = await startServer(
    {
      robots: [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [] }],
      stations: [station],
    },
    { alarms: { ...noAlarms, shown: shownNow } },
  );
  const caller = await openSession(running.url);
  cleanups.push(caller.close);
  expect((await shown(caller, "Gateway"))[1]).toBe(3);
  expect((await shown(caller, "Robots.r1"))[1]).toBe(2);
  expect(await caller.value("Robots.r1.Alarms.OutOfService")).toBe(true);
  expect(await shown(caller, "Stations.dock")).toEqual([sixteen("BATTERY_LOW-1 found"), 1, 300]);
});

describe("a write to Ack", () => {
  it("acknowledges the alarm for the session's user; an empty text does nothing", async () => {
    const ann = await session("ann");
    expect(await ann.write(["Robots.AMR01.Alarms.Ack", text("BATTERY_LOW-1")])).toEqual([StatusCodes.Good]);
    expect(await ann.write(["Gateway.Alarms.Ack", text("")])).toEqual([StatusCodes.Good]);
    const source = { protocol: "opcua", name: "ann" };
    const request = { source, fields: { alarm_id: "BATTERY_LOW-1" }, isTag: true };
    expect(asked).toMatchObject([["AcknowledgeAlarm", request]]);
    expect(await ann.value("Robots.AMR01.Alarms.Ack")).toBe("BATTERY_LOW-1");
  });

  it("shows as Uncertain what is not on the disk, until it is", async () => {
    const ann = await session("ann");
    const path = "Robots.AMR01.Alarms.Ack";
    const shownAck = async () => (await ann.read(path)).statusCode;
    storeProblem = "not on the disk";
    expect(await ann.write([path, text("BATTERY_LOW-1")])).toEqual([StatusCodes.Good]);
    expect(await shownAck()).toBe(StatusCodes.Uncertain);
    storeProblem = null;
    clock.advance(5_000);
    expect(await shownAck()).toBe(StatusCodes.Good);
    expect(await ann.value(path)).toBe("BATTERY_LOW-1");
  });

  it.each([
    ["NOT_ALLOWED", StatusCodes.BadUserAccessDenied],
    ["MALFORMED", StatusCodes.BadNotFound],
    ["SHUTTING_DOWN", StatusCodes.BadShutdown],
  ] as const)("that is refused as %s has a status of its own", async (code, status) => {
    const ann = await session("ann");
    answer = refusal(code, "no");
    expect(await ann.write(["Robots.AMR01.Alarms.Ack", text("x")])).toEqual([status]);
    expect(await ann.value("Robots.AMR01.Alarms.Ack")).toBe("");
  });

  it("of another type, or of an observer, is refused before", async () => {
    const [ann, tv] = [await session("ann"), await session("tv")];
    const number = { dataType: "Int32", value: 1 } as const;
    expect(await ann.write(["Robots.AMR01.Alarms.Ack", number])).toEqual([StatusCodes.BadTypeMismatch]);
    expect(await tv.write(["Robots.AMR01.Alarms.Ack", text("x")])).toEqual([StatusCodes.BadUserAccessDenied]);
    expect(asked).toEqual([]);
  });
});

describe("OutOfService", () => {
  it("is the level that holds, not the write", async () => {
    const ann = await session("ann");
    const path = "Robots.AMR01.Alarms.OutOfService";
    const on = { dataType: "Boolean", value: true } as const;
    expect(await ann.write([path, on])).toEqual([StatusCodes.Good]);
    const fields = { robot_id: "r1", out_of_service: true };
    expect(asked).toMatchObject([["SetOutOfService", { source: { name: "ann" }, fields }]]);
    expect(await ann.value(path)).toBe(false);
    running.server.write({
      changes: [{ kind: "robot_alarms", robotId: "r1", alarms: [], isOutOfService: true }],
      events: [],
    });
    expect(await ann.value(path)).toBe(true);
  });
});

it("a station has the folder too", async () => {
  await running.stop();
  running = await startServer({ stations: [station] });
  const caller = await openSession(running.url);
  cleanups.push(caller.close);
  running.server.write({
    changes: [{ kind: "station_alarms", station: "dock", alarms: [standingAlarm("BATTERY_LOW", "r1")] }],
    events: [],
  });
  expect(await shown(caller, "Stations.dock")).toEqual([sixteen("BATTERY_LOW-1 found"), 1, 300]);
});
