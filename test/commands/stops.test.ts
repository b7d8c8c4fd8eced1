import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { createMemoryJournal } from "../../src/commands/journal/memory-journal.ts";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { createRig, LOST, mission, missions, OK, presence } from "./rig.ts";

const NOT_SENT: CallEnding = { kind: "not_sent", message: "no connection" };
const NO: CallEnding = { kind: "refused", code: "FAILED_PRECONDITION", message: "no" };

const brokenJournal: Journal = {
  ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
  write: () => Promise.reject(new Error("no space left on device")),
};

describe("stops", () => {
  it("pass a robot that is not good, a full queue and a broken disk", async () => {
    const rig = await createRig({
      journal: brokenJournal,
      options: { maxQueue: 0 },
    });
    rig.quality.set("AMR01", "lost");
    await rig.see(missions("AMR01", 0));
    for (const robot of ["AMR01", "AMR99"]) {
      const stop = await rig.send("Halt", { robot });
      expect(stop.stages).toEqual(["accepted", "sent"]);
    }
    expect(rig.calls).toHaveLength(2);
  });

  it("wait for a slow disk only so long", async () => {
    const journal: Journal = {
      ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
      write: () => new Promise(() => {}),
    };
    const rig = await createRig({ journal });
    await rig.send("Halt", { robot: "AMR01" });
    expect(rig.calls).toHaveLength(0);
    await rig.clock.settle(50);
    expect(rig.calls).toHaveLength(1);
  });

  it("go while another command is in flight", async () => {
    const rig = await createRig();
    const start = await rig.send("Go", { robot: "AMR01" });
    const stop = await rig.send("Halt", { robot: "AMR01" });
    await rig.call(1).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
    expect(start.outcome).toBeNull();
    await rig.call(0).answer(OK);
    expect(start.outcome?.outcome).toBe("succeeded");
  });

  it("take with them a start that is called and has not left, and no later one", async () => {
    const rig = await createRig();
    const start = await rig.send("Go", { robot: "AMR01" });
    const other = await rig.send("Go", { robot: "AMR02" });
    expect(rig.call(0).mayLeave()).toBe(true);
    await rig.send("Halt", { robot: "AMR01" });
    expect([0, 1, 2].map((place) => rig.call(place).mayLeave())).toEqual([false, true, true]);
    await rig.call(0).answer({ kind: "not_sent", message: "a stop overtook it", byStop: true });
    expect(start.outcome).toMatchObject({ outcome: "refused", code: "CANCELED_BY_STOP" });
    expect(other.outcome).toBeNull();
    await rig.call(2).answer(OK);
    await rig.send("Go", { robot: "AMR01" });
    expect(rig.call(3).mayLeave()).toBe(true);
  });
});

