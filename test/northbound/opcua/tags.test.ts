import {
  AttributeIds,
  type DataValue,
  ReadRequest,
  resolveNodeId,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";
import {
  batteryChange,
  conveyorChange,
  mission,
  missionChange,
  presenceChange,
  queueOf,
  receivedAtMs,
  robotChange,
  sourceTimeMs,
} from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

/** On the wall: node-opcua has a clock of its own. */
const begunAtMs = Date.now();
const clock = createManualClock(receivedAtMs);
let isLinkUp = true;
const facts = {
  version: "1.2.3",
  builtAt: new Date("2026-01-02T03:04:05Z"),
  sessionId: "s-9",
  startedAtMs: receivedAtMs,
  configHash: () => "c0ffee",
  fleetLinkUp: () => isLinkUp,
};
let running: RunningServer;
let caller: Caller;

beforeAll(async () => {
  running = await startServer(
    {
      robots: [
        { robotId: "r1", alias: "AMR01", number: null, family: "cart", conveyorIndexes: [0, 1] },
        { robotId: "quiet.one", alias: null, number: null, family: "serve", conveyorIndexes: [] },
      ],
    },
    { clock, facts },
  );
  caller = await openSession(running.url);
});
afterAll(async () => {
  await caller.close();
  await running.stop();
});

function write(...changes: Parameters<RunningServer["server"]["write"]>[0]["changes"]): void {
  running.server.write({ changes, events: [] });
}

/** A read that does not ask for all timestamps: node-opcua's session has no public method for it. */
async function readWith(timestampsToReturn: TimestampsToReturn): Promise<void> {
  const session: unknown = caller.session;
  const nodeId = resolveNodeId("ns=2;s=Robots.AMR01.Battery.ChargePercent");
  await (
    session as { performMessageTransaction(request: ReadRequest): Promise<unknown> }
  ).performMessageTransaction(
    new ReadRequest({ nodesToRead: [{ nodeId, attributeId: AttributeIds.Value }], timestampsToReturn }),
  );
}

function timesOf(value: DataValue): { source: number | undefined; server: number | undefined } {
  return { source: value.sourceTimestamp?.getTime(), server: value.serverTimestamp?.getTime() };
}

describe("a robot's tags", () => {
  it("stand in a namespace whose index does not depend on what else is loaded", async () => {
    const namespaces = await caller.session.readNamespaceArray();
    expect(namespaces).toEqual(["http://opcfoundation.org/UA/", "urn:fleetgate:test", "urn:fleetgate:fleet"]);
  });

  it("wait for initial data before the first message", async () => {
    const value = await caller.read("Robots.quiet%2Eone.Mission.State");
    expect(value.statusCode).toBe(StatusCodes.BadWaitingForInitialData);
    expect(value.value.value).toBeNull();
    expect(timesOf(value).source, "when the tag was made").toBeGreaterThanOrEqual(begunAtMs);
    expect(await caller.value("Robots.quiet%2Eone.Valid")).toBe(false);
    expect(await caller.value("Robots.quiet%2Eone.Present")).toBe(false);
    expect(await caller.value("Robots.quiet%2Eone.ReadyForCommand")).toBe(false);
    expect(await caller.value("Robots.quiet%2Eone.RobotId")).toBe("quiet.one");
  });

  it("show a mission with the robot's own time", async () => {
    write(missionChange("r1", queueOf(mission("m0", { state: "STATE_SUCCEEDED" }), mission("m1"))));
    const state = await caller.read("Robots.AMR01.Mission.State");
    expect(state.value.value).toBe(2);
    expect(timesOf(state).source).toBe(sourceTimeMs);
    const values = [
      "MissionId",
      "StateText",
      "CurrentGoal",
      "CurrentGoalIndex",
      "GoalCount",
      "MissionType",
      "Owner",
    ];
    expect(await Promise.all(values.map((name) => caller.value(`Robots.AMR01.Mission.${name}`)))).toEqual([
      "m1",
      "STATE_RUNNING",
      "Dock B",
      1,
      2,
      "CART_TYPE_TRAVERSE",
      "api",
    ]);
    expect(await caller.value("Robots.AMR01.Mission.SequenceNumber")).toBe(42);
    expect(await caller.value("Robots.AMR01.Mission.MissionIds")).toEqual([
      "m0",
      "m1",
      "",
      "",
      "",
      "",
      "",
      "",
    ]);
    expect(Array.from((await caller.value("Robots.AMR01.Mission.MissionStates")) as Int32Array)).toEqual([
      5, 2, 0, 0, 0, 0, 0, 0,
    ]);
    expect(await caller.value("Robots.AMR01.Mission.Arrived")).toBe(false);
    const arrived = mission("m1", { feedback: { family: "cart", status: "STATUS_ARRIVED" } });
    write(missionChange("r1", queueOf(arrived)));
    expect(await caller.value("Robots.AMR01.Mission.Arrived")).toBe(true);
  });

  it("pass a number through that has no name, without a text", async () => {
    write(missionChange("r1", queueOf(mission("m1", { state: { kind: "unrecognised", raw: 17 } }))));
    expect(await caller.value("Robots.AMR01.Mission.State")).toBe(17);
    expect(await caller.value("Robots.AMR01.Mission.StateText")).toBe("17");
    expect(await caller.value("Robots.AMR01.Mission.State.ValueAsText")).toMatchObject({ text: null });
    const names = (await caller.value("EnumValues.MissionState")) as ReadonlyArray<{
      displayName: { text: string };
    }>;
    expect(names.map((entry) => entry.displayName.text)).toContain("STATE_RUNNING");
  });

  it("show no mission as none", async () => {
    write(missionChange("r1", { missions: [mission("m1")], currentMissionIndex: -1 }));
    expect(await caller.value("Robots.AMR01.Mission.MissionId")).toBe("");
    expect(await caller.value("Robots.AMR01.Mission.CurrentMissionIndex")).toBe(-1);
    expect(await caller.value("Robots.AMR01.Mission.MissionCount")).toBe(1);
  });

  it.each([
    ["good", StatusCodes.Good, 80],
    ["stale", StatusCodes.UncertainLastUsableValue, 80],
    ["offline", StatusCodes.UncertainNoCommunicationLastUsableValue, 80],
    ["lost", StatusCodes.BadNoCommunication, null],
    ["good", StatusCodes.Good, 80],
  ] as const)("carry the status of quality %s", async (quality, status, shown) => {
    write(batteryChange("r1", 80, quality));
    const value = await caller.read("Robots.AMR01.Battery.ChargePercent");
    expect(value.statusCode).toBe(status);
    expect(value.value.value).toBe(shown);
    expect(timesOf(value).source).toBe(sourceTimeMs);
  });

  it("keep their times when somebody reads without them", async () => {
    write(batteryChange("r1", 80, "stale"));
    await readWith(TimestampsToReturn.Neither);
    await readWith(TimestampsToReturn.Server);
    expect(timesOf(await caller.read("Robots.AMR01.Battery.ChargePercent")).source).toBe(sourceTimeMs);
  });

  it("refuse a text that no PLC string could hold, and say so", async () => {
    const fitting = "x".repeat(254);
    write(missionChange("r1", queueOf(mission(fitting))));
    expect(await caller.value("Robots.AMR01.Mission.MissionId")).toBe(fitting);
    write(missionChange("r1", queueOf(mission(`${fitting}y`))));
    const value = await caller.read("Robots.AMR01.Mission.MissionId");
    expect(value.statusCode).toBe(StatusCodes.BadOutOfRange);
    expect(value.value.value).toBeNull();
  });

  it("show conveyors by index, those of the configuration before they are heard of", async () => {
    expect((await caller.read("Robots.AMR01.Conveyors.1.Payload")).statusCode).toBe(
      StatusCodes.BadWaitingForInitialData,
    );
    write(conveyorChange("r1", 0), conveyorChange("r1", 3, { operation: "OPERATION_STATE_ROLLING" }));
    expect(await caller.value("Robots.AMR01.Conveyors.0.Loaded")).toBe(true);
    expect(await caller.value("Robots.AMR01.Conveyors.3.Rolling")).toBe(true);
    const operation = await caller.read("Robots.AMR01.Conveyors.3.Operation");
    expect(operation.value.value).toBe(1);
    expect(timesOf(operation).source).toBe(receivedAtMs);
    expect((await caller.read("Robots.quiet%2Eone.ConveyorSlot.NextId")).statusCode).toBe(
      StatusCodes.BadNodeIdUnknown,
    );
  });

  it("show position and presence", async () => {
    write(presenceChange("r1", "good"));
    expect(await caller.value("Robots.AMR01.Position.PointCode")).toBe("P-07");
    expect(await caller.value("Robots.AMR01.Position.AmrId")).toBe(11);
    expect(await caller.value("Robots.AMR01.Present")).toBe(true);
    write(presenceChange("r1", "offline"));
    expect(await caller.value("Robots.AMR01.Present")).toBe(false);
  });

  it("say in Good values how good the robot's values are", async () => {
    write(robotChange("r1", "good"));
    expect(await caller.value("Robots.AMR01.Valid")).toBe(true);
    expect(await caller.value("Robots.AMR01.Quality")).toBe(0);
    expect(await caller.value("Robots.AMR01.ReadyForCommand")).toBe(true);
    expect(await caller.value("Robots.AMR01.NotReadyReason")).toBe("");
    clock.advance(4_000);
    write(robotChange("r1", "stale"));
    expect(await caller.value("Robots.AMR01.Valid")).toBe(false);
    expect(await caller.value("Robots.AMR01.Quality")).toBe(1);
    expect(await caller.value("Robots.AMR01.NotReadyReason")).toContain("stale");
    expect(await caller.value("Robots.AMR01.AgeSeconds")).toBe(0);
    clock.advance(3_000);
    expect(await caller.value("Robots.AMR01.AgeSeconds")).toBe(3);
    write(robotChange("r1", "good"));
    expect(await caller.value("Robots.AMR01.AgeSeconds")).toBe(0);
  });

  it("have an age that no set wall clock changes", async () => {
    write(robotChange("r1", "good"));
    clock.advance(4_000);
    write(robotChange("r1", "stale"));
    for (const [jumpMs, age] of [
      [3_600_000, 1],
      [-7_200_000, 2],
    ] as const) {
      clock.jump(jumpMs);
      clock.advance(1_000);
      expect(await caller.value("Robots.AMR01.AgeSeconds")).toBe(age);
      write(robotChange("r1", "stale"));
      expect(await caller.value("Robots.AMR01.AgeSeconds")).toBe(age);
    }
    clock.jump(3_600_000);
    write(robotChange("r1", "good"));
  });

  it("cannot be written", async () => {
    const statuses = await caller.write(
      ["Robots.AMR01.Battery.ChargePercent", { dataType: "Int32", value: 1 }],
      ["Robots.AMR01.MissionSlot.DoneId", { dataType: "Int32", value: 1 }],
    );
    expect(statuses).toEqual([StatusCodes.BadNotWritable, StatusCodes.BadNotWritable]);
  });

  it("has no attribute that can be written beside its value", async () => {
    const value = { value: { dataType: "String", value: "x" } } as const;
    for (const name of ["Battery.ChargePercent", "MissionSlot.Operation"]) {
      const attributeId = AttributeIds.Description;
      const nodeId = `ns=2;s=Robots.AMR01.${name}`;
      expect(await caller.session.write({ nodeId, attributeId, value })).toBe(StatusCodes.BadNotWritable);
    }
  });
});

describe("the gateway's tags", () => {
  it("beat once a second", async () => {
    const before = (await caller.value("Gateway.Heartbeat")) as number;
    clock.advance(1_000);
    expect(await caller.value("Gateway.Heartbeat")).toBe(before + 1);
  });

  it("name version, session and link", async () => {
    expect(await caller.value("Gateway.Version")).toBe("1.2.3");
    expect(await caller.value("Gateway.SessionId")).toBe("s-9");
    expect(await caller.value("Gateway.FleetLinkUp")).toBe(true);
    clock.advance(1_000);
    expect(await caller.value("Gateway.RobotCount")).toBe(2);
  });
});

describe("the link", () => {
  it("is shown with what came of it, not a second later", async () => {
    isLinkUp = false;
    write(robotChange("r1", "offline"));
    expect(await caller.value("Gateway.FleetLinkUp")).toBe(false);
    isLinkUp = true;
    write(robotChange("r1", "good"));
    expect(await caller.value("Gateway.FleetLinkUp")).toBe(true);
  });
});

describe("a robot that nobody announced", () => {
  async function built(): Promise<void> {
    while (running.server.health().figures?.robotsWaiting !== 0) await new Promise(setImmediate);
  }

  it("gets nodes when it is first heard of, with all that was said meanwhile", async () => {
    write(robotChange("new/1", "good"), batteryChange("new/1", 55), batteryChange("new/1", 56));
    await built();
    expect(await caller.value("Robots.new%2F1.Battery.ChargePercent")).toBe(56);
    expect(await caller.value("Robots.new%2F1.Valid")).toBe(true);
  });

  it("steps aside when its id looks like an alias", async () => {
    write(batteryChange("AMR01", 33));
    await built();
    expect(await caller.value("Robots.AMR01~id.Battery.ChargePercent")).toBe(33);
    expect(await caller.value("Robots.AMR01.RobotId")).toBe("r1");
  });
});
