import { describe, expect, it } from "vitest";
import { conveyorRequest } from "../../../src/northbound/opcua/commands/conveyor-slot.ts";
import { missionRequest } from "../../../src/northbound/opcua/commands/mission-request.ts";
import type {
  MissionParameters,
  MissionRobot,
} from "../../../src/northbound/opcua/commands/slot-operation.ts";
import { succeeded } from "./fake-commands.ts";
import {
  clock,
  commander,
  disk,
  eachWithItsServer,
  int32,
  navigate,
  nextId,
  plc,
  running,
  shown,
  slot,
  start,
  text,
} from "./slots-harness.ts";

/** Each with the very words that `ErrorText` shows. */
describe("a slot's refusals", () => {
  eachWithItsServer();

  it("OUT_OF_TURN: a number that is not NextId any more", async () => {
    const old = await nextId();
    clock.advance(31_000);
    await navigate(old);
    expect(await shown("RejectedId", "RejectedError", "RejectedText")).toEqual([
      old,
      1012,
      "the number was not NextId, and nothing was or will be sent under it: take a new one",
    ]);
  });

  it("UNKNOWN_NUMBER: a number of which the slot knows nothing", async () => {
    await plc.write([slot("RequestId"), int32(-7)]);
    expect(await shown("RejectedId", "RejectedError", "RejectedText")).toEqual([
      7,
      1020,
      "this slot does not know what became of the number: look at the robot",
    ]);
  });

  it("SLOT_IN_USE: a start while a command runs", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    const sent = await commander.next();
    const next = await nextId();
    await navigate(next);
    expect(await shown("RejectedId", "RejectedError", "RejectedText")).toEqual([
      next,
      1013,
      "a command was still running, and nothing was sent: wait until DoneId is its number",
    ]);
    sent.end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome")).toEqual([3]);
  });

  const passing = "; nothing was sent, and stops are taken all the same";

  it("JOURNAL_FAILED: a disk that fails", async () => {
    disk.behave("failing");
    const ticket = await nextId();
    await navigate(ticket);
    await plc.until(slot("RejectedId"), ticket);
    const full =
      "the slot's sequence numbers cannot be kept: cannot write to slots: the disk is full: 0.3 MB free, at least 8.0 are needed";
    expect(await shown("RejectedError", "RejectedText")).toEqual([1014, `${full}${passing}`]);
    const next = await nextId();
    await navigate(next);
    expect(await shown("RejectedId", "RejectedError", "RejectedText")).toEqual([
      next,
      1014,
      `${full}${passing}`,
    ]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("JOURNAL_FAILED: a disk of which nothing is heard any more", async () => {
    disk.behave("hanging");
    const ticket = await nextId();
    await navigate(ticket);
    clock.advance(1_000);
    await plc.until(slot("RejectedId"), ticket);
    const late = "the slot's sequence numbers cannot be kept: they were not stored within 1000 ms";
    expect(await shown("RejectedError", "RejectedText")).toEqual([1014, `${late}${passing}`]);
  });

  it("JOURNAL_FAILED: records that cannot be read", async () => {
    await plc.close();
    await running.stop();
    disk.records.set("slots/Robots.AMR01.MissionSlot", "rubbish");
    await start();
    await navigate(await nextId());
    const [error, words] = await shown("RejectedError", "RejectedText");
    expect(error).toBe(1014);
    expect(words).toMatch(
      /^the slot's sequence numbers cannot be read: the record .+ of the table slots is not what was written; nothing was sent, and stops/,
    );
  });

  it("JOURNAL_FAILED: a journal that does not tell what became of the slot's command", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).stage("accepted");
    await plc.until(slot("Outcome"), 1);
    await plc.close();
    await running.stop();
    await start({ records: { recall: () => Promise.reject(new Error("planted")) } });
    await plc.until(slot("ErrorId"), 1014);
    expect(await shown("AcceptedId", "DoneId", "Outcome", "ErrorText")).toEqual([
      ticket,
      0,
      1,
      "a slot takes stops only: what became of its command is not known",
    ]);
  });

  it("SHUTTING_DOWN: the gateway stopped before the command was in the journal", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    await commander.next();
    await plc.close();
    await running.stop();
    await start();
    expect(await shown("RejectedId", "RejectedError", "RejectedText")).toEqual([
      ticket,
      1011,
      "the gateway stopped before it was recorded, and nothing was sent: take a new number",
    ]);
  });

  it("MALFORMED: the last write of a parameter was refused", async () => {
    await plc.write([slot("Destination"), text("x".repeat(255))]);
    const ticket = await nextId();
    await plc.write([slot("Operation"), int32(1)], [slot("RequestId"), int32(ticket)]);
    expect(await shown("DoneId", "Outcome", "ErrorId", "ErrorText")).toEqual([
      ticket,
      4,
      1000,
      "the last write to Robots.AMR01.MissionSlot.Destination was refused",
    ]);
  });

  it("INTERNAL_FAULT: the gateway failed at it, which is unknown and no refusal", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).fail(new Error("planted"));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId", "ErrorText")).toEqual([
      6,
      1099,
      "the gateway failed; whether the command was sent is not known",
    ]);
  });

  it("OUTCOME_UNKNOWN: the journal does not know it any more after a restart", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).stage("accepted");
    await plc.until(slot("AcceptedId"), ticket);
    await plc.close();
    await running.stop();
    await start({ records: { recall: async () => null } });
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId", "ErrorText")).toEqual([
      6,
      1010,
      "the gateway stopped while the command ran, and its journal does not know it any more",
    ]);
  });
});

