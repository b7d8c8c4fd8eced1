import { DataType, StatusCodes } from "node-opcua";
import { describe, expect, it } from "vitest";
import { type Outcome, refusal } from "../../../src/domain/outcome.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { succeeded } from "./fake-commands.ts";
import { type Caller, openSession, startServer } from "./opcua-harness.ts";
import { clock, commander, eachWithItsServer, plc, startAnew, stop } from "./slots-harness.ts";

const robot = "Robots.AMR01";
const mission = JSON.stringify({ robotId: "r1", mission: { cartMission: {} } });

/** Calls a method, to expire in 10 s; the outputs by name. */
async function call(caller: Caller, object: string, method: string, ...texts: string[]) {
  return callBy(new Date(clock.nowMs() + 10_000), caller, object, method, ...texts);
}

async function callBy(
  expiresAt: Date | null,
  caller: Caller,
  object: string,
  method: string,
  ...texts: string[]
) {
  const [requestId = "", ...requests] = texts;
  const text = (value: string) => ({ dataType: DataType.String, value });
  const expiry = method === "QueryOutcome" ? [] : [{ dataType: DataType.DateTime, value: expiresAt }];
  const { statusCode, outputArguments } = await caller.session.call({
    objectId: `ns=2;s=${object}`,
    methodId: `ns=2;s=Operations.${method}`,
    inputArguments: [text(requestId), ...expiry, ...requests.map(text)],
  });
  const names = ["outcome", "errorId", "errorText", "retrySafe", "responseJson", "pending"];
  const values = (outputArguments ?? []).map(({ value }) => value);
  return { statusCode, ...Object.fromEntries(names.map((name, index) => [name, values[index]])) };
}

