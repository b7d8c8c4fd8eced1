import { describe, expect, it } from "vitest";
import type { Mission } from "../../src/domain/mission.ts";
import {
  type CommandsHarness,
  createHarness,
  type HarnessOptions,
  LOST,
  mission,
  missions,
  OK,
  plc,
} from "./commands-harness.ts";
import { sent } from "./holds-harness.ts";

const HEARTBEAT_MS = 5_000;
const other = { protocol: "opcua", name: "other" } as const;
const rights = [
  { source: plc, role: "operator" },
  { source: other, role: "operator" },
] as const;

function open(pauseOnLoss = false, parts: HarnessOptions = {}): Promise<CommandsHarness> {
  const dock = { name: "dock", destinations: ["A", "A2"], users: [plc], heartbeatMs: HEARTBEAT_MS };
  const gate = { name: "gate", destinations: ["B"], heartbeatMs: HEARTBEAT_MS };
  return createHarness({
    ...parts,
    options: { rights, ...parts.options },
    stations: [{ ...dock, permit: { pauseOnLoss } }, gate],
  });
}
const permits = ({ dispatcher }: CommandsHarness) => dispatcher.permits;
const beat = (harness: CommandsHarness) => permits(harness).heartbeat("dock", plc);
async function permit(harness: CommandsHarness, isGiven = true) {
  beat(harness);
  const refused = permits(harness).write("dock", plc, isGiven);
  await harness.clock.settle(0);
  return refused;
}
const go = (harness: CommandsHarness, to: string) => harness.send("Go", { robot: "AMR01", to });
const refusedFor = (reason: string, goal = "A") => ({
  outcome: "refused",
  code: "NO_PERMIT",
  message: `station dock does not permit starts towards "${goal}": ${reason} (stations.dock.permit is required)`,
});
const [NEVER, FALSE, NO_BEAT, LAPSED] = [
  "Permit has not been written since the gateway started",
  "Permit is FALSE",
  "Heartbeat has not changed since the gateway started",
  "Heartbeat has not changed for 5000 ms",
];