describe("a stop whose ending is not known", () => {
  it("is sent again beyond its expiry, while evidence would be sought", async () => {
    const rig = await createRig();
    const stop = await rig.send("Halt", { robot: "AMR01" });
    // As long as the service waits for a robot, and as long as the command's own time.
    await rig.clock.settle(10_000);
    await rig.call(0).answer(LOST);
    await rig.clock.settle(200);
    expect(rig.calls).toHaveLength(2);
    expect(rig.call(1).leaveWithinMs).toBe(14_800);
    await rig.clock.settle(10_000);
    await rig.call(1).answer(OK);
    expect(stop.outcome).toMatchObject({ outcome: "succeeded", code: "OK" });
  });

  it("is sent no more when evidence would be sought no longer", async () => {
    const rig = await createRig({ options: { evidenceMs: 5_000 } });
    const stop = await rig.send("Halt", { robot: "AMR01" });
    await rig.clock.settle(10_000);
    await rig.call(0).answer(LOST);
    await rig.clock.settle(200);
    await rig.clock.settle(10_000);
    await rig.call(1).answer(LOST);
    await rig.clock.settle(20_000);
    expect(rig.calls).toHaveLength(2);
    expect(stop.outcome).toMatchObject({ outcome: "unknown", code: "DEADLINE_EXCEEDED", retrySafe: true });
  });

  it("has to have left in time: late, only what may have come through is sent again", async () => {
    const rig = await createRig();
    const stop = await rig.send("Halt", { robot: "AMR01" });
    await rig.clock.settle(9_900);
    await rig.call(0).answer(NOT_SENT);
    await rig.clock.settle(200);
    expect(rig.calls).toHaveLength(1);
    expect(stop.outcome).toMatchObject({ outcome: "refused", code: "FLEET_UNREACHABLE" });
  });

  it("is not sent again after a later start of its conveyors, which it would undo", async () => {
    const rig = await createRig();
    const stop = await rig.send("StopBelts", { robot: "AMR01" });
    const start = await rig.send("RollBelts", { robot: "AMR01" });
    await rig.call(0).answer(LOST);
    await rig.clock.settle(20_000);
    expect(rig.calls).toHaveLength(2);
    expect(stop.outcome).toMatchObject({ outcome: "unknown", code: "DEADLINE_EXCEEDED" });
    await rig.call(1).answer(OK);
    expect(start.outcome?.outcome).toBe("succeeded");
  });

  it("is sent again after whatever else the robot was told", async () => {
    const rig = await createRig();
    const stop = await rig.send("StopBelts", { robot: "AMR01" });
    await rig.send("Go", { robot: "AMR01" });
    await rig.send("RollBelts", { robot: "AMR02" });
    await rig.call(0).answer(LOST);
    await rig.clock.settle(200);
    expect(rig.calls).toHaveLength(4);
    await rig.call(3).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
  });

  it("that waited for a connection when a start of its conveyors left, does not follow it", async () => {
    const rig = await createRig();
    const stop = await rig.send("StopBelts", { robot: "AMR01" });
    await rig.call(0).answer(NOT_SENT);
    await rig.send("RollBelts", { robot: "AMR01" }, { requestId: "roll" });
    await rig.clock.settle(200);
    expect(rig.calls).toHaveLength(2);
    expect(stop.outcome).toMatchObject({
      outcome: "refused",
      message:
        "it was not sent: no connection to the service, or no place on it, until opcua:plc/roll left, which it would undo",
    });
  });

  it.each([
    ["never left", LOST, NOT_SENT],
    ["never left, and neither had the stop", NOT_SENT, NOT_SENT],
    ["the service refused", LOST, NO],
  ])("is sent again after a start that %s", async (_what, stopEnds, startEnds) => {
    const rig = await createRig({ callsWait: true });
    const stop = await rig.send("StopBelts", { robot: "AMR01" });
    await rig.send("RollBelts", { robot: "AMR01" });
    if (startEnds === NO) rig.call(1).leave();
    await rig.call(0).answer(stopEnds);
    await rig.call(1).answer(startEnds);
    await rig.clock.settle(3_000);
    expect(rig.calls.map(({ operation }) => operation)).toEqual(["StopBelts", "RollBelts", "StopBelts"]);
    await rig.call(2).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
  });

  it("that waits for its place does not leave after a start of its conveyors has", async () => {
    const rig = await createRig({ callsWait: true });
    await rig.send("StopBelts", { robot: "AMR01" });
    await rig.send("RollBelts", { robot: "AMR01" });
    expect(rig.call(0).mayLeave()).toBe(true);
    rig.call(1).leave();
    expect(rig.call(0).mayLeave()).toBe(false);
  });

  it("that came after a start takes with it the start that has not left, from the moment in which it came", async () => {
    const memory = createMemoryJournal({ keepMs: 1, keepCount: 1 });
    const write: Journal["write"] = (entry) =>
      entry.command.operation === "StopBelts" ? new Promise(() => {}) : memory.write(entry);
    const rig = await createRig({ journal: { ...memory, write }, callsWait: true });
    await rig.send("RollBelts", { robot: "AMR01" });
    expect(rig.call(0).mayLeave()).toBe(true);
    await rig.send("StopBelts", { robot: "AMR01" });
    // Its record is not on the disk yet.
    expect(rig.calls).toHaveLength(1);
    expect(rig.call(0).mayLeave()).toBe(false);
    await rig.clock.settle(50);
    expect(rig.call(1).operation).toBe("StopBelts");
  });

  it("that came after a start leaves after it, whenever that does", async () => {
    const rig = await createRig({ callsWait: true });
    await rig.send("RollBelts", { robot: "AMR01" });
    await rig.send("StopBelts", { robot: "AMR01" });
    rig.call(0).leave();
    expect(rig.call(1).mayLeave()).toBe(true);
  });

  it("does not, sent again, take with it a start that was made after it", async () => {
    const rig = await createRig({ callsWait: true });
    await rig.send("Halt", { robot: "AMR01" });
    await rig.call(0).answer(LOST);
    await rig.send("Go", { robot: "AMR01" });
    await rig.clock.settle(200);
    expect(rig.calls.map(({ operation }) => operation)).toEqual(["Halt", "Go", "Halt"]);
    expect(rig.call(1).mayLeave()).toBe(true);
  });
});

describe("a pause whose ending is not known", () => {
  it("of a mission is not sent again after a later resume", async () => {
    const rig = await createRig({ catalogue: createCatalogue() });
    await rig.see(missions("AMR01", 0, mission("m1", "A")));
    const update = (command: string) =>
      rig.send("UpdateMission", { robotId: "AMR01", missionCommand: { missionId: "m1", command } });
    await update("COMMAND_PAUSE");
    await rig.call(0).answer(LOST);
    const resume = await update("COMMAND_RESUME");
    await rig.call(1).answer(OK);
    expect(resume.outcome?.outcome).toBe("succeeded");
    await rig.clock.settle(3_000);
    expect(rig.calls).toHaveLength(2);
  });

  it("of a robot is not sent again after a later resume", async () => {
    const rig = await createRig({ catalogue: createCatalogue() });
    await rig.see(presence("AMR01", 7));
    await rig.send("PauseRobot", { amrId: 7 });
    await rig.call(0).answer(LOST);
    await rig.send("ResumeRobot", { amrId: 7 });
    await rig.call(1).answer(OK);
    await rig.clock.settle(3_000);
    expect(rig.calls).toHaveLength(2);
  });
});

it("a stop that comes after its expiry has time to leave", async () => {
  const rig = await createRig();
  await rig.send("Halt", { robot: "AMR01" }, { startByMs: rig.clock.nowMs() - 5_000 });
  expect(rig.call(0).leaveWithinMs).toBe(2_000);
});