const nothing: MissionParameters = {
  operation: 0,
  destination: "",
  destinationNos: [],
  destinations: [],
  targetMissionId: "",
  targetTaskChainId: 0,
  pose: null,
};
const cart: MissionRobot = {
  robotId: "r1",
  family: "cart",
  currentMissionId: null,
  amrId: null,
  taskChain: null,
  pauseNow: () => null,
};
const named = new Map([[4, "Station A"]]);

describe("parameters that make no command", () => {
  it.each<[Partial<MissionParameters>, string]>([
    [{ operation: 0 }, "Operation is 0, which is no operation"],
    [{ operation: 9 }, "Operation 9 is no operation"],
    [{ operation: 5, destination: "A" }, "Operation 5 is for serve robots, and this is a cart robot"],
    [{ operation: 12 }, "the command names no mission, and no current mission of the robot is known"],
    [{ operation: 13 }, "the command names no mission, and no current mission of the robot is known"],
    [{ operation: 1 }, "Destination is missing, and DestinationNo too: one of them says where to"],
    [
      { operation: 3 },
      "Destination is missing, and DestinationNo, and Destinations too: one of them says where to",
    ],
    [{ operation: 3, destinations: ["A", "", "B"] }, "Destinations[1] is empty, and a later one is not"],
    [
      { operation: 1, destination: "A", destinationNos: [4] },
      "Destination and DestinationNo are both set: empty all but the one that is meant",
    ],
    [{ operation: 1, destinationNos: [5] }, "opcua.destinations has no number 5"],
    [{ operation: 16 }, "the number of the robot is not known: the service has not listed it yet"],
    [{ operation: 17 }, "no task chain of the robot is known now, so none can be confirmed"],
    [{ operation: 61, destination: "A" }, "Operation 61 is for serve robots, and this is a cart robot"],
    [{ operation: 70 }, "Pose is missing: x and y in mm, heading in mrad"],
  ])("MALFORMED: %j", (parameters, problem) => {
    expect(missionRequest({ ...nothing, ...parameters }, cart, named)).toEqual({ problem });
  });

  it.each([
    [10, "COMMAND_CANCEL", "cancel whatever waits"],
    [11, "COMMAND_PAUSE", "pause whatever waits"],
    [14, "COMMAND_CANCEL", "cancel whatever waits"],
    [15, "COMMAND_PAUSE", "pause whatever waits"],
    [18, "COMMAND_CANCEL", "cancel whatever waits"],
    [19, "COMMAND_PAUSE", "pause whatever waits"],
  ])("but a stop without a mission goes out, for what waits: Operation %i", (operation, command, words) => {
    expect(missionRequest({ ...nothing, operation }, cart, named)).toEqual({
      text: words,
      operation: "UpdateMission",
      request: { robotId: "r1", missionCommand: { missionId: "", command } },
      missionId: null,
    });
  });

  it.each([
    [14, "CancelTaskChain", { taskChainId: 9, force: false }],
    [15, "PauseRobot", { amrId: 7, stopNow: true }],
    [18, "CancelTaskChain", { taskChainId: 9, force: true }],
    [19, "PauseRobot", { amrId: 7, stopNow: false }],
  ])("a stop by number goes out on what was seen last: Operation %i", (operation, name, request) => {
    const seen = { ...cart, amrId: 7, taskChain: { chainId: 9, isSeenNow: false } };
    expect(missionRequest({ ...nothing, operation }, seen, named)).toMatchObject({
      operation: name,
      request,
    });
    expect(missionRequest({ ...nothing, operation: 17 }, seen, named)).toHaveProperty("problem");
  });

  it("MALFORMED: a motor command that there is not", () => {
    expect(conveyorRequest("r1", 0, 9)).toEqual({ problem: "MotorCommand 9 is no command" });
    const written = "this session has not written it";
    expect(conveyorRequest("r1", undefined, 1)).toEqual({ problem: `ConveyorIndex is missing: ${written}` });
    expect(conveyorRequest("r1", 0, undefined)).toEqual({ problem: `MotorCommand is missing: ${written}` });
  });
});