describe("a start towards a station that requires a permit", () => {
  it("is refused until its PLC lives and has written TRUE; other stations ask for none", async () => {
    const harness = await open();
    expect((await go(harness, "A")).outcome).toMatchObject(refusedFor(NEVER ?? ""));
    permits(harness).write("dock", plc, true);
    expect((await go(harness, "A")).outcome).toMatchObject(refusedFor(NO_BEAT ?? ""));
    beat(harness);
    await go(harness, "A");
    expect(sent(harness)).toEqual(["Go AMR01"]);
    await harness.call(0).answer(OK);
    await permit(harness, false);
    expect((await go(harness, "A2")).outcome).toMatchObject(refusedFor(FALSE ?? "", "A2"));
    await go(harness, "B");
    expect(sent(harness, 1)).toEqual(["Go AMR01"]);
    expect(permits(harness).permitOf("gate")).toEqual({ isRequired: false, isGiven: true, reason: "" });
  });

  it("is refused at the moment at which the heartbeat is too old, and TRUE alone renews nothing", async () => {
    const harness = await open();
    await permit(harness);
    await harness.clock.settle(HEARTBEAT_MS);
    expect(permits(harness).permitOf("dock").isGiven).toBe(true);
    await harness.clock.settle(1);
    permits(harness).write("dock", plc, true);
    permits(harness).heartbeat("dock", other);
    expect((await go(harness, "A")).outcome).toMatchObject(refusedFor(LAPSED ?? ""));
    beat(harness);
    await go(harness, "A");
    expect(sent(harness)).toEqual(["Go AMR01"]);
  });

  it("is refused as a whole if one of its goals is the station's", async () => {
    const harness = await open();
    expect((await go(harness, "C,A,B")).outcome).toMatchObject(refusedFor(NEVER ?? ""));
  });

  it.each<[string, object, readonly Mission[], string | null]>([
    ["Resume", { mission: "m1" }, [mission("m1", "A")], "A"],
    ["Resume", { mission: "m1" }, [mission("m1", "C")], null],
    ["Resume", { mission: "gone" }, [mission("m1", "A")], null],
    ["Skip", {}, [goals("m1", "C", "A")], "A"],
    ["Skip", {}, [goals("m1", "A", "C")], null],
    ["Skip", {}, [mission("m1", "C"), mission("m2", "A", { state: "STATE_DEFAULT" })], "A"],
  ])("%s %o is one if the robot's missions say so", async (operation, request, list, goal) => {
    const harness = await open();
    const [first] = list;
    const seen = missions("AMR01", 1, ...list);
    if (seen.kind === "mission" && first !== undefined) {
      const observed = { ...seen.observed, value: { missions: list, currentMissionIndex: 0 } };
      await harness.see({ ...seen, observed });
    }
    const { outcome } = await harness.send(operation, { robot: "AMR01", ...request });
    if (goal === null) expect(sent(harness)).toHaveLength(1);
    else expect(outcome).toMatchObject(refusedFor(NEVER ?? "", goal));
  });

  it("is not sent if it waits in a queue, or for a connection, when the permit is lost; one that left ends", async () => {
    const harness = await open();
    await permit(harness);
    const first = await go(harness, "A");
    const waiting = await go(harness, "A2");
    const elsewhere = await go(harness, "B");
    expect(harness.call(0).mayLeave()).toBe(true);
    await permit(harness, false);
    expect(waiting.outcome).toMatchObject(refusedFor(FALSE ?? "", "A2"));
    await permit(harness, true);
    expect(harness.call(0).mayLeave(), "it stays refused").toBe(false);
    await harness.call(0).answer({ kind: "not_sent", message: "a stop overtook it", byStop: true });
    expect(first.outcome).toMatchObject(refusedFor(FALSE ?? ""));
    expect(sent(harness, 1)).toEqual(["Go AMR01"]);
    await harness.call(1).answer(OK);
    expect(elsewhere.outcome?.outcome).toBe("succeeded");
    const left = await go(harness, "A");
    await permit(harness, false);
    await harness.call(2).answer(OK);
    expect(left.outcome?.outcome).toBe("succeeded");
  });

  it("is not sent after a wait for a connection in which the heartbeat has become too old", async () => {
    const harness = await open();
    await permit(harness);
    const start = await go(harness, "A");
    await harness.clock.settle(HEARTBEAT_MS);
    expect(harness.call(0).mayLeave()).toBe(true);
    await harness.clock.settle(1);
    expect(harness.call(0).mayLeave()).toBe(false);
    await harness.call(0).answer({ kind: "not_sent", message: "it must not leave", byStop: true });
    expect(start.outcome).toMatchObject(refusedFor(LAPSED ?? ""));
  });

  it("stops and reads pass", async () => {
    const harness = await open();
    await harness.see(missions("AMR01", 1, mission("m1", "A")));
    await harness.send("Halt", { robot: "AMR01", mission: "m1" });
    await harness.send("Look", { robot: "AMR01" });
    expect(sent(harness)).toEqual(["Halt m1", "Look AMR01"]);
  });
});

it("only a user of the station writes its permit, and only where one is required", async () => {
  const harness = await open();
  expect(permits(harness).write("dock", other, true)).toMatchObject({
    code: "NOT_ALLOWED",
    message: 'opcua "other" is not a user of station dock',
  });
  expect(permits(harness).write("gate", plc, true)).toMatchObject({
    code: "MALFORMED",
    message: 'station "gate" requires no permit',
  });
  expect(permits(harness).permitOf("dock")).toMatchObject({ isGiven: false, reason: NEVER });
});

it("its beginning and its loss are in the audit log, once each", async () => {
  const harness = await open();
  await permit(harness);
  await permit(harness);
  await harness.clock.settle(HEARTBEAT_MS + 2_000);
  permits(harness).write("dock", plc, false);
  const lines = harness.audit.filter(({ event }) => event === "permit");
  expect(lines.map(({ permit: is, station, user, reason }) => [is, station, user, reason])).toEqual([
    ["given", "dock", "plc", ""],
    ["lost", "dock", "plc", LAPSED],
  ]);
});

