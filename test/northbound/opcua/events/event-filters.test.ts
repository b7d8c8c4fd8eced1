import {
  AttributeIds,
  AttributeOperand,
  ContentFilter,
  CreateMonitoredItemsRequest,
  type CreateMonitoredItemsResponse,
  constructEventFilter,
  DataChangeFilter,
  DataType,
  ElementOperand,
  EventFilter,
  type EventFilterResult,
  FilterOperator,
  ModifyMonitoredItemsRequest,
  type ModifyMonitoredItemsResponse,
  MonitoringMode,
  ofType,
  resolveNodeId,
  SimpleAttributeOperand,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FleetEvent } from "../../../../src/domain/event.ts";
import { itemParameters, literal, message, openSubscription, send, step, where } from "../filter-requests.ts";
import { type Caller, openSession, type RunningServer, startServer } from "../opcua-harness.ts";
import { listen } from "./event-listener.ts";

let running: RunningServer;
let scada: Caller;
let subscriptionId: number;

beforeAll(async () => {
  running = await startServer({
    robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] }],
  });
  scada = await openSession(running.url);
  subscriptionId = await openSubscription(scada);
});
afterAll(async () => {
  await scada.close();
  await running.stop();
});

const SERVER = "i=2253";
type Path = ReadonlyArray<{ readonly name: string | null; readonly namespaceIndex?: number }>;

function field(name: string, changed: { type?: string; path?: Path; attributeId?: AttributeIds } = {}) {
  const { type = "i=2041", path = [{ name }], attributeId = AttributeIds.Value } = changed;
  return new SimpleAttributeOperand({ typeDefinitionId: type, browsePath: [...path], attributeId });
}
const nodeId = (id: string) => literal({ dataType: DataType.NodeId, value: resolveNodeId(id) });
const number = (value: number) => literal({ dataType: DataType.Int32, value });
const select = (...selectClauses: SimpleAttributeOperand[]) => new EventFilter({ selectClauses });

type Filter = EventFilter | DataChangeFilter | null;

async function monitor(filter: Filter, nodeToMonitor = SERVER) {
  const answer = (await send(
    scada,
    new CreateMonitoredItemsRequest({
      subscriptionId,
      timestampsToReturn: TimestampsToReturn.Both,
      itemsToCreate: [
        {
          itemToMonitor: { nodeId: nodeToMonitor, attributeId: AttributeIds.EventNotifier },
          monitoringMode: MonitoringMode.Reporting,
          requestedParameters: itemParameters(filter),
        },
      ],
    }),
  )) as CreateMonitoredItemsResponse;
  const { statusCode, monitoredItemId = 0, filterResult = null } = answer.results?.[0] ?? {};
  const clauses = (filterResult as EventFilterResult | null)?.selectClauseResults ?? [];
  return { status: statusCode?.name, monitoredItemId, clauses: clauses.map(({ name }) => name) };
}

describe("a where clause", () => {
  const { Equals, Like, OfType, InList, Not, And, GreaterThan } = FilterOperator;

  it.each<[what: string, filter: EventFilter, status: string]>([
    [
      "an operator that is not supported",
      where(step(Like, message, number(1))),
      "BadFilterOperatorUnsupported",
    ],
    ["too few operands", where(step(Equals, message)), "BadFilterOperandCountMismatch"],
    [
      "an element that is not there",
      where(step(Not, new ElementOperand({ index: 5 }))),
      "BadFilterElementInvalid",
    ],
    ["itself", where(step(Not, new ElementOperand({ index: 0 }))), "BadFilterElementInvalid"],
    [
      "an operand of another kind",
      where(step(Equals, new AttributeOperand({ nodeId: SERVER, attributeId: 13 }), number(1))),
      "BadFilterOperandInvalid",
    ],
    [
      "a list for a literal",
      where(step(Equals, message, literal({ dataType: DataType.Int32, arrayType: 1, value: [1, 2] }))),
      "BadFilterLiteralInvalid",
    ],
    ["a type that is a field", where(step(OfType, message)), "BadFilterOperandInvalid"],
    ["a type that is a number", where(step(OfType, number(2041))), "BadFilterOperandInvalid"],
    ["a type that is an object", where(step(OfType, nodeId(SERVER))), "BadFilterOperandInvalid"],
    ["a type of objects", where(step(OfType, nodeId("i=58"))), "BadFilterOperandInvalid"],
    ["a type of folders", where(step(OfType, nodeId("i=61"))), "BadFilterOperandInvalid"],
    ["a list without elements", where(step(InList, field("EventType"))), "BadFilterOperandCountMismatch"],
    ["a list of nothing", where(step(InList)), "BadFilterOperandCountMismatch"],
    ["a type that is not there", where(step(OfType, nodeId("ns=2;s=NoType"))), "BadNodeIdUnknown"],
    ["a list of numbers", where(step(InList, field("Severity"), number(1))), "BadFilterOperatorUnsupported"],
    ["a field of no event", where(step(Equals, field("Colour"), number(1))), "BadNodeIdUnknown"],
    [
      "a field of a type that is none of events",
      where(step(Equals, field("Message", { type: "i=58" }), number(1))),
      "BadTypeDefinitionInvalid",
    ],
    [
      "another attribute",
      where(step(Equals, field("Message", { attributeId: AttributeIds.DisplayName }), number(1))),
      "BadAttributeIdInvalid",
    ],
  ])("with %s is refused", async (_what, filter, status) => {
    expect((await monitor(filter)).status).toBe(status);
  });

  it("lets the events through that it means", async () => {
    const fields = ["2:MissionId"];
    const mission = field("MissionId", { path: [{ name: "MissionId", namespaceIndex: 2 }] });
    const isSevere = step(GreaterThan, field("Severity"), number(500));
    const isMission = step(OfType, nodeId("ns=2;s=MissionEventType"));
    const both = step(And, new ElementOperand({ index: 1 }), new ElementOperand({ index: 2 }));
    const whereClause = new ContentFilter({ elements: [both, isMission, isSevere] });
    const filter = new EventFilter({ selectClauses: [mission], whereClause });
    const listener = await listen(scada, SERVER, fields, filter);
    raise("m-1", "STATE_RUNNING", "STATE_FAILED", "STATE_SUCCEEDED");
    raise("m-2", "STATE_FAILED");
    await expect.poll(() => listener.events).toEqual([{ "2:MissionId": "m-1" }, { "2:MissionId": "m-2" }]);
    await listener.stop();
  });
});

