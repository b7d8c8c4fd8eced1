import { StatusCodes } from "node-opcua";
import { describe, expect, it } from "vitest";
import { ending, refusal } from "../../../src/domain/outcome.ts";
import { mission, missionChange, presenceChange, queueOf, robotChange } from "./changes.ts";
import { succeeded } from "./fake-commands.ts";
import {
  clock,
  closed,
  commander,
  eachWithItsServer,
  int32,
  navigate,
  nextId,
  plc,
  running,
  shown,
  slot,
  text,
  texts,
} from "./slots-harness.ts";

describe("a mission slot", () => {
  eachWithItsServer();

  it("takes a ticket once and shows each step until DoneId is its number", async () => {
    const ticket = await nextId();
    expect(await navigate(ticket)).toEqual([StatusCodes.Good, StatusCodes.Good, StatusCodes.Good]);
    const sent = await commander.next();
    expect(sent.command).toMatchObject({
      source: { protocol: "opcua", name: "anonymous" },
      operation: "CreateMission",
      robotId: "r1",
      startByMs: clock.nowMs() + 10_000,
    });
    expect(JSON.parse(sent.command.requestJson)).toEqual({
      robotId: "r1",
      mission: { cartMission: { navigateMission: { goal: { destinationId: "Dock A" } } } },
    });
    expect(await shown("AcceptedId", "Outcome", "AcceptedText")).toEqual([0, 0, ""]);
    expect(await nextId()).not.toBe(ticket);
    sent.stage("accepted");
    expect(await shown("AcceptedId", "Outcome", "DoneId")).toEqual([ticket, 1, 0]);
    expect(await shown("AcceptedBy", "AcceptedByNo", "AcceptedText")).toEqual([
      "anonymous",
      0,
      "navigate to Dock A",
    ]);
    sent.stage("sent");
    expect(await shown("AcceptedId", "Outcome", "DoneId")).toEqual([ticket, 2, 0]);
    sent.end(succeeded("m-77"));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId", "ErrorText", "MissionId", "RetrySafe")).toEqual([
      3,
      0,
      "",
      "m-77",
      true,
    ]);
    expect(await nextId()).not.toBe(ticket);
  });

  it("does nothing when the number that was taken is written again and again", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(succeeded("m-1"));
    await plc.until(slot("DoneId"), ticket);
    for (let times = 0; times < 3; times += 1) {
      expect(await plc.write([slot("RequestId"), int32(ticket)])).toEqual([StatusCodes.Good]);
    }
    clock.advance(120_000);
    expect(await plc.write([slot("RequestId"), int32(ticket)])).toEqual([StatusCodes.Good]);
    expect(commander.submitted).toHaveLength(1);
    expect(await shown("DoneId", "Outcome")).toEqual([ticket, 3]);
  });

  it("never gives two commands the same request id", async () => {
    for (const missionId of ["m-1", "m-2"]) {
      const ticket = await nextId();
      await navigate(ticket);
      (await commander.next()).end(succeeded(missionId));
      await plc.until(slot("DoneId"), ticket);
    }
    const ids = commander.submitted.map((entry) => entry.command.requestId);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toContain("Robots.AMR01.MissionSlot/");
  });

  it("tells of a number that it never issued to look at the robot", async () => {
    const wrong = (await nextId()) + 1_000;
    expect((await navigate(wrong))[0]).toBe(StatusCodes.Good);
    expect(await shown("RejectedId", "RejectedError", "AcceptedId", "DoneId")).toEqual([wrong, 1020, 0, 0]);
    expect(await closed()).toEqual([-wrong]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("replaces an unused ticket after 30 s, and never takes it again", async () => {
    const first = await nextId();
    clock.advance(31_000);
    const second = await nextId();
    expect(second).not.toBe(first);
    await navigate(first);
    expect(await shown("RejectedId", "RejectedError")).toEqual([first, 1012]);
    expect(await closed()).toEqual([first]);
    expect(commander.submitted).toHaveLength(0);
    await navigate(second);
    expect((await commander.next()).command.operation).toBe("CreateMission");
  });

  it("keeps a number whatever the wall clock does, and changes it after 30 s", async () => {
    const first = await nextId();
    for (const byMs of [3_600_000, -7_200_000]) {
      clock.jump(byMs);
      clock.advance(1_000);
      expect(await nextId()).toBe(first);
    }
    clock.advance(31_000);
    expect(await nextId()).not.toBe(first);
  });

  it("closes a ticket when its negative is written, and stops nothing by it", async () => {
    const ticket = await nextId();
    await plc.write([slot("RequestId"), int32(-ticket)]);
    expect(await closed()).toEqual([ticket]);
    expect(await shown("RejectedId", "RejectedError")).toEqual([ticket, 0]);
    await navigate(ticket);
    expect(commander.submitted).toHaveLength(0);
    const next = await nextId();
    await navigate(next);
    const sent = await commander.next();
    await plc.write([slot("RequestId"), int32(-next)]);
    // Being journaled: there is no answer yet.
    expect(await closed()).toEqual([ticket]);
    sent.stage("accepted");
    await plc.write([slot("RequestId"), int32(-next)]);
    expect(await closed()).toEqual([ticket]);
    expect(await shown("AcceptedId")).toEqual([next]);
  });

  it("does nothing when 0 is written", async () => {
    const ticket = await nextId();
    await plc.write([slot("RequestId"), int32(0)]);
    expect(await nextId()).toBe(ticket);
    expect(await closed()).toEqual([]);
  });

  it("shows everything of one moment in one array", async () => {
    const [void1, ticket] = [await nextId(), (await nextId()) + 1];
    await plc.write([slot("RequestId"), int32(-void1)]);
    await navigate(ticket);
    (await commander.next()).end(refusal("FAILED_PRECONDITION", "the robot is on a mission", false));
    await plc.until(slot("DoneId"), ticket);
    expect(Array.from((await plc.value(slot("Answer"))) as Int32Array)).toEqual([
      ...[ticket, ticket, 4, 9, 0, void1, 0, ticket + 1, 0],
      ...[ticket, 3, 4],
      ...[void1, 0, 0, 0, 0, 0, 0, 0],
    ]);
  });

  it("shows a refusal as final, with its number and text", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(refusal("FAILED_PRECONDITION", "the robot is on a mission", false));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("AcceptedId", "Outcome", "ErrorId", "ErrorText", "RetrySafe")).toEqual([
      ticket,
      4,
      9,
      "the robot is on a mission",
      false,
    ]);
  });

  it("shows the evidence of a success that was inferred, beside what it was inferred from", async () => {
    const inferred = ending("probably_succeeded", "OK", "inferred: the call itself ended ABORTED", false);
    for (const [message, shownText] of [
      [inferred.message, "inferred: the call itself ended ABORTED; evidence: mission m-4 appeared"],
      ["", "mission m-4 appeared"],
    ] as const) {
      const ticket = await nextId();
      await navigate(ticket);
      (await commander.next()).end({ ...inferred, message, evidence: "mission m-4 appeared" });
      await plc.until(slot("DoneId"), ticket);
      expect(await shown("Outcome", "ErrorText")).toEqual([7, shownText]);
    }
  });

  it("cuts a long explanation, not a text that means something", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(ending("unknown", "OUTCOME_UNKNOWN", "é".repeat(400), false));
    await plc.until(slot("DoneId"), ticket);
    const [explanation, outcome] = await shown("ErrorText", "Outcome");
    expect(Buffer.byteLength(String(explanation))).toBeLessThanOrEqual(254);
    expect(outcome).toBe(6);
  });

  it("ends a command that the gateway failed at as unknown", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).fail(new Error("planted"));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId", "RetrySafe")).toEqual([6, 1099, false]);
  });

  it("refuses parameters that make no command, and sends nothing", async () => {
    const ticket = await nextId();
    expect(await navigate(ticket, "")).toEqual([StatusCodes.Good, StatusCodes.Good, StatusCodes.Good]);
    expect(await shown("DoneId", "Outcome", "ErrorId", "ErrorText")).toEqual([
      ticket,
      4,
      1000,
      "Destination is missing, and DestinationNo too: one of them says where to",
    ]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("sends a route, and refuses one with a gap", async () => {
    await plc.write([slot("Operation"), int32(3)], [slot("Destinations"), texts(["A", "", "C"])]);
    await plc.write([slot("RequestId"), int32(await nextId())]);
    expect(await shown("Outcome", "ErrorText")).toEqual([
      4,
      "Destinations[1] is empty, and a later one is not",
    ]);
    await plc.write([slot("Destinations"), texts(["A", "B"])], [slot("RequestId"), int32(await nextId())]);
    const sent = await commander.next();
    expect(JSON.parse(sent.command.requestJson).mission.cartMission).toEqual({
      traverseMission: { goals: [{ destinationId: "A" }, { destinationId: "B" }] },
    });
  });

  it("cancels the robot's current mission unless another is named", async () => {
    const ticket = await nextId();
    await plc.write([slot("Operation"), int32(10)], [slot("RequestId"), int32(ticket)]);
    // No mission is known: it is a stop all the same, for the starts that wait in the gateway.
    const bare = await commander.next();
    expect(JSON.parse(bare.command.requestJson).missionCommand.missionId).toBe("");
    bare.end(refusal("INVALID_ARGUMENT", "mission_command.mission_id is empty"));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId", "MissionId")).toEqual([4, 3, ""]);
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m-5")))], events: [] });
    await plc.write([slot("RequestId"), int32(await nextId())]);
    expect(JSON.parse((await commander.next()).command.requestJson)).toEqual({
      robotId: "r1",
      missionCommand: { missionId: "m-5", command: "COMMAND_CANCEL" },
    });
  });

  it("pauses what the robot does now: its running mission, or its task chain", async () => {
    const pause = async () => {
      const ticket = await nextId();
      await plc.write([slot("CommandText"), text(`${ticket};11`)]);
      const sent = await commander.next();
      sent.end(succeeded(null));
      await plc.until(slot("DoneId"), ticket);
      return sent.command;
    };
    const paused = mission("m-4", { state: "STATE_PAUSED" });
    const chain = presenceChange("r1", "good", { taskChainId: 12, stateId: "ROBOT_STATE_RUNNING" });
    running.server.write({ changes: [missionChange("r1", queueOf(paused)), chain], events: [] });
    expect(JSON.parse((await pause()).requestJson)).toEqual({ amrId: 11, stopNow: true });
    expect(await shown("AcceptedText")).toEqual(["pause the task chain"]);
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m-5")))], events: [] });
    expect(JSON.parse((await pause()).requestJson).missionCommand).toEqual({
      missionId: "m-5",
      command: "COMMAND_PAUSE",
    });
  });

  it("follows the mission that it made", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(succeeded("m-9"));
    await plc.until(slot("DoneId"), ticket);
    expect((await plc.read(slot("MissionState"))).statusCode).not.toBe(StatusCodes.Good);
    const arrived = mission("m-9", { feedback: { family: "cart", status: "STATUS_ARRIVED" } });
    running.server.write({
      changes: [missionChange("r1", queueOf(arrived, mission("foreign")))],
      events: [],
    });
    expect(await shown("MissionState", "GoalIndex", "Arrived")).toEqual([2, 1, true]);
    const done = mission("m-9", { state: "STATE_SUCCEEDED" });
    running.server.write({ changes: [missionChange("r1", queueOf(done))], events: [] });
    expect(await shown("MissionState", "Arrived")).toEqual([5, false]);
    running.server.write({ changes: [missionChange("r1", queueOf(done), "stale")], events: [] });
    expect((await plc.read(slot("MissionState"))).statusCode).toBe(StatusCodes.UncertainLastUsableValue);
  });

  it("shows nothing of an earlier mission from the acceptance of the next one on", async () => {
    const first = await nextId();
    await navigate(first);
    (await commander.next()).end(succeeded("m-1"));
    await plc.until(slot("DoneId"), first);
    const done = mission("m-1", { state: "STATE_SUCCEEDED" });
    running.server.write({ changes: [missionChange("r1", queueOf(done))], events: [] });
    expect(await shown("MissionState")).toEqual([5]);
    const second = await nextId();
    await navigate(second);
    const sent = await commander.next();
    sent.stage("accepted");
    expect(await shown("MissionState", "Arrived", "DoneId")).toEqual([0, false, first]);
    sent.end(succeeded("m-2"));
    await plc.until(slot("DoneId"), second);
    // Its stream has not shown it yet.
    const { statusCode, value } = await plc.read(slot("MissionState"));
    expect([statusCode.isGood(), value.value]).toEqual([false, 0]);
    // A refused one has made none: where the robot is sent by an earlier one says nothing of it.
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m-2")))], events: [] });
    const third = await nextId();
    await navigate(third);
    (await commander.next()).end(refusal("FAILED_PRECONDITION", "a mission runs"));
    await plc.until(slot("DoneId"), third);
    expect(await shown("MissionState", "Arrived")).toEqual([0, false]);
  });
});

describe("a conveyor slot", () => {
  eachWithItsServer();

  it("turns a motor", async () => {
    running.server.write({ changes: [robotChange("r1", "good")], events: [] });
    const conveyor = "Robots.AMR01.ConveyorSlot";
    const ticket = await plc.nextId(`${conveyor}.NextId`);
    const statuses = await plc.write(
      [`${conveyor}.ConveyorIndex`, int32(0)],
      [`${conveyor}.MotorCommand`, int32(2)],
      [`${conveyor}.RequestId`, int32(ticket)],
    );
    expect(statuses).toEqual([StatusCodes.Good, StatusCodes.Good, StatusCodes.Good]);
    const sent = await commander.next();
    expect(sent.command.operation).toBe("ControlConveyor");
    expect(JSON.parse(sent.command.requestJson)).toEqual({
      robotId: "r1",
      commands: [{ index: 0, command: "COMMAND_CONVEYOR_MOTOR_CW" }],
    });
    sent.end(succeeded(null));
    await plc.until(`${conveyor}.DoneId`, ticket);
    expect(await plc.write([`${conveyor}.MotorCommand`, int32(4)])).toEqual([StatusCodes.BadOutOfRange]);
  });
});
