import { describe, expect, it } from "vitest";
import type { Source } from "../../src/domain/command.ts";
import type { Mission, MissionQueue } from "../../src/domain/mission.ts";
import { type CommandsHarness, createHarness, mission, missions, OK, plc } from "./commands-harness.ts";

const stations = [
  { name: "Dock", destinations: ["D1", "D2"], heartbeatMs: 5_000 },
  { name: "Press", destinations: ["P1"], users: [{ protocol: "opcua", name: "press" }], heartbeatMs: 5_000 },
] as const;
const rights = [
  { source: { protocol: "opcua", name: "*" }, role: "engineer" },
  { source: { protocol: "mqtt", name: "*" }, role: "engineer" },
] as const;
const scada = { protocol: "mqtt", name: "scada" } as const;

async function rigAt(...list: Mission[]): Promise<CommandsHarness> {
  const harness = await createHarness({ stations, options: { rights } });
  await harness.see(missions("AMR01", harness.clock.nowMs(), ...list));
  return harness;
}

const atDock = mission("m", "D1", { state: "STATE_SUCCEEDED" });
const toDock = mission("m", "D2");

it("UNKNOWN_ROBOT: a robot that there is not has no lease to release or to end", async () => {
  const harness = await rigAt(atDock);
  const { stations: leases } = harness.dispatcher;
  // Robots are still being heard of: nobody can say yet that the name is a mistake, and no station leases it.
  expect([leases.release("Dock", plc, "nope"), leases.override(plc, "nope")]).toEqual([null, null]);
  await harness.clock.settle(10_000);
  const refused = { outcome: "refused", code: "UNKNOWN_ROBOT", message: 'robot "nope" was never heard of' };
  expect(await leases.ask("Dock", plc, "nope")).toMatchObject(refused);
  expect(leases.release("Dock", plc, "nope")).toMatchObject(refused);
  expect(leases.override(plc, "nope")).toMatchObject(refused);
  expect([leases.release("Dock", plc, "AMR01"), leases.override(plc, "AMR01")]).toEqual([null, null]);
});

