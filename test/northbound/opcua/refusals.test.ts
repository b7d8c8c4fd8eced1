import { describe, expect, it } from "vitest";
import { conveyorRequest } from "../../../src/northbound/opcua/commands/conveyor-slot.ts";
import {
  type MissionParameters,
  type MissionRobot,
  missionRequest,
} from "../../../src/northbound/opcua/commands/mission-request.ts";
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
} from "./slot-bench.ts";

/** Each with the very words that `ErrorText` shows. */
describe("a slot's refusals", () => {
  eachWithItsServer();

  it("OUT_OF_TURN: a number that is not NextId", async () => {
    const wrong = ((await nextId()) % 32_767) + 1;
    await navigate(wrong);
    expect(await shown("RejectedId", "ErrorId", "ErrorText")).toEqual([
      wrong,
      1012,
      "the number is not NextId: read NextId and copy it into RequestId",
    ]);
  });

  it("TICKET_IN_USE: any other number while a command runs", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    const sent = await commander.next();
    await plc.write([slot("RequestId"), int32(ticket + 1)]);
    expect(await shown("RejectedId", "ErrorId", "ErrorText")).toEqual([
      ticket + 1,
      1013,
      "the command before is still running: wait until DoneId is its number",
    ]);
    sent.end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome")).toEqual([3]);
  });

  it("JOURNAL_FAILED: a disk that fails", async () => {
    disk.behave("failing");
    const ticket = await nextId();
    await navigate(ticket);
    await plc.until(slot("DoneId"), ticket);
    const full =
      "the slot's tickets cannot be kept: cannot write to tickets: the disk is full: 0.3 MB free, at least 8.0 are needed; nothing was sent";
    expect(await shown("Outcome", "ErrorId", "ErrorText")).toEqual([4, 1014, full]);
    const next = await nextId();
    await navigate(next);
    expect(await shown("RejectedId", "ErrorId", "ErrorText")).toEqual([next, 1014, full]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("JOURNAL_FAILED: a disk of which nothing is heard any more", async () => {
    disk.behave("hanging");
    // Only so many numbers are shown unkept as a restart skips.
    while ((await plc.value(slot("NextId"))) !== 0) clock.advance(31_000);
    await plc.write([slot("RequestId"), int32(5)]);
    expect(await shown("ErrorId", "ErrorText")).toEqual([
      1014,
      "the slot's tickets are not kept yet; nothing was sent",
    ]);
  });

  it("JOURNAL_FAILED: records that cannot be read", async () => {
    await plc.close();
    await running.stop();
    disk.records.set("t/Robots.AMR01.MissionSlot", "rubbish");
    await start();
    await navigate(await nextId());
    const [error, words] = await shown("ErrorId", "ErrorText");
    expect(error).toBe(1014);
    expect(words).toMatch(/^the slot's tickets cannot be read: .+; nothing was sent$/);
  });

  it("JOURNAL_FAILED: a journal that does not tell what became of the slot's command", async () => {
    await navigate(await nextId());
    (await commander.next()).stage("accepted");
    await plc.until(slot("Outcome"), 1);
    await plc.close();
    await running.stop();
    await start({ records: { recall: () => Promise.reject(new Error("planted")) } });
    await plc.until(slot("ErrorId"), 1014);
    expect(await shown("NextId", "ErrorText")).toEqual([
      0,
      "a slot stays closed: what became of its command is not known",
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
      "the gateway failed; look at the robot",
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
};
const cart: MissionRobot = { robotId: "r1", family: "cart", currentMissionId: null };
const named = new Map([[4, "Station A"]]);

describe("parameters that make no command", () => {
  it.each<[Partial<MissionParameters>, string]>([
    [{ operation: 0 }, "Operation is 0, which is no operation"],
    [{ operation: 9 }, "Operation 9 is no operation"],
    [{ operation: 5, destination: "A" }, "Operation 5 is for serve robots, and this is a cart robot"],
    [{ operation: 12 }, "TargetMissionId is empty, and no current mission of the robot is known"],
    [{ operation: 13 }, "TargetMissionId is empty, and no current mission of the robot is known"],
    [{ operation: 1 }, "Destination is empty"],
    [{ operation: 3 }, "Destinations and Destination are empty"],
    [{ operation: 3, destinations: ["A", "", "B"] }, "Destinations[1] is empty, and a later one is not"],
    [
      { operation: 1, destination: "A", destinationNos: [4] },
      "DestinationNo is set, and Destination or Destinations too: which is meant?",
    ],
    [{ operation: 1, destinationNos: [5] }, "opcua.destinations has no number 5"],
  ])("MALFORMED: %j", (parameters, problem) => {
    expect(missionRequest({ ...nothing, ...parameters }, cart, named)).toEqual({ problem });
  });

  it.each([
    [10, "COMMAND_CANCEL"],
    [11, "COMMAND_PAUSE"],
  ])("but a stop without a mission goes out, for what waits: Operation %i", (operation, command) => {
    expect(missionRequest({ ...nothing, operation }, cart, named)).toEqual({
      operation: "UpdateMission",
      request: { robotId: "r1", missionCommand: { missionId: "", command } },
      missionId: null,
    });
  });

  it("MALFORMED: a motor command that there is not", () => {
    expect(conveyorRequest("r1", 0, 9)).toEqual({ problem: "MotorCommand 9 is no command" });
  });
});
