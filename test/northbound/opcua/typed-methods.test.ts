import { DataType, StatusCodes, VariantArrayType, type VariantOptions } from "node-opcua";
import { describe, expect, it } from "vitest";
import { slotOperations } from "../../../src/northbound/opcua/commands/mission-request.ts";
import { typedMethods } from "../../../src/northbound/opcua/commands/typed-methods.ts";
import { succeeded } from "./fake-commands.ts";
import { clock, commander, eachWithItsServer, plc } from "./slots-harness.ts";

const ROBOT = "Robots.AMR01";
const text = (value: string): VariantOptions => ({ dataType: DataType.String, value });
const int32 = (value: number): VariantOptions => ({ dataType: DataType.Int32, value });
const double = (value: number): VariantOptions => ({ dataType: DataType.Double, value });
const list = (...value: string[]): VariantOptions => ({
  dataType: DataType.String,
  arrayType: VariantArrayType.Array,
  value,
});

async function call(method: string, requestId: string, ...given: VariantOptions[]) {
  return callOn(ROBOT, method, requestId, ...given);
}

async function callOn(object: string, method: string, requestId: string, ...given: VariantOptions[]) {
  const expiry = { dataType: DataType.DateTime, value: new Date(clock.nowMs() + 10_000) };
  const { statusCode, outputArguments } = await plc.session.call({
    objectId: `ns=2;s=${object}`,
    methodId: `ns=2;s=RobotMethods.${method}`,
    inputArguments: [text(requestId), expiry, ...given],
  });
  const [outcome, errorId, errorText] = (outputArguments ?? []).map(({ value }) => value);
  return { statusCode, outcome, errorId, errorText };
}

describe("a method with typed arguments", () => {
  eachWithItsServer();

  it("is there for each operation of a mission slot, and for conveyors, on the robot's object", async () => {
    const { references } = await plc.session.browse(`ns=2;s=${ROBOT}`);
    const shared = (references ?? []).flatMap(({ nodeId, browseName }) =>
      nodeId.toString().startsWith("ns=2;s=RobotMethods.") ? [browseName.name ?? ""] : [],
    );
    expect(shared).toEqual(typedMethods.map(({ name }) => name));
    expect(new Set(shared).size).toBe(slotOperations.size + 2);
    const { inputArguments } = await plc.session.getArgumentDefinition("ns=2;s=RobotMethods.Traverse");
    expect(inputArguments.map(({ name, valueRank }) => [name, valueRank])).toEqual([
      ["RequestId", -1],
      ["ExpiresAt", -1],
      ["Destinations", 1],
    ]);
  });

  it("becomes a command of its own, once for its RequestId", async () => {
    const cases: ReadonlyArray<readonly [string, VariantOptions[], string, object]> = [
      [
        "Navigate",
        [text("Dock A")],
        "CreateMission",
        { mission: { cartMission: { navigateMission: { goal: { destinationId: "Dock A" } } } } },
      ],
      [
        "NavigateToFirstFree",
        [list("A", "B")],
        "CreateMission",
        {
          mission: {
            cartMission: { navigateAutoMission: { goals: [{ destinationId: "A" }, { destinationId: "B" }] } },
          },
        },
      ],
      [
        "NavigateToPose",
        [double(1.5), double(-2), double(2.5)],
        "CreateMission",
        {
          mission: {
            cartMission: {
              navigateMission: { goal: { pose: { xMeters: 1.5, yMeters: -2, headingRadians: 2.5 } } },
            },
          },
        },
      ],
      [
        "Cancel",
        [text("m-7")],
        "UpdateMission",
        { missionCommand: { missionId: "m-7", command: "COMMAND_CANCEL" } },
      ],
      [
        "Cancel",
        [text("")],
        "UpdateMission",
        { missionCommand: { missionId: "", command: "COMMAND_CANCEL" } },
      ],
      [
        "ConveyorRun",
        [int32(1), int32(2)],
        "ControlConveyor",
        { commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" }] },
      ],
      [
        "ConveyorStop",
        [int32(1)],
        "ControlConveyor",
        { commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" }] },
      ],
    ];
    for (const [index, [method, given, operation, request]] of cases.entries()) {
      const requestId = `order ${index}`;
      const answer = call(method, requestId, ...given);
      const sent = await commander.next();
      expect(sent.command).toMatchObject({ operation, requestId: `call/${requestId}`, robotId: "r1" });
      expect(JSON.parse(sent.command.requestJson)).toEqual({ robotId: "r1", ...request });
      sent.end(succeeded("m-1"));
      expect(await answer).toMatchObject({ statusCode: StatusCodes.Good, outcome: 3, errorId: 0 });
      expect(await call(method, requestId, ...given)).toMatchObject({ outcome: 3 });
      expect(commander.submitted).toHaveLength(index + 1);
    }
  });

  it("is called by the handles of RegisterNodes, as PLCs do", async () => {
    const registered = await plc.session.registerNodes([`ns=2;s=${ROBOT}`, "ns=2;s=RobotMethods.Navigate"]);
    const [objectId, methodId] = registered.map(String);
    if (objectId === undefined || methodId === undefined) throw new Error("they are not registered");
    expect(methodId).not.toContain("Navigate");
    const answer = plc.session.call({
      objectId,
      methodId,
      inputArguments: [
        text("order 1"),
        { dataType: DataType.DateTime, value: new Date(clock.nowMs() + 10_000) },
        text("Dock A"),
      ],
    });
    const sent = await commander.next();
    expect(sent.command).toMatchObject({ operation: "CreateMission" });
    sent.end(succeeded("m-1"));
    expect((await answer).statusCode).toBe(StatusCodes.Good);

    const named = await plc.session.browse(`ns=2;s=${ROBOT}`);
    const handled = await plc.session.browse(objectId);
    expect(handled.references).toEqual(named.references);
  });

  it("is refused by name where its arguments make no command, or where no robot is meant", async () => {
    expect(await call("ConfirmTask", "order 1", int32(9))).toEqual({
      statusCode: StatusCodes.Good,
      outcome: 4,
      errorId: 1000,
      errorText: "no task chain of the robot is known now, so none can be confirmed",
    });
    expect(await call("NavigateToPose", "order 2", double(1), double(2), double(Number.NaN))).toMatchObject({
      outcome: 4,
      errorId: 1000,
      errorText: "Heading is no number, or too large: give X and Y in metres, and Heading in radians",
    });
    expect(await call("NavigateToPose", "order 9", double(1e300), double(2), double(0))).toMatchObject({
      errorText: "X is no number, or too large: give X and Y in metres, and Heading in radians",
    });
    expect(await call("Navigate", "order 5", text(""))).toMatchObject({
      outcome: 4,
      errorText: "Destination is empty: name where to",
    });
    expect(await call("Traverse", "order 6", list("", ""))).toMatchObject({
      outcome: 4,
      errorText: "Destinations is empty: name where to",
    });
    expect(await call("Resume", "order 7", text(""))).toMatchObject({
      outcome: 4,
      errorText: "the command names no mission, and no current mission of the robot is known",
    });
    expect(await callOn("RobotMethods", "Navigate", "order 3", text("Dock A"))).toMatchObject({
      outcome: 4,
      errorText: "it is a method of a robot: call it on the robot's object",
    });
    expect(await call("Navigate", "order 4", int32(7))).toHaveProperty(
      "statusCode",
      StatusCodes.BadInvalidArgument,
    );
    expect(commander.submitted).toHaveLength(0);
  });
});