describe("select clauses", () => {
  it("have a result each; a bad one selects null", async () => {
    const { status, clauses } = await monitor(
      select(
        message,
        field("", { path: [{ name: "EnabledState" }, { name: "Id" }] }),
        field("", { path: [{ name: "To", namespaceIndex: 2 }] }),
        field("Colour"),
        field("Message", { type: "i=58" }),
        field("", { path: [{ name: null }] }),
        field("Message", { attributeId: AttributeIds.DisplayName }),
        field("", { path: [], attributeId: AttributeIds.NodeId, type: "i=2782" }),
      ),
    );
    expect(status).toBe("Good");
    expect(clauses).toEqual([
      ...["Good", "Good", "Good", "BadNodeIdUnknown", "BadTypeDefinitionInvalid"],
      ...["BadBrowseNameInvalid", "BadAttributeIdInvalid", "Good"],
    ]);
  });

  it("of which none is good are refused, and so is no filter", async () => {
    expect(await monitor(select(field("Colour")))).toMatchObject({
      status: "BadEventFilterInvalid",
      clauses: ["BadNodeIdUnknown"],
    });
    expect((await monitor(select())).status).toBe("BadEventFilterInvalid");
    expect((await monitor(null)).status).toBe("BadEventFilterInvalid");
    expect((await monitor(new DataChangeFilter({}))).status).toBe("BadEventFilterInvalid");
  });
});

describe("an item", () => {
  it("of an object that sends no events is refused", async () => {
    const { status } = await monitor(select(message), "ns=2;s=Robots.AMR01.Battery");
    expect(status).toBe("BadNotSupported");
    const ofVariable = await monitor(select(message), "ns=2;s=Robots.AMR01.Valid");
    expect(ofVariable.status).toBe("BadAttributeIdInvalid");
  });

  it("keeps its filter when another one is refused", async () => {
    const { monitoredItemId } = await monitor(select(message));
    const modify = async (filter: Filter) => {
      const itemsToModify = [{ monitoredItemId, requestedParameters: itemParameters(filter) }];
      const timestampsToReturn = TimestampsToReturn.Both;
      const request = new ModifyMonitoredItemsRequest({ subscriptionId, timestampsToReturn, itemsToModify });
      const { results } = (await send(scada, request)) as ModifyMonitoredItemsResponse;
      return results?.[0]?.statusCode;
    };
    expect(await modify(where(step(FilterOperator.IsNull, message)))).toBe(
      StatusCodes.BadFilterOperatorUnsupported,
    );
    expect(await modify(null)).toBe(StatusCodes.BadEventFilterInvalid);
    expect(await modify(where(step(FilterOperator.Equals, message, number(1))))).toBe(StatusCodes.Good);
  });
});

it("a queue that is full loses the oldest events, and says so with an EventQueueOverflowEvent", async () => {
  const fields = ["EventType", "2:MissionId"];
  // A change of the model, which comes a moment after a robot, would take a place in the queue.
  const ofMissions = ofType(resolveNodeId("ns=2;s=MissionEventType"));
  const filter = constructEventFilter([...fields, "EventType"], ofMissions);
  const listener = await listen(scada, SERVER, fields, filter, 10);
  raise("m", ...Array.from({ length: 30 }, () => "STATE_RUNNING" as const));
  await expect.poll(() => listener.events.length).toBe(11);
  const types = listener.events.map(({ EventType }) => String(EventType));
  expect(types[0]).toBe("ns=0;i=3035");
  expect(types.slice(1)).toEqual(Array(10).fill("ns=2;s=MissionEventType"));
  await listener.stop();
});

function raise(
  missionId: string,
  ...states: ReadonlyArray<"STATE_RUNNING" | "STATE_FAILED" | "STATE_SUCCEEDED">
) {
  const common = { kind: "mission", robotId: "r1", atMs: 0, missionId, from: null, owner: "api" } as const;
  const events = states.map((to, index): FleetEvent => {
    return { ...common, eventId: `${missionId}/${index}`, to, command: null };
  });
  running.server.write({ changes: [], events });
}
