import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, succeeded } from "./fake-commands.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-bench.ts";
import { int32, text, texts } from "./slot-bench.ts";

const slot = (name: string) => `Robots.AMR01.MissionSlot.${name}`;
const robots = [
  { robotId: "r1", alias: "AMR01", number: null, family: "cart", conveyorIndexes: [0] },
] as const;
const users = [
  { name: "careful", role: "operator", confirms: true, secret: { kind: "plain", text: "pw" } },
  { name: "plain", role: "operator", confirms: false, secret: { kind: "plain", text: "pw" } },
] as const;
let running: RunningServer;
let plc: Caller;
let commander: FakeCommander;
let clock: ManualClock;

async function open(name: string): Promise<Caller> {
  return openSession(running.url, { user: { name, password: "pw" } });
}
beforeEach(async () => {
  commander = createFakeCommander();
  clock = createManualClock();
  running = await startServer(
    {
      robots,
      users,
      destinations: new Map([
        [1, "Dock A"],
        [2, "Dock B"],
      ]),
    },
    { commander, clock },
  );
  plc = await open("careful");
});
afterEach(async () => {
  await plc.close();
  await running.stop();
});

const shown = (...names: string[]) => Promise.all(names.map((name) => plc.value(slot(name))));
const nextId = async () => (await plc.value(slot("NextId"))) as number;
const array = (values: readonly number[], length = 12) =>
  ({
    dataType: "Int32",
    arrayType: "Array",
    value: [...values, ...new Array(Math.max(0, length - values.length)).fill(0)],
  }) as const;
const answer = async () => Array.from((await plc.value(slot("Answer"))) as Int32Array);

