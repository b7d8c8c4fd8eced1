import { constructEventFilter, DataType, ofType, resolveNodeId } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type ConditionsHarness,
  call,
  commentOf,
  eventIdOf,
  nothingKept,
  robot,
  startConditions,
} from "../conditions/conditions-harness.ts";
import { type Listener, listen } from "../events/event-listener.ts";
import { fakeCatalogue } from "../fake-commands.ts";
import { type Caller, openSession } from "../opcua-harness.ts";

const server = "i=2253";
const acknowledge = "AcknowledgeableConditionType_Acknowledge";
const addComment = "ConditionType_AddComment";
const fields = [
  ...["EventType", "SourceNode", "SourceName", "Message", "Severity", "Status", "StatusCodeId"],
  ...["ServerId", "ClientUserId", "ClientApplicationUri", "ClientAuditEntryId", "ActionTimeStamp"],
  ...["SessionId", "UserIdentityToken", "AttributeId", "NewValue", "MethodId", "InputArguments"],
  ...["ConditionEventId", "Comment"],
];
const ofAudit = () => constructEventFilter(fields, ofType(resolveNodeId("AuditEventType")));
/** The request of this operation may contain secrets. */
const withSecrets = new Map(
  [...fakeCatalogue()].map(([name, operation]) => [
    name,
    name === "PauseRobot" ? { ...operation, secretMaps: [["options", "headers"]] } : operation,
  ]),
);

let harness: ConditionsHarness;
let eva: Caller;
let ann: Caller;
let audit: Listener;
beforeEach(async () => {
  harness = await startConditions(nothingKept, { catalogue: withSecrets });
  eva = await harness.client("eva");
  ann = await harness.client("ann");
  audit = await listen(eva, server, fields, ofAudit());
});
afterEach(() => harness[Symbol.asyncDispose]());

/** Waits for an event of the service, and shows it readably. */
async function audited(service: string, isOne: (event: Listener["events"][number]) => boolean = () => true) {
  const find = () => audit.events.find((event) => event.SourceName === service && isOne(event));
  await expect.poll(find, { timeout: 20_000 }).toBeDefined();
  return find();
}

const outOfService = "Robots.r1.Alarms.OutOfService";
const writeAs = ({ session }: Caller, value: boolean) =>
  session.write({
    nodeId: `ns=2;s=${outOfService}`,
    attributeId: 13,
    value: { value: { dataType: DataType.Boolean, value } },
  });
const pauseAs = ({ session }: Caller, request: string) =>
  session.call({
    objectId: "ns=2;s=Operations",
    methodId: "ns=2;s=Operations.PauseRobot",
    inputArguments: [
      { dataType: DataType.String, value: "r-1" },
      { dataType: DataType.DateTime, value: new Date(Date.now() + 10_000) },
      { dataType: DataType.String, value: request },
    ],
  });
const logOnFails = () =>
  openSession(harness.running.url, { user: { name: "ann", password: "a wrong secret" } });