describe("the method of an operation", () => {
  eachWithItsServer();

  it("is found under Operations, with the names of its arguments", async () => {
    const found = await plc.session.browse("ns=2;s=Operations");
    const names = (found.references ?? []).map(({ browseName }) => browseName.name);
    expect(names).toEqual(expect.arrayContaining(["CreateMission", "ControlConveyor", "QueryOutcome"]));
    const { inputArguments } = await plc.session.getArgumentDefinition("ns=2;s=Operations.CreateMission");
    expect(inputArguments.map(({ name }) => name)).toEqual(["RequestId", "ExpiresAt", "Request"]);
  });

  it("NO_EXPIRY: moves nothing without ExpiresAt, however long the call was held", async () => {
    expect(await callBy(null, plc, "Operations", "CreateMission", "order 1", mission)).toMatchObject({
      outcome: 4,
      errorId: 1004,
      errorText: "CreateMission moves a robot: give ExpiresAt, as 10 s from now",
    });
    const never = new Date(Date.UTC(9999, 0, 1));
    expect(await callBy(never, plc, "Operations", "CreateMission", "order 1", mission)).toMatchObject({
      outcome: 4,
      errorId: 1004,
      errorText: "CreateMission moves a robot: ExpiresAt is more than an hour ahead: give 10 s from now",
    });
    expect(commander.submitted).toHaveLength(0);
  });

  it("is not on a robot's object, which has methods with typed arguments", async () => {
    const found = await plc.session.browse(`ns=2;s=${robot}`);
    const own = (found.references ?? []).filter(({ nodeId }) => String(nodeId).includes("s=Operations."));
    expect(own.map(({ browseName }) => browseName.name)).toEqual(["QueryOutcome"]);
    expect(await call(plc, robot, "CreateMission", "id", mission)).toMatchObject({
      statusCode: StatusCodes.BadMethodInvalid,
    });
    expect(commander.submitted).toHaveLength(0);
  });

  it("sends a command, and answers its outcome", async () => {
    const answer = call(plc, "Operations", "CreateMission", "order 1", mission);
    const sent = await commander.next();
    expect(sent.command).toMatchObject({
      source: { protocol: "opcua", name: "anonymous" },
      requestId: "call/order 1",
      operation: "CreateMission",
      robotId: "r1",
      startByMs: clock.nowMs() + 10_000,
    });
    expect(JSON.parse(sent.command.requestJson)).toEqual(JSON.parse(mission));
    sent.end({ ...succeeded("m-1"), responseJson: '{"mission_id":"m-1"}' });
    expect(await answer).toEqual({
      statusCode: StatusCodes.Good,
      outcome: 3,
      errorId: 0,
      errorText: "",
      retrySafe: true,
      responseJson: '{"mission_id":"m-1"}',
      pending: false,
    });
  });

  it("answers pending in time, and the same call again joins the command", async () => {
    const answer = call(plc, "Operations", "CreateMission", "order 2", mission);
    const sent = await commander.next();
    clock.advance(10_000);
    expect(await answer).toMatchObject({ statusCode: StatusCodes.Good, outcome: 0, pending: true });
    const again = call(plc, "Operations", "CreateMission", "order 2", mission);
    sent.end(succeeded("m-2"));
    expect(await again).toMatchObject({ outcome: 3, pending: false });
    expect(commander.submitted).toHaveLength(1);
  });

  it.each([
    ["no request id", ["", mission], "id: must be 1 to 128 printable ASCII characters"],
    [
      "a request id that nobody can read",
      ["a\u0000b", mission],
      "id: must be 1 to 128 printable ASCII characters",
    ],
    ["a list", ["id", "[]"], "request: must be an object"],
    ["no JSON", ["id", "{"], expect.stringMatching(/^request: is not JSON: /)],
    [
      "a key twice",
      ["id", '{"mission":{"cartMission":{},"cartMission":{}}}'],
      'request.mission: has the key "cartMission" twice',
    ],
  ])("MALFORMED: refuses %s, and sends nothing", async (_what, texts, errorText) => {
    expect(await call(plc, "Operations", "CreateMission", ...texts)).toMatchObject({
      statusCode: StatusCodes.Good,
      outcome: 4,
      errorId: 1000,
      errorText,
    });
    expect(commander.submitted).toHaveLength(0);
  });

  it("refuses a request that names no robot", async () => {
    expect(await call(plc, "Operations", "CreateMission", "id", '{"mission":{}}')).toMatchObject({
      outcome: 4,
      errorText: "request.robotId: is required",
    });
  });

  it("tells a reused id as the caller gave it", async () => {
    const first = call(plc, "Operations", "CreateMission", "m1", mission);
    (await commander.next()).end(succeeded("m-1"));
    await first;
    expect(await call(plc, "Operations", "CreateMission", "m1", '{"robotId":"r1"}')).toMatchObject({
      outcome: 4,
      errorId: 1002,
      errorText: 'request id "m1" was used before for another command',
    });
  });

  it("refuses arguments of another kind with a status code", async () => {
    const { statusCode } = await plc.session.call({
      objectId: "ns=2;s=Operations",
      methodId: "ns=2;s=Operations.CreateMission",
      inputArguments: [{ dataType: DataType.Int32, value: 1 }],
    });
    expect(statusCode.isGood()).toBe(false);
    expect(commander.submitted).toHaveLength(0);
  });

  it("shows a refusal as the slots do", async () => {
    const answer = call(plc, "Operations", "CreateMission", "order 3", mission);
    (await commander.next()).end(refusal("ROBOT_NOT_GOOD", "the robot is stale"));
    expect(await answer).toMatchObject({ outcome: 4, errorId: 1007, errorText: "the robot is stale" });
  });

  it("answers unknown when the gateway fails at it, and says so in an outcome", async () => {
    const answer = call(plc, "Operations", "CreateMission", "order 4", mission);
    (await commander.next()).fail(new Error("planted"));
    expect(await answer).toMatchObject({ statusCode: StatusCodes.Good, outcome: 6, errorId: 1099 });
  });
});

