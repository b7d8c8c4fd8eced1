import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, succeeded } from "./fake-commands.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { int32, text, texts } from "./slots-harness.ts";

const slot = (name: string) => `Robots.AMR01.MissionSlot.${name}`;
const robots = [
  { robotId: "r1", alias: "AMR01", number: null, family: "cart", conveyorIndexes: [0] },
] as const;
const users = [
  { name: "careful", role: "operator", number: 3, secret: { kind: "plain", text: "pw" } },
  { name: "plain", role: "operator", number: null, secret: { kind: "plain", text: "pw" } },
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
const nextId = () => plc.nextId(slot("NextId"));
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
    expect((await answer()).slice(0, 12)).toEqual([
      ticket,
      ticket,
      3,
      0,
      1,
      0,
      0,
      await nextId(),
      3,
      ticket,
      3,
      3,
    ]);
    expect(await shown("AcceptedBy", "AcceptedText")).toEqual(["careful", "traverse Dock A, Dock B"]);
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
    const ticket = await plc.nextId(conveyor("NextId"));
    await plc.write([conveyor("Command"), array([ticket, 1, 2, 2, 3, 3])]);
    expect(await plc.value(conveyor("DoneId"))).toBe(ticket);
    expect(await plc.value(conveyor("ErrorText"))).toBe(
      "Command[3] is 2, and this operation uses nothing there: write 0",
    );
    expect(commander.submitted).toHaveLength(0);
    const second = await plc.nextId(conveyor("NextId"));
    await plc.write([conveyor("Command"), array([second, 1, 1, 2, 3, 3])]);
    expect(JSON.parse((await commander.next()).command.requestJson).commands).toEqual([
      { index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" },
    ]);
  });

  it.each([10, 11])("stops whatever stands behind Operation %i", async (operation) => {
    await plc.write([slot("Command"), array([await nextId(), operation, 1, 99])]);
    expect((await commander.next()).command.operation).toBe("UpdateMission");
  });

  it("is taken whole or not at all", async () => {
    for (const [value, status] of [
      [array([1], 11), StatusCodes.BadOutOfRange],
      [int32(1), StatusCodes.BadTypeMismatch],
      [texts(["1"]), StatusCodes.BadTypeMismatch],
      [array([-2_147_483_648]), StatusCodes.BadOutOfRange],
    ] as const)
      expect(await plc.write([slot("Command"), value])).toEqual([status]);
  });

  it("closes a ticket, whatever stands behind it", async () => {
    const ticket = await nextId();
    await plc.write([slot("Command"), array([-ticket, 1, 1])]);
    expect((await answer()).slice(12)).toEqual([ticket, 0, 0, 0, 0, 0, 0, 0]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("beside a RequestId in one request is nobody's command", async () => {
    const ticket = await nextId();
    expect(
      await plc.write([slot("Command"), array([ticket, 1, 1])], [slot("RequestId"), int32(ticket)]),
    ).toEqual([StatusCodes.BadInvalidArgument, StatusCodes.BadInvalidArgument]);
    expect(await shown("AcceptedId", "RejectedId")).toEqual([0, 0]);
  });
});

describe("a command as one text", () => {
  const conveyor = (name: string) => `Robots.AMR01.ConveyorSlot.${name}`;

  it.each([
    ["a destination by name", "1;Dock C", { navigateMission: { goal: { destinationId: "Dock C" } } }],
    [
      "a route",
      "3; Dock C ;Dock B",
      { traverseMission: { goals: [{ destinationId: "Dock C" }, { destinationId: "Dock B" }] } },
    ],
  ])("names %s", async (_what, rest, mission) => {
    await plc.write([slot("CommandText"), text(`${await nextId()};${rest}`)]);
    const { command } = await commander.next();
    expect(JSON.parse(command.requestJson).mission.cartMission).toEqual(mission);
  });

  it("cancels the mission that it names", async () => {
    await plc.write([slot("CommandText"), text(`${await nextId()};10;m-7`)]);
    const { command } = await commander.next();
    expect(JSON.parse(command.requestJson).missionCommand.missionId).toBe("m-7");
  });

  it.each([
    ["MissionSlot", "10;;;;", "UpdateMission"],
    ["ConveyorSlot", "2;1;x", "ControlConveyor"],
  ])("of a %s stops whatever stands behind it: %s", async (name, rest, operation) => {
    const ticket = await plc.nextId(`Robots.AMR01.${name}.NextId`);
    await plc.write([`Robots.AMR01.${name}.CommandText`, text(`${ticket};${rest}`)]);
    expect((await commander.next()).command.operation).toBe(operation);
  });

  it("turns a conveyor", async () => {
    const ticket = await plc.nextId(conveyor("NextId"));
    await plc.write([conveyor("CommandText"), text(`${ticket};2;3`)]);
    expect(JSON.parse((await commander.next()).command.requestJson).commands).toEqual([
      { index: 2, command: "COMMAND_CONVEYOR_MOTOR_CCW" },
    ]);
  });

  it("of a conveyor needs three fields", async () => {
    const ticket = await plc.nextId(conveyor("NextId"));
    await plc.write([conveyor("CommandText"), text(`${ticket};2`)]);
    expect(await plc.value(conveyor("ErrorText"))).toBe(
      "CommandText is not of the form number;conveyor;motor command",
    );
  });

  it("closes a ticket", async () => {
    const ticket = await nextId();
    await plc.write([slot("CommandText"), text(`-${ticket};1;Dock C`)]);
    expect((await answer())[12]).toBe(ticket);
    expect(await plc.write([slot("CommandText"), text("")])).toEqual([StatusCodes.Good]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("is refused with a reason", async () => {
    for (const [rest, reason] of [
      ["go;Dock C", "CommandText is not of the form number;operation;destination"],
      ["1;Dock C;Dock B", "Operation 1 has at most 1 destinations"],
      ["12;m-1;m-2", "Operation 12 is for one mission"],
      ["17;7;8", "Operation 17 is for one task chain"],
      ["1", "Destination is missing, and DestinationNo too: one of them says where to"],
    ] as const) {
      const ticket = await nextId();
      await plc.write([slot("CommandText"), text(`${ticket};${rest}`)]);
      expect(await shown("DoneId", "Outcome", "ErrorText")).toEqual([ticket, 4, reason]);
    }
  });
});

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
