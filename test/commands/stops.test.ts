import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, LOST, mission, missions, OK, presence } from "./commands-harness.ts";

const NOT_SENT: CallEnding = { kind: "not_sent", message: "no connection" };
const NO: CallEnding = { kind: "refused", code: "FAILED_PRECONDITION", message: "no" };

const brokenJournal: Journal = {
  ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
  write: () => Promise.reject(new Error("no space left on device")),
};

describe("stops", () => {
  it("pass a robot that is not good, a full queue and a broken disk", async () => {
    const harness = await createHarness({
      journal: brokenJournal,
      options: { maxQueue: 0 },
    });
    harness.quality.set("AMR01", "lost");
    await harness.see(missions("AMR01", 0));
    for (const robot of ["AMR01", "AMR99"]) {
      const stop = await harness.send("Halt", { robot });
      expect(stop.stages).toEqual(["accepted", "sent"]);
    }
    expect(harness.calls).toHaveLength(2);
  });

  it("wait for a slow disk only so long", async () => {
    const journal: Journal = {
      ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
      write: () => new Promise(() => {}),
    };
    const harness = await createHarness({ journal });
    await harness.send("Halt", { robot: "AMR01" });
    expect(harness.calls).toHaveLength(0);
    await harness.clock.settle(50);
    expect(harness.calls).toHaveLength(1);
  });

  it("go while another command is in flight", async () => {
    const harness = await createHarness();
    const start = await harness.send("Go", { robot: "AMR01" });
    const stop = await harness.send("Halt", { robot: "AMR01" });
    await harness.call(1).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
    expect(start.outcome).toBeNull();
    await harness.call(0).answer(OK);
    expect(start.outcome?.outcome).toBe("succeeded");
  });

  it("take with them a start that is called and has not left, and no later one", async () => {
    const harness = await createHarness();
    const start = await harness.send("Go", { robot: "AMR01" });
    const other = await harness.send("Go", { robot: "AMR02" });
    expect(harness.call(0).mayLeave()).toBe(true);
    await harness.send("Halt", { robot: "AMR01" });
    expect([0, 1, 2].map((place) => harness.call(place).mayLeave())).toEqual([false, true, true]);
    await harness.call(0).answer({ kind: "not_sent", message: "a stop overtook it", byStop: true });
    expect(start.outcome).toMatchObject({ outcome: "refused", code: "CANCELED_BY_STOP" });
    expect(other.outcome).toBeNull();
    await harness.call(2).answer(OK);
    await harness.send("Go", { robot: "AMR01" });
    expect(harness.call(3).mayLeave()).toBe(true);
  });
});

describe("a stop whose ending is not known", () => {
  it("is sent again beyond its expiry, while evidence would be sought", async () => {
    const harness = await createHarness();
    const stop = await harness.send("Halt", { robot: "AMR01" });
    // As long as the service waits for a robot, and as long as the command's own time.
    await harness.clock.settle(10_000);
    await harness.call(0).answer(LOST);
    await harness.clock.settle(200);
    expect(harness.calls).toHaveLength(2);
    expect(harness.call(1).leaveWithinMs).toBe(14_800);
    await harness.clock.settle(10_000);
    await harness.call(1).answer(OK);
    expect(stop.outcome).toMatchObject({ outcome: "succeeded", code: "OK" });
  });

  it("is sent no more when evidence would be sought no longer", async () => {
    const harness = await createHarness({ options: { evidenceMs: 5_000 } });
    const stop = await harness.send("Halt", { robot: "AMR01" });
    await harness.clock.settle(10_000);
    await harness.call(0).answer(LOST);
    await harness.clock.settle(200);
    await harness.clock.settle(10_000);
    await harness.call(1).answer(LOST);
    await harness.clock.settle(20_000);
    expect(harness.calls).toHaveLength(2);
    expect(stop.outcome).toMatchObject({ outcome: "unknown", code: "DEADLINE_EXCEEDED", retrySafe: true });
  });

  it("has to have left in time: late, only what may have come through is sent again", async () => {
    const harness = await createHarness();
    const stop = await harness.send("Halt", { robot: "AMR01" });
    await harness.clock.settle(9_900);
    await harness.call(0).answer(NOT_SENT);
    await harness.clock.settle(200);
    expect(harness.calls).toHaveLength(1);
    expect(stop.outcome).toMatchObject({ outcome: "refused", code: "FLEET_UNREACHABLE" });
  });

  it("is not sent again after a later start of its conveyors, which it would undo", async () => {
    const harness = await createHarness();
    const stop = await harness.send("StopBelts", { robot: "AMR01" });
    const start = await harness.send("RollBelts", { robot: "AMR01" });
    await harness.call(0).answer(LOST);
    await harness.clock.settle(20_000);
    expect(harness.calls).toHaveLength(2);
    expect(stop.outcome).toMatchObject({ outcome: "unknown", code: "DEADLINE_EXCEEDED" });
    await harness.call(1).answer(OK);
    expect(start.outcome?.outcome).toBe("succeeded");
  });

  it("is sent again after whatever else the robot was told", async () => {
    const harness = await createHarness();
    const stop = await harness.send("StopBelts", { robot: "AMR01" });
    await harness.send("Go", { robot: "AMR01" });
    await harness.send("RollBelts", { robot: "AMR02" });
    await harness.call(0).answer(LOST);
    await harness.clock.settle(200);
    expect(harness.calls).toHaveLength(4);
    await harness.call(3).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
  });

  it("that waited for a connection when a start of its conveyors left, does not follow it", async () => {
    const harness = await createHarness();
    const stop = await harness.send("StopBelts", { robot: "AMR01" });
    await harness.call(0).answer(NOT_SENT);
    await harness.send("RollBelts", { robot: "AMR01" }, { requestId: "roll" });
    await harness.clock.settle(200);
    expect(harness.calls).toHaveLength(2);
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
    const harness = await createHarness({ callsWait: true });
    const stop = await harness.send("StopBelts", { robot: "AMR01" });
    await harness.send("RollBelts", { robot: "AMR01" });
    if (startEnds === NO) harness.call(1).leave();
    await harness.call(0).answer(stopEnds);
    await harness.call(1).answer(startEnds);
    await harness.clock.settle(3_000);
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["StopBelts", "RollBelts", "StopBelts"]);
    await harness.call(2).answer(OK);
    expect(stop.outcome?.outcome).toBe("succeeded");
  });

  it("that waits for its place does not leave after a start of its conveyors has", async () => {
    const harness = await createHarness({ callsWait: true });
    await harness.send("StopBelts", { robot: "AMR01" });
    await harness.send("RollBelts", { robot: "AMR01" });
    expect(harness.call(0).mayLeave()).toBe(true);
    harness.call(1).leave();
    expect(harness.call(0).mayLeave()).toBe(false);
  });

  it("that came after a start takes with it the start that has not left, from the moment in which it came", async () => {
    const memory = createMemoryJournal({ keepMs: 1, keepCount: 1 });
    const write: Journal["write"] = (entry) =>
      entry.command.operation === "StopBelts" ? new Promise(() => {}) : memory.write(entry);
    const harness = await createHarness({ journal: { ...memory, write }, callsWait: true });
    await harness.send("RollBelts", { robot: "AMR01" });
    expect(harness.call(0).mayLeave()).toBe(true);
    await harness.send("StopBelts", { robot: "AMR01" });
    // Its record is not on the disk yet.
    expect(harness.calls).toHaveLength(1);
    expect(harness.call(0).mayLeave()).toBe(false);
    await harness.clock.settle(50);
    expect(harness.call(1).operation).toBe("StopBelts");
  });

  it("that came after a start leaves after it, whenever that does", async () => {
    const harness = await createHarness({ callsWait: true });
    await harness.send("RollBelts", { robot: "AMR01" });
    await harness.send("StopBelts", { robot: "AMR01" });
    harness.call(0).leave();
    expect(harness.call(1).mayLeave()).toBe(true);
  });

  it("does not, sent again, take with it a start that was made after it", async () => {
    const harness = await createHarness({ callsWait: true });
    await harness.send("Halt", { robot: "AMR01" });
    await harness.call(0).answer(LOST);
    await harness.send("Go", { robot: "AMR01" });
    await harness.clock.settle(200);
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["Halt", "Go", "Halt"]);
    expect(harness.call(1).mayLeave()).toBe(true);
  });
});

