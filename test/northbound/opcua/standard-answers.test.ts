import {
  AttributeIds,
  BrowseDirection,
  constructEventFilter,
  DataType,
  HistoryReadRequest,
  NodeClass,
  ofType,
  ReadRawModifiedDetails,
  resolveNodeId,
  StatusCodes,
  TimestampsToReturn,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";
import { robotChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { int32, text } from "./slots-harness.ts";

const SLOT = "Robots.AMR01.MissionSlot";
const clock = createManualClock();
let running: RunningServer;
let plc: Caller;

beforeAll(async () => {
  running = await startServer(
    { robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] }] },
    { clock },
  );
  plc = await openSession(running.url);
});
afterAll(async () => {
  await plc.close();
  await running.stop();
});

const id = (path: string) => `ns=2;s=${path}`;
const attributeOf = (nodeId: string, attributeId: AttributeIds) => plc.session.read({ nodeId, attributeId });

/** Every object and method under `nodeId`, each method with the object that has it. */
async function crawl(nodeId: string) {
  const objects = new Set([nodeId]);
  const methods: Array<{ readonly objectId: string; readonly methodId: string }> = [];
  for (const objectId of objects) {
    const { references } = await plc.session.browse({
      nodeId: objectId,
      browseDirection: BrowseDirection.Forward,
      referenceTypeId: "HierarchicalReferences",
      includeSubtypes: true,
      nodeClassMask: NodeClass.Object | NodeClass.Method,
      resultMask: 63,
    });
    for (const { nodeId: found, nodeClass } of references ?? []) {
      if (nodeClass === NodeClass.Object) objects.add(found.toString());
      else methods.push({ objectId, methodId: found.toString() });
    }
  }
  return { objects: [...objects], methods };
}

describe("methods of OPC UA itself", () => {
  it("that are not there for us are BadNotExecutable, and say so", async () => {
    const { methods } = await crawl("ns=0;i=2253");
    const conditions = ["ns=0;i=3875", "ns=0;i=12912"].map((methodId) => ({
      objectId: "ns=0;i=2782",
      methodId,
    }));
    const refused: string[] = [];
    for (const { objectId, methodId } of [...methods, ...conditions]) {
      const executable = await attributeOf(methodId, AttributeIds.Executable);
      if (executable.value.value === true) continue;
      const { statusCode } = await plc.session.call({ objectId, methodId });
      refused.push(statusCode.name);
    }
    expect(refused.length).toBeGreaterThan(2);
    expect(new Set(refused)).toEqual(new Set(["BadNotExecutable"]));
  });
});

describe("EventNotifier", () => {
  it("is set on the object Server, on gateway and robots with their folder, and on nothing else", async () => {
    const { objects } = await crawl("ns=0;i=85");
    expect(objects.length).toBeGreaterThan(20);
    const notifiers: string[] = [];
    for (const nodeId of objects) {
      const data = await attributeOf(nodeId, AttributeIds.EventNotifier);
      if (data.value.value !== 0) notifiers.push(nodeId);
    }
    const own = ["Gateway", "Robots", "Robots.AMR01"].map(id);
    expect(notifiers.sort()).toEqual(["ns=0;i=2253", ...own]);
  });
});

it("HistoryRead of a registered handle is BadHistoryOperationUnsupported, as of its node", async () => {
  const [handle = ""] = (await plc.session.registerNodes([id("Robots.AMR01.Valid")])).map(String);
  expect(handle).not.toContain("Valid");
  const answer = await plc.session.historyRead(
    new HistoryReadRequest({
      historyReadDetails: new ReadRawModifiedDetails({ startTime: new Date(0), endTime: new Date(1) }),
      nodesToRead: [{ nodeId: handle }, { nodeId: id("Robots.AMR01.Valid") }],
      timestampsToReturn: TimestampsToReturn.Both,
    }),
  );
  expect(answer.results?.map(({ statusCode }) => statusCode.name)).toEqual([
    "BadHistoryOperationUnsupported",
    "BadHistoryOperationUnsupported",
  ]);
});

describe("an array that is written with one dimension", () => {
  const matrix = (dataType: DataType, value: unknown, ...dimensions: number[]) => {
    const variant = new Variant({ dataType, arrayType: VariantArrayType.Array, value });
    variant.arrayType = VariantArrayType.Matrix;
    variant.dimensions = dimensions;
    return variant;
  };

  it("is taken if it fits, and is BadTypeMismatch with two", async () => {
    const numbers = new Int32Array(12);
    const pose = new Int32Array([1, 2, 3]);
    expect(
      await plc.write(
        [`${SLOT}.Command`, matrix(DataType.Int32, numbers, 12)],
        [`${SLOT}.Pose`, matrix(DataType.Int32, pose, 3)],
        [`${SLOT}.Destinations`, matrix(DataType.String, ["A", "B"], 2)],
        [`${SLOT}.Command`, matrix(DataType.Int32, numbers, 3, 4)],
        [`${SLOT}.Pose`, matrix(DataType.Int32, pose, 1, 3)],
      ),
    ).toEqual([
      StatusCodes.Good,
      StatusCodes.Good,
      StatusCodes.Good,
      StatusCodes.BadTypeMismatch,
      StatusCodes.BadTypeMismatch,
    ]);
    expect(Array.from((await plc.value(`${SLOT}.Pose`)) as Int32Array)).toEqual([1, 2, 3]);
  });

  it("is taken as an argument too", async () => {
    const call = (...dimensions: number[]) =>
      plc.session.call({
        objectId: id("Robots.AMR01"),
        methodId: id("RobotMethods.Traverse"),
        inputArguments: [
          text(""),
          { dataType: DataType.DateTime, value: new Date(0) },
          matrix(DataType.String, ["A", "B"], ...dimensions),
        ],
      });
    expect((await call(2)).statusCode).toBe(StatusCodes.Good);
    expect(await call(1, 2)).toMatchObject({
      statusCode: StatusCodes.BadInvalidArgument,
      inputArgumentResults: [StatusCodes.Good, StatusCodes.Good, StatusCodes.BadTypeMismatch],
    });
  });
});