describe("a command as one array", () => {
  it("needs no other tag, and is answered in one", async () => {
    const ticket = await nextId();
    expect(await plc.write([slot("Command"), array([ticket, 3, 1, 2])])).toEqual([StatusCodes.Good]);
    const sent = await commander.next();
    expect(JSON.parse(sent.command.requestJson).mission.cartMission).toEqual({
      traverseMission: { goals: [{ destinationId: "Dock A" }, { destinationId: "Dock B" }] },
    });
    sent.stage("accepted");
    expect((await answer()).slice(0, 5)).toEqual([ticket, 0, 1, 0, 0]);
    sent.end(succeeded("m-1"));
    await plc.until(slot("DoneId"), ticket);
    expect(await answer()).toEqual([ticket, ticket, 3, 0, 1, 0, await nextId(), 0]);
  });

  it("does nothing when it is written in every cycle, also when its numbers change", async () => {
    const ticket = await nextId();
    await plc.write([slot("Command"), array([ticket, 1, 1])]);
    (await commander.next()).end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    for (const destination of [1, 2]) {
      expect(await plc.write([slot("Command"), array([ticket, 1, destination])])).toEqual([StatusCodes.Good]);
    }
    expect(commander.submitted).toHaveLength(1);
  });

  it("takes nothing of the parameters that stand beside it", async () => {
    await plc.write([slot("Destination"), text("elsewhere")], [slot("TargetMissionId"), text("m-9")]);
    await plc.write([slot("Command"), array([await nextId(), 1, 2])]);
    const { command } = await commander.next();
    expect(command.requestJson).toContain("Dock B");
    expect(command.requestJson).not.toContain("elsewhere");
  });

  it("is refused with a reason where a number means nothing", async () => {
    for (const [numbers, reason] of [
      [[1, 9], "opcua.destinations has no number 9"],
      [[99, 1], "Operation 99 is no operation"],
      [[0], "Operation is 0, which is no operation"],
      [[1, 1, 2], "Command[3] is 2, and this operation uses nothing there: write 0"],
      [[21, 0, 2], "Command[3] is 2, and this operation uses nothing there: write 0"],
      [[12, 1], "Command[2] is 1, and this operation uses nothing there: write 0"],
      [[30, 0, 0, 2], "Command[4] is 2, and this operation uses nothing there: write 0"],
      [
        [31, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1],
        "Command[11] is -1, and this operation uses nothing there: write 0",
      ],
    ] as const) {
      const ticket = await nextId();
      await plc.write([slot("Command"), array([ticket, ...numbers])]);
      expect(await shown("DoneId", "Outcome", "ErrorText")).toEqual([ticket, 4, reason]);
    }
    expect(commander.submitted).toHaveLength(0);
  });

  it("of a conveyor has nothing behind the motor's command, unless it stops", async () => {
    const conveyor = (name: string) => `Robots.AMR01.ConveyorSlot.${name}`;
    const ticket = (await plc.value(conveyor("NextId"))) as number;
    await plc.write([conveyor("Command"), array([ticket, 1, 2, 2, 3, 3])]);
    expect(await plc.value(conveyor("DoneId"))).toBe(ticket);
    expect(await plc.value(conveyor("ErrorText"))).toBe(
      "Command[3] is 2, and this operation uses nothing there: write 0",
    );
    expect(commander.submitted).toHaveLength(0);
    const second = (await plc.value(conveyor("NextId"))) as number;
    await plc.write([conveyor("Command"), array([second, 1, 1, 2, 3, 3])]);
    expect(JSON.parse((await commander.next()).command.requestJson).commands).toEqual([
      { index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" },
    ]);
  });

  it.each([10, 11])("stops whatever stands behind Operation %i", async (operation) => {
    await plc.write([slot("Command"), array([await nextId(), operation, 1, 99])]);
    expect((await commander.next()).command.operation).toBe("UpdateMission");
  });

  it.each([
    ["11 numbers", array([1], 11), StatusCodes.BadOutOfRange],
    ["a scalar", int32(1), StatusCodes.BadTypeMismatch],
    ["texts", texts(["1"]), StatusCodes.BadTypeMismatch],
    ["a ticket that cannot be", array([-1]), StatusCodes.BadOutOfRange],
  ])("is taken whole or not at all: %s", async (_what, value, status) => {
    expect(await plc.write([slot("Command"), value])).toEqual([status]);
  });

  it("beside a RequestId in one request is nobody's command", async () => {
    const ticket = await nextId();
    expect(
      await plc.write([slot("Command"), array([ticket, 1, 1])], [slot("RequestId"), int32(ticket)]),
    ).toEqual([StatusCodes.BadInvalidArgument, StatusCodes.BadInvalidArgument]);
    expect(await shown("AcceptedId", "RejectedId")).toEqual([0, 0]);
  });
});

describe("a user whose commands are confirmed", () => {
  it("starts nothing before it has seen what it would start", async () => {
    const ticket = await nextId();
    // The ticket comes first, with the parameters of an earlier command still there.
    await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("old")]);
    await plc.write([slot("RequestId"), int32(ticket)]);
    await plc.write([slot("Destination"), text("Dock A")]);
    expect(await shown("LatchedId", "Latched.Destination", "Latched.Operation")).toEqual([ticket, "old", 1]);
    expect(commander.submitted).toHaveLength(0);
    // It is not what was meant: withdrawn, and begun again.
    await plc.write([slot("RequestId"), int32(0)]);
    expect(await shown("LatchedId")).toEqual([0]);
    const second = await nextId();
    await plc.write([slot("RequestId"), int32(second)]);
    expect(await shown("LatchedId", "Latched.Destination")).toEqual([second, "Dock A"]);
    await plc.write([slot("ConfirmId"), int32(second)]);
    expect((await commander.next()).command.requestJson).toContain("Dock A");
  });

  it("starts what was echoed, whatever comes after the echo", async () => {
    const ticket = await nextId();
    await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
    await plc.write([slot("RequestId"), int32(ticket)]);
    await plc.write([slot("Destination"), text("late")], [slot("RequestId"), int32(ticket)]);
    await plc.write([slot("ConfirmId"), int32(ticket)]);
    expect((await commander.next()).command.requestJson).toContain("Dock A");
    await plc.write([slot("ConfirmId"), int32(ticket)], [slot("Destination"), text("later")]);
    expect(commander.submitted).toHaveLength(1);
  });

  it("is refused a confirmation of what was not latched", async () => {
    const ticket = await nextId();
    await plc.write([slot("ConfirmId"), int32(ticket)]);
    expect(await shown("RejectedId", "ErrorId", "AcceptedId")).toEqual([ticket, 1012, 0]);
    // What was rejected is not taken after all, and the slot goes on with the next number.
    expect(await nextId()).not.toBe(ticket);
    await plc.write([slot("RequestId"), int32(ticket)]);
    expect(await shown("LatchedId", "ErrorId")).toEqual([0, 1012]);
    expect(commander.submitted).toHaveLength(0);
    await completes(plc);
  });

  it("is refused the confirmation of a number that is not the one it has latched", async () => {
    await plc.write([slot("RequestId"), int32(await nextId())]);
    const latched = await nextId();
    clock.advance(31_000);
    await plc.until(slot("NextId"), latched + 1);
    const ticket = await nextId();
    await plc.write([slot("ConfirmId"), int32(ticket)]);
    expect(await shown("RejectedId", "ErrorId", "LatchedId")).toEqual([ticket, 1012, 0]);
    await plc.write([slot("ConfirmId"), int32(latched)]);
    expect(await shown("RejectedId", "AcceptedId")).toEqual([latched, 0]);
    expect(commander.submitted).toHaveLength(0);
    await completes(plc);
  });

  it("loses what it has latched when it confirms a number that is nobody's", async () => {
    const ticket = await nextId();
    await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
    await plc.write([slot("RequestId"), int32(ticket)]);
    // Zero says nothing, and the number of a command that was taken does nothing.
    await plc.write([slot("ConfirmId"), int32(0)]);
    expect(await shown("LatchedId", "RejectedId")).toEqual([ticket, 0]);
    const wrong = ((ticket + 100) % 32_767) + 1;
    await plc.write([slot("ConfirmId"), int32(wrong)]);
    expect(await shown("RejectedId", "ErrorId", "LatchedId")).toEqual([wrong, 1012, 0]);
    await plc.write([slot("ConfirmId"), int32(ticket)]);
    expect(await shown("RejectedId", "AcceptedId")).toEqual([ticket, 0]);
    expect(commander.submitted).toHaveLength(0);
    await completes(plc);
  });

  it("keeps what it has latched when it confirms the number before once more", async () => {
    await completes(plc);
    const before = (await plc.value(slot("DoneId"))) as number;
    const ticket = await nextId();
    await plc.write([slot("RequestId"), int32(ticket)]);
    await plc.write([slot("ConfirmId"), int32(before)]);
    expect(await shown("LatchedId", "RejectedId")).toEqual([ticket, 0]);
    await plc.write([slot("ConfirmId"), int32(ticket)]);
    await commander.next();
  });

  it.each(["RequestId", "Command"])("keeps its ticket from another session's %s", async (tag) => {
    const ticket = await nextId();
    await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
    await plc.write([slot("RequestId"), int32(ticket)]);
    const other = await open("plain");
    const theirs = [slot(tag), tag === "Command" ? array([ticket, 1, 2]) : int32(ticket)] as const;
    expect(await other.write(theirs)).toEqual([StatusCodes.BadUserAccessDenied]);
    expect(await shown("LatchedId", "AcceptedId", "ErrorId")).toEqual([ticket, 0, 0]);
    await plc.write([slot("ConfirmId"), int32(ticket)]);
    expect((await commander.next()).command.requestJson).toContain("Dock A");
    expect(commander.submitted).toHaveLength(1);
    await other.close();
  });

  it("lets go of a ticket that another session was denied only when nobody can take it any more", async () => {
    const ticket = await nextId();
    await plc.write([slot("RequestId"), int32(ticket)]);
    const other = await open("plain");
    const theirs = [slot("RequestId"), int32(ticket)] as const;
    expect(await other.write(theirs)).toEqual([StatusCodes.BadUserAccessDenied]);
    clock.advance(31_000);
    const second = await nextId();
    expect(second).not.toBe(ticket);
    await plc.write([slot("RequestId"), int32(second)]);
    expect(await shown("RejectedId", "LatchedId")).toEqual([second, 0]);
    // Its writer was told no: delivered again, it must not start what stands in the parameters now.
    await other.write(theirs);
    expect(await shown("RejectedId", "AcceptedId")).toEqual([ticket, 0]);
    expect(commander.submitted).toHaveLength(0);
    await completes(plc);
    await other.close();
  });

  it("needs no confirmation for an array, which cannot come apart", async () => {
    await plc.write([slot("Command"), array([await nextId(), 1, 1])]);
    await commander.next();
  });

  it("has its own latch: another session can neither confirm nor replace it", async () => {
    const ticket = await nextId();
    await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
    await plc.write([slot("RequestId"), int32(ticket)]);
    const other = await open("plain");
    expect(await other.write([slot("ConfirmId"), int32(ticket)])).toEqual([StatusCodes.BadUserAccessDenied]);
    expect(await shown("RejectedId", "LatchedId", "ErrorId")).toEqual([0, ticket, 0]);
    expect(commander.submitted).toHaveLength(0);
    await plc.write([slot("ConfirmId"), int32(ticket)]);
    (await commander.next()).end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    await other.close();
  });
});

/** A whole command, latched and confirmed: the slot is alive. */
async function completes(caller: Caller): Promise<void> {
  const ticket = await nextId();
  await caller.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
  await caller.write([slot("RequestId"), int32(ticket)]);
  await caller.write([slot("ConfirmId"), int32(ticket)]);
  (await commander.next()).end(succeeded(null));
  await caller.until(slot("DoneId"), ticket);
  expect(await shown("AcceptedId", "Outcome")).toEqual([ticket, 3]);
}

it("a number stands for a destination, alone", async () => {
  await plc.close();
  plc = await open("plain");
  await plc.write([slot("Operation"), int32(1)], [slot("DestinationNo"), int32(2)]);
  await plc.write([slot("RequestId"), int32(await nextId())]);
  const sent = await commander.next();
  expect(sent.command.requestJson).toContain("Dock B");
  sent.end(succeeded(null));
  await plc.until(slot("Outcome"), 3);
  await plc.write([slot("Destination"), text("Dock A")], [slot("RequestId"), int32(await nextId())]);
  expect(await shown("Outcome", "ErrorId")).toEqual([4, 1000]);
  expect(commander.submitted).toHaveLength(1);
});