describe("a pause whose ending is not known", () => {
  it("of a mission is not sent again after a later resume", async () => {
    const harness = await createHarness({ catalogue: createCatalogue() });
    await harness.see(missions("AMR01", 0, mission("m1", "A")));
    const update = (command: string) =>
      harness.send("UpdateMission", { robotId: "AMR01", missionCommand: { missionId: "m1", command } });
    await update("COMMAND_PAUSE");
    await harness.call(0).answer(LOST);
    const resume = await update("COMMAND_RESUME");
    await harness.call(1).answer(OK);
    expect(resume.outcome?.outcome).toBe("succeeded");
    await harness.clock.settle(3_000);
    expect(harness.calls).toHaveLength(2);
  });

  it("of a robot is not sent again after a later resume", async () => {
    const harness = await createHarness({ catalogue: createCatalogue() });
    await harness.see(presence("AMR01", 7));
    await harness.send("PauseRobot", { amrId: 7 });
    await harness.call(0).answer(LOST);
    await harness.send("ResumeRobot", { amrId: 7 });
    await harness.call(1).answer(OK);
    await harness.clock.settle(3_000);
    expect(harness.calls).toHaveLength(2);
  });
});

it("a stop that comes after its expiry has time to leave", async () => {
  const harness = await createHarness();
  await harness.send("Halt", { robot: "AMR01" }, { startByMs: harness.clock.nowMs() - 5_000 });
  expect(harness.call(0).leaveWithinMs).toBe(2_000);
});

describe("a stop that comes while the service is asked for the robot of a start", () => {
  const answer = (number: number): CallEnding => ({
    kind: "ok",
    responseJson: JSON.stringify({ number }),
    missionId: null,
  });

  it("cancels that start", async () => {
    const harness = await createHarness();
    await harness.see(presence("AMR01", 7));
    const start = await harness.send("Confirm", { chain: 5 });
    await harness.send("Halt", { robot: "AMR01" });
    await harness.call(0).answer(answer(7));
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["FindChain", "Halt"]);
    expect(start.outcome).toMatchObject({ outcome: "refused", code: "CANCELED_BY_STOP" });
  });

  it("cancels no start of another robot, and none that came after it", async () => {
    const harness = await createHarness();
    await harness.see(presence("AMR01", 7), presence("AMR02", 8));
    // In one turn.
    void harness.send("Halt", { robot: "AMR01" });
    await harness.send("Confirm", { chain: 5 });
    await harness.send("Halt", { robot: "AMR02" });
    await harness.call(0).answer(answer(7));
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["FindChain", "Halt", "Halt", "Confirm"]);
  });
});
