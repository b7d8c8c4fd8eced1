import {
  AttributeIds,
  CreateMonitoredItemsRequest,
  type CreateMonitoredItemsResponse,
  DataType,
  MonitoringMode,
  NumericRange,
  StatusCodes,
  TimestampsToReturn,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const robots = [{ robotId: "r1", alias: "AMR01", family: "cart", number: 7, conveyorIndexes: [0] }] as const;
const CLOSED = "ns=2;s=Robots.AMR01.MissionSlot.Closed";

/** A range as another stack sends it: node-opcua's own client cannot send these texts. */
function rangeOf(text: string): NumericRange {
  return Object.assign(new NumericRange(), { toEncodeableString: () => text });
}

describe("an index range", () => {
  let running: RunningServer;
  let plc: Caller;
  beforeAll(async () => {
    running = await startServer({ robots, missionSlots: 1 });
    plc = await openSession(running.url);
  });
  afterAll(async () => {
    await plc.close();
    await running.stop();
  });

  const readPart = (nodeId: string, text: string) =>
    plc.session.read({ nodeId, attributeId: AttributeIds.Value, indexRange: rangeOf(text) });
  const writePart = (nodeId: string, value: Variant, text: string) =>
    plc.session.write({
      nodeId,
      attributeId: AttributeIds.Value,
      indexRange: rangeOf(text),
      value: { value },
    });

  /** As any client's stack sends it. */
  function perform(request: CreateMonitoredItemsRequest): Promise<CreateMonitoredItemsResponse> {
    const send: unknown = Reflect.get(plc.session, "performMessageTransaction");
    if (typeof send !== "function") throw new Error("node-opcua's client sends its requests elsewhere now");
    return send.call(plc.session, request) as Promise<CreateMonitoredItemsResponse>;
  }

  it("that is an empty text reads the whole value, as no range does", async () => {
    const array = await readPart(CLOSED, "");
    expect(array.statusCode).toBe(StatusCodes.Good);
    expect(Array.from(array.value.value as Int32Array)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    const text = await readPart("ns=2;s=Robots.AMR01.RobotId", "");
    expect(text.value.value).toBe("r1");
  });

  it("that is an empty text writes the whole value", async () => {
    const truth = new Variant({ dataType: DataType.Boolean, value: true });
    expect(await writePart("ns=2;s=Robots.AMR01.Hold", truth, "")).toBe(StatusCodes.Good);
    const command = new Variant({
      dataType: DataType.Int32,
      arrayType: VariantArrayType.Array,
      value: new Int32Array(12),
    });
    expect(await writePart("ns=2;s=Robots.AMR01.MissionSlot.Command", command, "")).toBe(StatusCodes.Good);
    const operation = new Variant({ dataType: DataType.Int32, value: 1 });
    expect(await writePart("ns=2;s=Robots.AMR01.MissionSlot.Operation", operation, "")).toBe(
      StatusCodes.Good,
    );
  });

  it("that is an empty text monitors the whole value", async () => {
    const subscription = await plc.session.createSubscription2({ publishingEnabled: true });
    const answer = await perform(
      new CreateMonitoredItemsRequest({
        subscriptionId: subscription.subscriptionId,
        timestampsToReturn: TimestampsToReturn.Both,
        itemsToCreate: [
          {
            itemToMonitor: { nodeId: CLOSED, attributeId: AttributeIds.Value, indexRange: rangeOf("") },
            monitoringMode: MonitoringMode.Disabled,
            requestedParameters: { clientHandle: 1, samplingInterval: 0, queueSize: 1 },
          },
        ],
      }),
    );
    expect(answer.results?.[0]?.statusCode).toBe(StatusCodes.Good);
    await subscription.terminate();
  });

  it.each([":", "1:", ":1", ",", "x", "5:2"])("that is no range, as %o, is refused", async (text) => {
    const { statusCode } = await readPart(CLOSED, text);
    expect(statusCode).toBe(StatusCodes.BadIndexRangeInvalid);
  });

  it.each([
    ["MissionSlot.Operation", new Variant({ dataType: DataType.Int32, value: 1 })],
    ["MissionSlot.RequestId", new Variant({ dataType: DataType.Int32, value: 1 })],
    [
      "MissionSlot.Destinations",
      new Variant({ dataType: DataType.String, arrayType: VariantArrayType.Array, value: ["A"] }),
    ],
    ["Hold", new Variant({ dataType: DataType.Boolean, value: true })],
  ])("that is no range is refused in a write to %s", async (name, value) => {
    for (const text of ["1:", "5:2", "x"])
      expect(await writePart(`ns=2;s=Robots.AMR01.${name}`, value, text)).toBe(
        StatusCodes.BadIndexRangeInvalid,
      );
  });

  it("that is one, of a value that has no parts, is refused as having no data", async () => {
    const value = new Variant({ dataType: DataType.Int32, value: 1 });
    expect(await writePart("ns=2;s=Robots.AMR01.MissionSlot.Operation", value, "1:2")).toBe(
      StatusCodes.BadIndexRangeNoData,
    );
  });

  it("reads the part that it names", async () => {
    const { value } = await readPart(CLOSED, "6:7");
    expect(Array.from(value.value as Int32Array)).toEqual([0, 0]);
  });
});