describe("a station's lease", () => {
  it.each([
    ["stands at", atDock],
    [
      "says that it arrived at",
      mission("m", "D1", {
        state: "STATE_SUCCEEDED",
        feedback: { family: "cart", status: "STATUS_ARRIVED" },
      }),
    ],
    ["heads for", toDock],
  ])("begins when it asks while the robot %s one of its destinations", async (_, at) => {
    const harness = await rigAt(at);
    expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toMatchObject({ station: "Dock", owner: plc });
  });

  it("is not renewed by asking again", async () => {
    const harness = await rigAt(atDock);
    const { stations: leases } = harness.dispatcher;
    await leases.ask("Dock", plc, "AMR01");
    for (let second = 0; second < 7; second += 1) {
      if (leases.leaseOf("AMR01") !== null) await leases.ask("Dock", plc, "AMR01");
      await harness.clock.settle(1_000);
    }
    expect(harness.audit.at(-1)).toMatchObject({ lease: "ended" });
  });

  it.each([
    ["cart", "CART_TYPE_TRAVERSE"],
    ["cart", "CART_TYPE_TRAVERSE_PATROL"],
    ["serve", "SERVE_TYPE_SERVING"],
    ["serve", "SERVE_TYPE_SERVING_PATROL"],
    ["serve", "SERVE_TYPE_BUSSING"],
    ["serve", "SERVE_TYPE_BUSSING_PATROL"],
  ] as const)("is refused during a mission that goes on by itself: %s, %s", async (family, type) => {
    const goesOn = { type: { family, type } } as Partial<Mission>;
    const harness = await rigAt(mission("m", "D1", goesOn));
    expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toMatchObject({
      outcome: "refused",
      code: "MISSION_GOES_ON",
      message: `robot AMR01 leaves the station by itself: its mission is of ${type}`,
    });
    // When it has ended, the robot stands.
    const ended = mission("m", "D1", { ...goesOn, state: "STATE_SUCCEEDED" });
    await harness.see(missions("AMR01", harness.clock.nowMs(), ended));
    expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
  });

  it.each([
    ["cart", "CART_TYPE_NAVIGATE"],
    ["cart", "CART_TYPE_NAVIGATE_AUTO"],
    ["serve", "SERVE_TYPE_NAVIGATE"],
    ["serve", "SERVE_TYPE_NAVIGATE_AUTO"],
    ["base", "BASE_TYPE_NAVIGATE"],
    ["base", "BASE_TYPE_NAVIGATE_AUTO"],
    ["cart", { kind: "unrecognised", raw: 9 }],
  ] as const)(
    "is granted during a mission that ends where the robot stands: %s, %s",
    async (family, type) => {
      const harness = await rigAt(mission("m", "D1", { type: { family, type } } as Partial<Mission>));
      expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
    },
  );

  it("is refused while another mission waits behind the one that leads to the station", async () => {
    const harness = await rigAt();
    const seen = missions(
      "AMR01",
      harness.clock.nowMs(),
      toDock,
      mission("n", "X", { state: "STATE_DEFAULT" }),
    );
    if (seen.kind !== "mission") throw new Error("a change of missions expected");
    const value = { ...seen.observed.value, currentMissionIndex: 0 } as MissionQueue;
    await harness.see({ ...seen, observed: { ...seen.observed, value } });
    expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toMatchObject({
      outcome: "refused",
      code: "MISSION_GOES_ON",
      message: "robot AMR01 leaves the station by itself: another mission waits behind this one",
    });
  });

  it.each([
    ["heads elsewhere", mission("m", "X")],
    ["was canceled on its way", mission("m", "D1", { state: "STATE_CANCELED" })],
    [
      "was told on its way that its mission is finished",
      mission("m", "D1", {
        state: "STATE_SUCCEEDED",
        feedback: { family: "cart", status: "STATUS_NAVIGATING" },
      }),
    ],
  ])("NOT_AT_STATION: is refused while the robot %s", async (_, at) => {
    const harness = await rigAt(at);
    expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toMatchObject({
      code: "NOT_AT_STATION",
      message: "robot AMR01 neither stands at nor heads for a destination of station Dock",
    });
  });

  it("is refused to a station or user that is none, and for a robot out of sight", async () => {
    const harness = await rigAt(atDock);
    const { stations: leases } = harness.dispatcher;
    expect((await leases.ask("Moon", plc, "AMR01"))?.message).toBe('there is no station "Moon"');
    expect(await leases.ask("Press", plc, "AMR01")).toMatchObject({
      code: "NOT_ALLOWED",
      message: 'opcua "plc" is not a user of station Press',
    });
    harness.quality.set("AMR01", "offline");
    expect(await leases.ask("Dock", plc, "AMR01")).toMatchObject({
      code: "ROBOT_NOT_GOOD",
      message: "where robot AMR01 is now is not known",
    });
  });

  it("NOT_ALLOWED: is refused to whoever may not move the robot, and given for any operation that may", async () => {
    const rules = [
      { source: plc, role: "operator", operations: ["RollBelts"], robots: ["AMR01"] },
      { source: { protocol: "opcua", name: "panel" }, role: "observer" },
    ] as const;
    const harness = await createHarness({ stations, options: { rights: rules } });
    for (const robot of ["AMR01", "AMR02"]) await harness.see(missions(robot, harness.clock.nowMs(), atDock));
    const { stations: leases } = harness.dispatcher;
    expect(await leases.ask("Dock", plc, "AMR01")).toBeNull();
    expect(leases.leased("Dock", plc)).toEqual(["AMR01"]);
    expect(leases.leased("Press", plc)).toEqual([]);
    expect(leases.leased("Moon", plc)).toBeNull();
    expect(await leases.ask("Dock", plc, "AMR02")).toMatchObject({
      code: "NOT_ALLOWED",
      message: 'opcua "plc" may not command robots, which needs operator: rights[0] names only AMR01',
    });
    expect(await leases.ask("Dock", { protocol: "opcua", name: "panel" }, "AMR01")).toMatchObject({
      code: "NOT_ALLOWED",
      message: 'opcua "panel" may not command robots, which needs operator: rights[1] makes it observer',
    });
    expect(await leases.ask("Dock", scada, "AMR01")).toMatchObject({
      code: "NOT_ALLOWED",
      message:
        'mqtt "scada" may not command robots, which needs operator: no rule names it, so it may only read; in the configuration, rights: [{source: {protocol: mqtt, name: "scada"}, role: operator}] would allow it',
    });
  });

  it("LEASE_HELD: keeps others from what lets the service pick a robot, which may be the one that is leased", async () => {
    const harness = await rigAt(atDock);
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    const onNobody = async (source: typeof plc | typeof scada) => {
      const sent = await harness.send("Confirm", { chain: 9 }, { source });
      const asked = harness.calls.length - 1;
      await harness.call(asked).answer({ kind: "ok", responseJson: '{"number":0}', missionId: null });
      return sent;
    };
    const refused = await onNobody(scada);
    expect(refused.outcome).toMatchObject({
      outcome: "refused",
      code: "LEASE_HELD",
      message:
        'the service picks the robot, and robot AMR01 is leased to station Dock for opcua "plc": name one',
    });
    await onNobody(plc);
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["FindChain", "FindChain", "Confirm"]);
  });

  it("LEASE_HELD: keeps others from moving the robot, with the owner's name; stops and reads pass", async () => {
    const harness = await rigAt(atDock);
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    const message = 'robot AMR01 is leased to station Dock for opcua "plc"';
    const refused = await harness.send("Go", { robot: "AMR01" }, { source: scada });
    expect(refused.outcome).toMatchObject({ code: "LEASE_HELD", message });
    expect(await harness.dispatcher.stations.ask("Dock", scada, "AMR01")).toMatchObject({
      code: "LEASE_HELD",
      message,
    });
    expect(harness.dispatcher.stations.release("Dock", scada, "AMR01")).toMatchObject({ code: "LEASE_HELD" });
    for (const operation of ["Halt", "Look"])
      await harness.send(operation, { robot: "AMR01" }, { source: scada });
    await harness.send("Go", { robot: "AMR01" });
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["Halt", "Look", "Go"]);
  });

  it("ends with release and with an engineer's override", async () => {
    const harness = await rigAt(atDock);
    const { stations: leases } = harness.dispatcher;
    await leases.ask("Dock", plc, "AMR01");
    expect(leases.release("Dock", plc, "AMR01")).toBeNull();
    expect(leases.leaseOf("AMR01")).toBeNull();
    await leases.ask("Dock", plc, "AMR01");
    const end = (source: Source) => harness.act("OverrideLease", source, { robot_id: "AMR01" });
    expect(await end({ protocol: "cli", name: "clerk" })).toMatchObject({
      code: "NOT_ALLOWED",
      message:
        'cli "clerk" may not send an override, which needs engineer: no rule names it, so it may only read; in the configuration, rights: [{source: {protocol: cli, name: "clerk"}, role: engineer}] would allow it',
    });
    expect(await end({ protocol: "opcua", name: "chief" })).toMatchObject({
      outcome: "succeeded",
      responseJson: '{"station":"Dock","owner":"opcua:plc"}',
    });
    expect(leases.leaseOf("AMR01")).toBeNull();
    expect(harness.audit.at(-1)).toMatchObject({
      event: "lease",
      lease: "ended",
      user: "chief",
      reason: "overridden",
    });
  });

  it("tells its begin and its end once each, with whose it is and who did it", async () => {
    const harness = await rigAt(atDock);
    const { stations: leases } = harness.dispatcher;
    const chief = { protocol: "opcua", name: "chief" } as const;
    for (const _ of ["asked", "and again"]) await leases.ask("Dock", plc, "AMR01");
    await leases.ask("Dock", scada, "AMR01");
    leases.heartbeat("Dock", plc);
    leases.override(chief, "AMR01");
    leases.override(chief, "AMR01");
    leases.release("Dock", plc, "AMR01");
    const lease = {
      kind: "lease",
      robotId: "AMR01",
      station: "Dock",
      owner: plc,
      atMs: harness.clock.nowMs(),
    };
    expect(harness.events).toEqual([
      { ...lease, eventId: "s1.l1", to: "leased", reason: "asked", by: plc },
      { ...lease, eventId: "s1.l2", to: "free", reason: "overridden", by: chief },
    ]);
    const line = {
      event: "lease",
      robot_id: "AMR01",
      station: "Dock",
      owner: { protocol: "opcua", user: "plc" },
    };
    expect(harness.audit).toMatchObject([
      { ...line, lease: "begun", protocol: "opcua", user: "plc", reason: "asked for" },
      { ...line, lease: "ended", protocol: "opcua", user: "chief", reason: "overridden" },
    ]);
  });

  it("ends when the robot leaves, whatever the heartbeat says", async () => {
    const harness = await rigAt(atDock);
    const { stations: leases } = harness.dispatcher;
    await leases.ask("Dock", plc, "AMR01");
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("n", "X")));
    leases.heartbeat("Dock", plc);
    await harness.clock.settle(1_000);
    expect(leases.leaseOf("AMR01")).toBeNull();
    expect(harness.audit.at(-1)).toMatchObject({ reason: "the robot has left" });
  });

  it("ends when the robot is out of sight", async () => {
    const harness = await rigAt(atDock);
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    harness.quality.set("AMR01", "offline");
    await harness.clock.settle(1_000);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(harness.audit.at(-1)).toMatchObject({ lease: "ended", reason: "the robot is out of sight" });
    expect(harness.events).toContainEqual(
      expect.objectContaining({ kind: "lease", to: "free", reason: "out_of_sight", by: null }),
    );
  });

  it("ends when the heartbeat lapses, which stops the conveyors that the station started and nothing else", async () => {
    const harness = await rigAt(atDock);
    const { stations: leases } = harness.dispatcher;
    await leases.ask("Dock", plc, "AMR01");
    await harness.send("RollBelts", { robot: "AMR01" });
    await harness.call(0).answer(OK);
    for (let second = 0; second < 10; second += 1) {
      leases.heartbeat("Dock", plc);
      await harness.clock.settle(1_000);
    }
    expect(leases.leaseOf("AMR01")).not.toBeNull();
    await harness.clock.settle(6_000);
    expect(leases.leaseOf("AMR01")).toBeNull();
    expect(harness.calls.slice(1, 3)).toMatchObject([
      { operation: "StopBelts", requestJson: '{"robot":"AMR01","belts":[0]}' },
      { operation: "StopBelts", requestJson: '{"robot":"AMR01","belts":[1]}' },
    ]);
    await harness.call(1).answer(OK);
    expect(harness.audit.at(-1)).toMatchObject({
      event: "command",
      protocol: "gateway",
      user: "fleetgate",
      on_behalf_of: { station: "Dock", protocol: "opcua", user: "plc" },
      robot_id: "AMR01",
      outcome: "succeeded",
    });
    expect(harness.events.at(-1)).toMatchObject({ kind: "command", command: { requestId: "s1.conveyor1" } });
  });

  it("NOT_ALLOWED: nobody has the gateway's right by taking its name, or its protocol", async () => {
    const harness = await createHarness({ stations, options: { rights: [] } });
    for (const protocol of ["cli", "mqtt", "gateway"] as const) {
      const sent = await harness.send(
        "StopBelts",
        { robot: "AMR01" },
        { source: { protocol, name: "fleetgate" } },
      );
      expect(sent.outcome).toMatchObject({ outcome: "refused", code: "NOT_ALLOWED" });
    }
    expect(harness.calls).toEqual([]);
    expect(harness.audit[0]).not.toHaveProperty("on_behalf_of");
  });

  it("stops nothing at a lapse when the station has stopped it itself, or others have started it", async () => {
    const harness = await rigAt(atDock);
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    await harness.send("RollBelts", { robot: "AMR01" });
    await harness.call(0).answer(OK);
    await harness.send("StopBelts", { robot: "AMR01" });
    await harness.call(1).answer(OK);
    await harness.clock.settle(7_000);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(harness.calls).toHaveLength(2);
  });

  it("stops at a lapse what the station was not known to have stopped", async () => {
    const harness = await rigAt(atDock);
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    await harness.send("RollBelts", { robot: "AMR01" });
    await harness.call(0).answer(OK);
    await harness.send("StopBelts", { robot: "AMR01" });
    await harness.call(1).answer({ kind: "refused", code: "PERMISSION_DENIED", message: "no" });
    await harness.clock.settle(7_000);
    expect(harness.calls[2]).toMatchObject({ operation: "StopBelts" });
  });
});
