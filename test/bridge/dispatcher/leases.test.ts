import { describe, expect, it } from "vitest";
import type { Mission } from "../../../src/domain/mission.ts";
import { createRig, mission, missions, OK, plc, type Rig } from "./rig.ts";

const stations = [
  { name: "Dock", destinations: ["D1", "D2"], heartbeatMs: 5_000 },
  { name: "Press", destinations: ["P1"], users: [{ door: "opcua", name: "press" }], heartbeatMs: 5_000 },
] as const;
const rights = [
  { source: { door: "opcua", name: "*" }, role: "engineer" },
  { source: { door: "mqtt", name: "*" }, role: "engineer" },
] as const;
const scada = { door: "mqtt", name: "scada" } as const;

async function rigAt(...list: Mission[]): Promise<Rig> {
  const rig = await createRig({ stations, options: { rights } });
  await rig.see(missions("AMR01", rig.clock.nowMs(), ...list));
  return rig;
}

const atDock = mission("m", "D1", { state: "STATE_SUCCEEDED" });
const toDock = mission("m", "D2");

describe("a station's lease", () => {
  it.each([
    ["stands at", atDock],
    ["heads for", toDock],
  ])("begins when it asks while the robot %s one of its destinations", async (_, at) => {
    const rig = await rigAt(at);
    expect(rig.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
    expect(rig.dispatcher.stations.holder("AMR01")).toMatchObject({ station: "Dock", owner: plc });
  });

  it.each([
    ["heads elsewhere", mission("m", "X")],
    ["was canceled on its way", mission("m", "D1", { state: "STATE_CANCELED" })],
  ])("NOT_AT_STATION: is refused while the robot %s", async (_, at) => {
    const rig = await rigAt(at);
    expect(rig.dispatcher.stations.ask("Dock", plc, "AMR01")).toMatchObject({
      code: "NOT_AT_STATION",
      message: "robot AMR01 neither stands at nor heads for a destination of station Dock",
    });
  });

  it("is refused to a station or user that is none, and for a robot out of sight", async () => {
    const rig = await rigAt(atDock);
    const { stations: leases } = rig.dispatcher;
    expect(leases.ask("Moon", plc, "AMR01")?.message).toBe('there is no station "Moon"');
    expect(leases.ask("Press", plc, "AMR01")).toMatchObject({
      code: "NOT_ALLOWED",
      message: 'opcua "plc" is not a user of station Press',
    });
    rig.quality.set("AMR01", "offline");
    expect(leases.ask("Dock", plc, "AMR01")).toMatchObject({
      code: "ROBOT_NOT_GOOD",
      message: "where robot AMR01 is now is not known",
    });
  });

  it("LEASE_HELD: keeps others from moving the robot, with the owner's name; stops and reads pass", async () => {
    const rig = await rigAt(atDock);
    rig.dispatcher.stations.ask("Dock", plc, "AMR01");
    const message = 'station Dock holds robot AMR01 for opcua "plc"';
    const refused = await rig.send("Go", { robot: "AMR01" }, { source: scada });
    expect(refused.outcome).toMatchObject({ code: "LEASE_HELD", message });
    expect(rig.dispatcher.stations.ask("Dock", scada, "AMR01")).toMatchObject({
      code: "LEASE_HELD",
      message,
    });
    expect(rig.dispatcher.stations.release("Dock", scada, "AMR01")).toMatchObject({ code: "LEASE_HELD" });
    for (const operation of ["Halt", "Look"])
      await rig.send(operation, { robot: "AMR01" }, { source: scada });
    await rig.send("Go", { robot: "AMR01" });
    expect(rig.calls.map(({ operation }) => operation)).toEqual(["Halt", "Look", "Go"]);
  });

  it("ends with release and with an engineer's override", async () => {
    const rig = await rigAt(atDock);
    const { stations: leases } = rig.dispatcher;
    leases.ask("Dock", plc, "AMR01");
    expect(leases.release("Dock", plc, "AMR01")).toBeNull();
    expect(leases.holder("AMR01")).toBeNull();
    leases.ask("Dock", plc, "AMR01");
    expect(leases.override({ door: "opcua", name: "chief" }, "AMR01")).toBeNull();
    expect(leases.holder("AMR01")).toBeNull();
    expect(rig.audit.at(-1)).toMatchObject({
      event: "lease",
      lease: "ended",
      user: "chief",
      reason: "overridden",
    });
  });

  it("ends when the robot leaves, whatever the heartbeat says", async () => {
    const rig = await rigAt(atDock);
    const { stations: leases } = rig.dispatcher;
    leases.ask("Dock", plc, "AMR01");
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("n", "X")));
    leases.beat("Dock", plc);
    await rig.clock.settle(1_000);
    expect(leases.holder("AMR01")).toBeNull();
    expect(rig.audit.at(-1)).toMatchObject({ reason: "the robot has left" });
  });

  it("ends when the heartbeat lapses, which stops the conveyors that the station started and nothing else", async () => {
    const rig = await rigAt(atDock);
    const { stations: leases } = rig.dispatcher;
    leases.ask("Dock", plc, "AMR01");
    await rig.send("RollBelts", { robot: "AMR01" });
    await rig.call(0).answer(OK);
    for (let second = 0; second < 10; second += 1) {
      leases.beat("Dock", plc);
      await rig.clock.settle(1_000);
    }
    expect(leases.holder("AMR01")).not.toBeNull();
    await rig.clock.settle(7_000);
    expect(leases.holder("AMR01")).toBeNull();
    expect(rig.calls.slice(1)).toMatchObject([
      { operation: "StopBelts", requestJson: '{"robot":"AMR01","belts":[0,1]}' },
    ]);
  });

  it("stops nothing at a lapse when the station has stopped it itself, or others have started it", async () => {
    const rig = await rigAt(atDock);
    rig.dispatcher.stations.ask("Dock", plc, "AMR01");
    await rig.send("RollBelts", { robot: "AMR01" });
    await rig.call(0).answer(OK);
    await rig.send("StopBelts", { robot: "AMR01" });
    await rig.call(1).answer(OK);
    await rig.clock.settle(7_000);
    expect(rig.dispatcher.stations.holder("AMR01")).toBeNull();
    expect(rig.calls).toHaveLength(2);
  });
});