it("a write of more than a value is BadWriteNotSupported, and writes nothing", async () => {
  const write = (name: string, value: object) =>
    plc.session.write({ nodeId: id(name), attributeId: AttributeIds.Value, value });
  for (const [name, value] of [
    [`${SLOT}.Destination`, text("Dock A")],
    [`${SLOT}.RequestId`, int32(-7)],
    ["Robots.AMR01.Hold", { dataType: DataType.Boolean, value: true }],
  ] as const) {
    const more = [
      { value, statusCode: StatusCodes.GoodClamped },
      { value, statusCode: StatusCodes.UncertainInitialValue },
      { value, sourceTimestamp: new Date(1) },
      { value, serverTimestamp: new Date(1) },
    ];
    for (const data of more) expect(await write(name, data)).toBe(StatusCodes.BadWriteNotSupported);
  }
  expect(await plc.value(`${SLOT}.Destination`)).toBe("");
  // A client that ignores the status must not start a command with an older value.
  const ticket = await plc.nextId(`${SLOT}.NextId`);
  await plc.write([`${SLOT}.Operation`, int32(1)], [`${SLOT}.RequestId`, int32(ticket)]);
  expect(await plc.value(`${SLOT}.ErrorText`)).toContain(`the last write to ${SLOT}.Destination was refused`);
  expect(await plc.value("Robots.AMR01.Hold")).toBe(false);
  expect(await write(`${SLOT}.Destination`, { value: text("Dock A") })).toBe(StatusCodes.Good);
});

describe("of 200 robots that appear at once", () => {
  const ROBOTS = 200;
  const appear = (prefix: string) => {
    for (let index = 0; index < ROBOTS; index += 1)
      running.server.write({ changes: [robotChange(`${prefix}${index}`, "good")], events: [] });
  };
  async function watch(select: string[], type: string, queueSize: number) {
    const subscription = await plc.session.createSubscription2({
      requestedPublishingInterval: 50,
      requestedLifetimeCount: 1_000,
      requestedMaxKeepAliveCount: 100,
      publishingEnabled: true,
    });
    const item = await subscription.monitor(
      { nodeId: "ns=0;i=2253", attributeId: AttributeIds.EventNotifier },
      {
        samplingInterval: 0,
        queueSize,
        discardOldest: true,
        filter: constructEventFilter(select, ofType(resolveNodeId(type))),
      },
      TimestampsToReturn.Both,
    );
    const events: Variant[][] = [];
    item.on("changed", (fields: unknown) => void events.push(fields as Variant[]));
    return { subscription, events };
  }
  const typeOf = (fields: readonly Variant[] | undefined) => String(fields?.at(-1)?.value);

  it("one event tells", async () => {
    const { subscription, events } = await watch(["Changes"], "GeneralModelChangeEventType", 1);
    const built = () => running.server.health().figures?.robots ?? 0;
    const before = built();
    appear("many");
    // A busy machine builds them in several steps, which rest by the clock in between.
    await expect
      .poll(() => {
        clock.advance(1);
        return built();
      })
      .toBe(before + ROBOTS);
    clock.advance(1_000);
    await expect.poll(() => events.length).toBeGreaterThan(0);
    const told = events.flatMap(([changes]) =>
      changes?.value.map(({ affected }: { affected: { value: string } }) => affected.value),
    );
    expect(events).toHaveLength(1);
    for (let index = 0; index < ROBOTS; index += 1) expect(told).toContain(`Robots.many${index}`);
    await subscription.terminate();
  });

  it("a client whose queue is too short for their events is told that it has missed some", async () => {
    const { subscription, events } = await watch(["EventType"], "GeneralModelChangeEventType", 2);
    const most = 10;
    for (let count = 0; count < most + 5; count += 1) {
      running.server.write({ changes: [robotChange(`single${count}`, "good")], events: [] });
      clock.advance(1_000);
    }
    await expect.poll(() => events.length).toBeGreaterThan(most);
    expect(typeOf(events[0])).toBe("ns=0;i=3035");
    expect(events).toHaveLength(most + 1);
    for (const event of events.slice(1)) expect(typeOf(event)).toBe("ns=0;i=2133");
    await subscription.terminate();
  });
});
