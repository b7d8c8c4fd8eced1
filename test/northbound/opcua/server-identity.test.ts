import { AttributeIds, DataType, StatusCodes, TimestampsToReturn, VariableIds } from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Rights } from "../../../src/commands/options.ts";
import { commandRights } from "../../../src/commands/rights.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createLive } from "../../../src/platform/live.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { receivedAtMs, robotChange } from "./changes.ts";
import { fakeCatalogue } from "./fake-commands.ts";
import { type Caller, factsOf, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const clock = createManualClock(receivedAtMs);
const user = (name: string, role: OpcUaUser["role"]): OpcUaUser => ({
  name,
  role,
  number: null,
  secret: { kind: "plain", text: `${name} secret` },
});
const users = [user("eyes", "observer"), user("hands", "operator"), user("belts", "operator")];
/** The user belts has less than its role. */
const rights = commandRights(
  createLive<Rights>({
    rules: [
      {
        source: { protocol: "opcua", name: "belts" },
        role: "operator",
        robots: ["r1"],
        operations: ["ControlConveyor"],
      },
    ],
    accounts: users.map(({ name, role }) => ({ source: { protocol: "opcua", name }, role, key: name })),
  }),
  createLive([]),
);
let isLinkUp = true;
let running: RunningServer;
let plc: Caller;

beforeAll(async () => {
  running = await startServer(
    {
      users,
      robots: [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [1] }],
    },
    {
      clock,
      rights,
      facts: { ...factsOf("run1"), fleetLinkUp: () => isLinkUp },
    },
  );
  plc = await openSession(running.url);
});
afterAll(async () => {
  await plc.close();
  await running.stop();
});

async function standard(id: VariableIds): Promise<unknown> {
  const { value } = await plc.session.read({ nodeId: `ns=0;i=${id}`, attributeId: AttributeIds.Value });
  return value.value;
}

it("says whose product it is, and when it was built", async () => {
  expect(await standard(VariableIds.Server_ServerStatus_BuildInfo)).toMatchObject({
    productName: "Fleetgate",
    productUri: "urn:fleetgate",
    manufacturerName: "Fleetgate",
    softwareVersion: "0.0.0",
    buildDate: new Date("2025-12-24T03:04:05Z"),
  });
  expect(await standard(VariableIds.Server_ServerCapabilities_LocaleIdArray)).toEqual(["en", "de"]);
  const profiles = await standard(VariableIds.Server_ServerCapabilities_ServerProfileArray);
  expect(profiles).toContain("http://opcfoundation.org/UA-Profile/Server/EmbeddedUA2017");
  for (const absent of ["HistoricalAccess", "FileAccess", "StateMachine", "Events"]) {
    expect(String(profiles)).not.toContain(absent);
  }
});

it("publishes the limits that hold", async () => {
  expect(await standard(VariableIds.Server_ServerCapabilities_MinSupportedSampleRate)).toBe(0);
  expect(await standard(VariableIds.Server_ServerCapabilities_MaxSessions)).toBe(100);
  const longest = Number(await standard(VariableIds.Server_ServerCapabilities_MaxStringLength));
  // A text of that length is read and judged; its request may not have more than 8 MiB.
  const text = { dataType: DataType.String, value: "x".repeat(longest) };
  expect(await plc.write(["Robots.r1.MissionSlot.Destination", text])).not.toEqual([StatusCodes.Good]);
  const limits = [
    ["MaxNodesPerRead", VariableIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead],
    ["MaxNodesPerWrite", VariableIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerWrite],
    [
      "MaxNodesPerHistoryReadData",
      VariableIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerHistoryReadData,
    ],
    ["MaxNodesPerMethodCall", VariableIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerMethodCall],
  ] as const;
  for (const [name, id] of limits) {
    const limit = Number(await standard(id));
    expect(limit, name).toBeGreaterThan(0);
    await expect(tooMany(name, limit + 1)).rejects.toThrow("BadTooManyOperations");
  }
});

it("gives a monitored item the longest queue that it publishes, and no longer one", async () => {
  const longest = await standard(VariableIds.Server_ServerCapabilities_MaxMonitoredItemsQueueSize);
  const subscription = await plc.session.createSubscription2({ requestedPublishingInterval: 1_000 });
  const item = await subscription.monitor(
    { nodeId: "ns=2;s=Gateway.Version", attributeId: AttributeIds.Value },
    { samplingInterval: 0, queueSize: 4_000_000, discardOldest: true },
    TimestampsToReturn.Both,
  );
  expect(item.monitoringParameters.queueSize).toBe(longest);
  await subscription.terminate();
});

async function tooMany(name: string, count: number): Promise<unknown> {
  const nodeId = "ns=2;s=Gateway.Version";
  const attributeId = AttributeIds.Value;
  if (name === "MaxNodesPerRead") return plc.session.read(Array(count).fill({ nodeId, attributeId }));
  if (name === "MaxNodesPerHistoryReadData")
    return plc.session.readHistoryValue(Array(count).fill({ nodeId }), new Date(1), new Date(2));
  if (name === "MaxNodesPerWrite")
    return plc.session.write(
      Array(count).fill({ nodeId, attributeId, value: { value: { dataType: DataType.Int32, value: 0 } } }),
    );
  const call = {
    objectId: "ns=2;s=Operations",
    methodId: "ns=2;s=Operations.QueryOutcome",
    inputArguments: [],
  };
  return plc.session.call(Array(count).fill(call));
}