describe("QueryOutcome", () => {
  it("says what became of a command of the same user", async () => {
    const asked: string[] = [];
    await startAnew({
      records: {
        async recall(source, requestId) {
          asked.push(`${source.name} ${requestId}`);
          return requestId === "call/known" ? succeeded("m-1") : null;
        },
      },
    });
    expect(await call(plc, robot, "QueryOutcome", "known")).toMatchObject({ outcome: 3, pending: false });
    expect(await call(plc, robot, "QueryOutcome", "strange")).toMatchObject({
      outcome: 4,
      errorId: 1019,
      errorText: "no command of yours with this RequestId is known",
    });
    expect(asked).toEqual(["anonymous call/known", "anonymous call/strange"]);
    await stop();
  });

  it.each([
    ["before it is recorded", [], 0],
    ["accepted", ["accepted"], 1],
    ["sent", ["accepted", "sent"], 2],
  ] as const)(
    "answers pending while it is not final, with how far it has come: %s",
    async (_what, stages, outcome) => {
      let wasAsked = () => {};
      const asking = new Promise<void>((resolve) => {
        wasAsked = resolve;
      });
      await startAnew({
        records: {
          recall(_source, _requestId, onStage) {
            for (const stage of stages) onStage?.(stage);
            wasAsked();
            return new Promise(() => {});
          },
        },
      });
      const answer = call(plc, robot, "QueryOutcome", "running");
      await asking;
      clock.advance(10_000);
      expect(await answer).toMatchObject({ outcome, pending: true });
      await stop();
    },
  );
});

it("INTERNAL_FAULT: records that cannot be read are an unknown outcome, and no refusal", async () => {
  await startAnew({ records: { recall: () => Promise.reject(new Error("planted")) } });
  expect(await call(plc, robot, "QueryOutcome", "id")).toMatchObject({
    outcome: 6,
    errorId: 1099,
    errorText: "the gateway failed; look at the robot",
  });
  await stop();
});

it("an earlier command's id is never told 'it was not done'", async () => {
  const server = await startServer({ users: [scada] }, { commander });
  const session = await openSession(server.url, { user: { name: "scada", password: "a secret" } });
  const first = call(session, "Operations", "CreateMission", "m1", '{"robotId":"r1"}');
  (await commander.next()).end(succeeded("m-1"));
  expect(await first).toMatchObject({ outcome: 3, errorId: 0 });
  expect(await call(session, "Operations", "CreateMission", "m1", "[")).toMatchObject({
    outcome: 4,
    errorText: expect.stringContaining("its id is an earlier command's"),
    retrySafe: false,
  });
  await session.close();
  await server.stop();
});

it("a request as long as no protocol takes one is refused", async () => {
  const server = await startServer({}, { commander });
  const session = await openSession(server.url);
  expect(await call(session, "Operations", "CreateMission", "m1", " ".repeat(262_145))).toMatchObject({
    outcome: 4,
    errorText: "request: has 262145 characters; at most 262144 are read",
  });
  await session.close();
  await server.stop();
});

const scada: OpcUaUser = {
  name: "scada",
  role: "observer",
  number: null,
  secret: { kind: "plain", text: "a secret" },
};

it("a user without the role is refused by name", async () => {
  const accounts = [
    { source: { protocol: "opcua", name: "scada" }, role: "observer", key: "opcua.users.scada.role" },
  ] as const;
  const told: string[] = [];
  const audit = { refused: (_: unknown, { message }: Outcome) => void told.push(message) };
  const server = await startServer({ users: [scada] }, { commander, accounts, audit });
  const session = await openSession(server.url, { user: { name: "scada", password: "a secret" } });
  const errorText =
    'opcua "scada" may not send CreateMission, which needs operator: opcua.users.scada.role makes it observer';
  expect(await call(session, "Operations", "CreateMission", "id", '{"robotId":"r1"}')).toMatchObject({
    outcome: 4,
    errorId: 1006,
    errorText,
  });
  expect(told).toEqual([errorText]);
  await session.close();
  await server.stop();
});