describe("an engineer receives", () => {
  it("each write, with its value, and each write that was refused, without it", async () => {
    expect((await writeAs(ann, true)).name).toBe("Good");
    expect(await audited("Attribute/Write")).toMatchObject({
      EventType: { value: 2100 },
      SourceNode: { value: outOfService },
      Message: { text: `ann: Attribute/Write of ${outOfService}: Good` },
      ...{ Severity: 100, Status: true, ServerId: "urn:fleetgate:test", ClientUserId: "ann" },
      ...{ ClientApplicationUri: "urn:fleetgate:test-client", AttributeId: 13, NewValue: true },
    });
    const tv = await harness.client("tv");
    expect((await writeAs(tv, true)).name).toBe("BadUserAccessDenied");
    expect(await audited("Attribute/Write", ({ ClientUserId }) => ClientUserId === "tv")).toMatchObject({
      ...{ Severity: 400, Status: false, NewValue: null },
      Message: { text: `tv: Attribute/Write of ${outOfService}: BadUserAccessDenied` },
    });
  });

  it("each acknowledgement and comment, and those that were refused", async () => {
    harness.set(robot("r1"), "ROBOT_LOST", true);
    const [alarm] = harness.registry.all();
    const event = { EventId: `${alarm?.id}.1.1` };
    const lostId = "ns=2;s=Robots.r1.Alarms.ROBOT_LOST";
    const tv = await harness.client("tv");
    expect(await call(tv, lostId, acknowledge, eventIdOf(event), commentOf("no"))).toBe(
      "BadUserAccessDenied",
    );
    expect(await call(ann, lostId, addComment, eventIdOf(event), commentOf("seen"))).toBe("Good");
    expect(await call(ann, lostId, acknowledge, eventIdOf(event), commentOf("mended"))).toBe("Good");
    const ofAnn = ({ ClientUserId }: Listener["events"][number]) => ClientUserId === "ann";
    expect(await audited("Method/Acknowledge", ofAnn)).toMatchObject({
      EventType: { value: 8944 },
      SourceNode: { value: "Robots.r1.Alarms.ROBOT_LOST" },
      ConditionEventId: Buffer.from(event.EventId),
      Comment: { text: "mended" },
      Status: true,
    });
    expect(await audited("Method/AddComment")).toMatchObject({
      EventType: { value: 2829 },
      Comment: { text: "seen" },
    });
    expect(await audited("Method/Acknowledge", (each) => !ofAnn(each))).toMatchObject({
      ...{ ClientUserId: "tv", Status: false, Comment: null, ConditionEventId: null },
      StatusCodeId: { name: "BadUserAccessDenied" },
    });
  });

  it("each call of a method, with its arguments", async () => {
    await ann.session.call({
      objectId: "ns=2;s=Operations",
      methodId: "ns=2;s=Operations.QueryOutcome",
      inputArguments: [{ dataType: DataType.String, value: "r-1" }],
    });
    const called = await audited("Attribute/Call");
    expect(called).toMatchObject({
      EventType: { value: 2127 },
      SourceNode: { value: "Operations" },
      MethodId: { value: "Operations.QueryOutcome" },
      Status: true,
    });
    expect(called?.InputArguments).toMatchObject([{ value: "r-1" }]);
  });

  it("the begin and the end of each session, each log-on, and those that failed", async () => {
    const tv = await openSession(harness.running.url, { user: { name: "tv", password: "pw" } });
    await tv.close();
    await expect(logOnFails()).rejects.toThrow();
    expect(await audited("Session/CreateSession")).toMatchObject({
      EventType: { value: 2071 },
      SourceNode: { value: 2253 },
      ClientUserId: "",
    });
    const isOfTv = ({ ClientUserId }: Listener["events"][number]) => ClientUserId === "tv";
    const logOn = await audited("Session/ActivateSession", isOfTv);
    expect(logOn).toMatchObject({ EventType: { value: 2075 }, Status: true, UserIdentityToken: null });
    expect(await audited("Session/CloseSession")).toMatchObject({
      ...{ ClientUserId: "tv", SessionId: logOn?.SessionId },
    });
    expect(await audited("Session/ActivateSession", ({ Status }) => Status === false)).toMatchObject({
      ...{ ClientUserId: "ann", StatusCodeId: { name: "BadUserAccessDenied" } },
    });
  });
});

it("an operator and a viewer receive none of them, whatever they ask for", async () => {
  const tv = await harness.client("tv");
  const others: Listener[] = [];
  const all = () => constructEventFilter(["SourceName", "EventType"]);
  for (const each of [ann, tv])
    for (const node of [server, "ns=2;s=Robots", "ns=2;s=Operations", "ns=2;s=Gateway"])
      for (const filter of [
        all(),
        constructEventFilter(["SourceName"], ofType(resolveNodeId("AuditEventType"))),
      ])
        await listen(each, node, ["SourceName"], filter).then(
          (listener) => others.push(listener),
          () => {}, // An object that sends no events.
        );
  await writeAs(ann, true);
  await writeAs(ann, false);
  await pauseAs(ann, "{}");
  await expect(logOnFails()).rejects.toThrow();
  for (const service of ["Attribute/Write", "Attribute/Call", "Session/ActivateSession"])
    await audited(service);
  harness.set(robot("r1"), "ROBOT_LOST", true);
  // What comes after them has come.
  await expect.poll(() => others.filter(({ events }) => events.length > 0).length).toBe(4);
  const received = new Set(others.flatMap(({ events }) => events.map(({ SourceName }) => SourceName)));
  expect([...received]).toEqual(["r1"]);
});

it("contain no secret", async () => {
  await expect(logOnFails()).rejects.toThrow();
  const headers = { Authorization: "Bearer abc" };
  await pauseAs(eva, JSON.stringify({ robotId: "r1", options: { headers } }));
  await audited("Attribute/Call");
  await audited("Session/ActivateSession", ({ Status }) => Status === false);
  const text = JSON.stringify(audit.events);
  expect(text).toContain("***");
  for (const secret of ["a wrong secret", "Bearer abc", '"pw"']) expect(text).not.toContain(secret);
});

it("say so: Server.Auditing is TRUE", async () => {
  const { value } = await ann.session.read({ nodeId: "i=2994", attributeId: 13 });
  expect(value.value).toBe(true);
});