it("ServiceLevel is 1 without the fleet, 100 while a robot is not good, and 255 else", async () => {
  const level = () => standard(VariableIds.Server_ServiceLevel);
  const show = (quality: "good" | "stale") =>
    running.server.write({ changes: [robotChange("r1", quality)], events: [] });
  show("good");
  clock.advance(2_000);
  expect(await level()).toBe(255);
  show("stale");
  clock.advance(2_000);
  expect(await level()).toBe(100);
  isLinkUp = false;
  running.server.write({ changes: [], events: [] });
  expect(await level()).toBe(1);
  isLinkUp = true;
  show("good");
  clock.advance(2_000);
  expect(await level()).toBe(255);
});

it("a method that an object does not have cannot be called on it", async () => {
  const call = (objectId: string, methodId: string) =>
    plc.session.call({ objectId, methodId, inputArguments: [{ dataType: DataType.String, value: "id" }] });
  const query = "ns=2;s=Operations.QueryOutcome";
  expect((await call("ns=2;s=Operations", query)).statusCode).toBe(StatusCodes.Good);
  expect((await call("ns=2;s=Robots.r1", query)).statusCode).toBe(StatusCodes.Good);
  for (const object of ["ns=2;s=Gateway", "ns=2;s=Robots", "ns=0;i=2253"]) {
    expect((await call(object, query)).statusCode, object).toBe(StatusCodes.BadMethodInvalid);
  }
  // GetMonitoredItems of the standard server object, and of an object that is none.
  const standardCall = {
    methodId: "ns=0;i=11492",
    inputArguments: [{ dataType: DataType.UInt32, value: 1 }],
  };
  const onServer = await plc.session.call({ objectId: "ns=0;i=2253", ...standardCall });
  expect(onServer.statusCode).toBe(StatusCodes.BadSubscriptionIdInvalid);
  const elsewhere = await plc.session.call({ objectId: "ns=2;s=Gateway", ...standardCall });
  expect(elsewhere.statusCode).toBe(StatusCodes.BadMethodInvalid);
});

const queryOutcome = "ns=2;s=Operations.QueryOutcome";
const server = "ns=0;i=2253";

it.each([
  ["an object that lacks the method", "ns=2;s=Gateway", queryOutcome, "BadMethodInvalid"],
  ["the folder of the robots", "ns=2;s=Robots", queryOutcome, "BadMethodInvalid"],
  ["an object of another type", server, queryOutcome, "BadMethodInvalid"],
  ["a method of another type", "ns=2;s=Robots.r1", "ns=0;i=11492", "BadMethodInvalid"],
  ["a method that is not there", "ns=2;s=Operations", "ns=2;s=Operations.Nothing", "BadMethodInvalid"],
  ["a variable in place of the method", "ns=2;s=Operations", "ns=2;s=Gateway.Version", "BadMethodInvalid"],
  ["no method", "ns=2;s=Operations", "ns=0;i=0", "BadMethodInvalid"],
  ["an object that is not there", "ns=2;s=Nothing", queryOutcome, "BadNodeIdUnknown"],
  ["a variable in place of the object", "ns=2;s=Gateway.Version", queryOutcome, "BadNodeIdInvalid"],
])(
  "a call with any number of arguments names what is wrong: %s",
  async (_case, objectId, methodId, status) => {
    for (const count of [0, 1, 2, 9]) {
      const inputArguments = Array(count).fill({ dataType: DataType.String, value: "id" });
      const answer = await plc.session.call({ objectId, methodId, inputArguments });
      expect(answer.statusCode.name, `${count} arguments`).toBe(status);
      expect(answer.outputArguments).toEqual([]);
    }
  },
);

it.each([
  ["the operations", "ns=2;s=Operations", queryOutcome],
  ["a robot", "ns=2;s=Robots.r1", queryOutcome],
  ["the server", server, "ns=0;i=11492"],
])(
  "a call of a method that the object has names missing and spare arguments: %s",
  async (_case, objectId, methodId) => {
    const call = (count: number) => ({
      objectId,
      methodId,
      inputArguments: Array(count).fill({ dataType: DataType.String, value: "id" }),
    });
    const foreign = { ...call(0), objectId: "ns=2;s=Gateway" };
    const answers = await plc.session.call([call(0), foreign, call(2)]);
    expect(answers.map(({ statusCode }) => statusCode.name)).toEqual([
      "BadArgumentsMissing",
      "BadMethodInvalid",
      "BadTooManyArguments",
    ]);
  },
);

it("UserExecutable and UserAccessLevel are the user's own", async () => {
  const operations = [...fakeCatalogue().values()];
  for (const [name, isCalled, writes] of [
    ["eyes", () => false, false],
    ["hands", () => true, true],
    ["belts", (operation: string) => operation === "ControlConveyor", true],
  ] as const) {
    const caller = await openSession(running.url, { user: { name, password: `${name} secret` } });
    const read = async (nodeId: string, attributeId: AttributeIds) =>
      (await caller.session.read({ nodeId: `ns=2;s=${nodeId}`, attributeId })).value.value as unknown;
    for (const operation of operations) {
      const may = operation.role === "observer" || isCalled(operation.name);
      expect(await read(`Operations.${operation.name}`, AttributeIds.UserExecutable), operation.name).toBe(
        may,
      );
    }
    expect(await read("Operations.QueryOutcome", AttributeIds.UserExecutable)).toBe(true);
    expect(await read("Robots.r1.MissionSlot.Destination", AttributeIds.UserAccessLevel)).toBe(
      writes ? 3 : 1,
    );
    expect(await read("Robots.r1.MissionSlot.RequestId", AttributeIds.UserAccessLevel)).toBe(writes ? 3 : 1);
    expect(await read("Gateway.Version", AttributeIds.UserAccessLevel)).toBe(1);
    await caller.close();
  }
});