describe("pauseOnLoss", () => {
  const onTheWay = (receivedAtMs = 1, more: Partial<Mission> = {}) =>
    missions("AMR01", receivedAtMs, mission("m1", "A", more));

  it("pauses a robot that heads there once, for the user that gave the permit", async () => {
    const harness = await open(true);
    await permit(harness);
    await harness.see(onTheWay(), missions("AMR02", 1, mission("m2", "B")));
    await permit(harness, false);
    expect(sent(harness)).toEqual(["Halt m1"]);
    await harness.call(0).answer(OK);
    await harness.see(onTheWay(2, { state: "STATE_PAUSED" }), onTheWay(3));
    await harness.clock.settle(60_000);
    expect(sent(harness)).toEqual(["Halt m1"]);
    expect(harness.audit.find(({ operation }) => operation === "Halt")).toMatchObject({
      protocol: "gateway",
      user: "fleetgate",
      on_behalf_of: { station: "dock", protocol: "opcua", user: "plc" },
    });
    await permit(harness);
    expect(sent(harness), "nothing is resumed").toHaveLength(1);
    await harness.clock.settle(HEARTBEAT_MS + 2_000);
    expect(sent(harness, 1), "another loss").toEqual(["Halt m1"]);
  });

  it("pauses one that begins to head there while the permit is lost", async () => {
    const harness = await open(true);
    await permit(harness);
    await harness.see(missions("AMR01", 1, goals("m1", "C", "A")));
    await permit(harness, false);
    expect(sent(harness)).toEqual([]);
    const next = { ...goals("m1", "C", "A"), currentGoalIndex: 1 };
    await harness.see(missions("AMR01", 2, next));
    expect(sent(harness)).toEqual(["Halt m1"]);
  });

  it("leaves one alone that has arrived, or is paused, or goes elsewhere", async () => {
    const harness = await open(true);
    await permit(harness);
    await harness.see(
      onTheWay(1, { feedback: { family: "cart", status: "STATUS_ARRIVED" } }),
      missions("AMR02", 1, mission("m2", "A", { state: "STATE_PAUSED" })),
    );
    await permit(harness, false);
    expect(sent(harness)).toEqual([]);
  });

  it("tries again after 10 s what has failed, while the robot drives on", async () => {
    const harness = await open(true);
    await permit(harness);
    await harness.see(onTheWay());
    await permit(harness, false);
    await harness.call(0).answer({ kind: "refused", code: "NOT_FOUND", message: "no" });
    await harness.clock.settle(12_000);
    expect(sent(harness)).toEqual(["Halt m1", "Halt m1"]);
  });

  it("after a start waits 30 s for the PLC to come back, and not if that writes FALSE", async () => {
    const late = await open(true);
    await late.see(onTheWay());
    await late.clock.settle(30_000);
    expect(sent(late)).toEqual([]);
    await late.clock.settle(2_000);
    expect(sent(late)).toEqual(["Halt m1"]);
    const back = await open(true);
    await back.see(onTheWay());
    await permit(back);
    await back.clock.settle(2_000);
    beat(back);
    await back.clock.settle(4_000);
    expect(sent(back)).toEqual([]);
    const no = await open(true);
    await no.see(onTheWay());
    await permit(no, false);
    expect(sent(no)).toEqual(["Halt m1"]);
  });

  it("without it no robot is paused", async () => {
    const harness = await open(false);
    await permit(harness);
    await harness.see(onTheWay());
    await permit(harness, false);
    await harness.clock.settle(20_000);
    expect(sent(harness)).toEqual([]);
  });
});

it("a start whose sending is not known is not sent again, permit or not", async () => {
  const harness = await open();
  await permit(harness);
  const start = await go(harness, "A");
  await harness.call(0).answer(LOST);
  await permit(harness, false);
  await harness.clock.settle(30_000);
  expect(start.outcome?.outcome).toBe("unknown");
  expect(harness.calls).toHaveLength(1);
});

function goals(missionId: string, ...names: readonly string[]): Mission {
  const list = names.map((destinationId) => ({ kind: "destination", destinationId }) as const);
  return mission(missionId, "", { goals: list });
}
