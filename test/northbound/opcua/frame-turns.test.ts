import { AttributeIds, DataType, MethodIds, resolveNodeId } from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let running: RunningServer;
let crowd: Caller;
let other: Caller;
beforeEach(async () => {
  running = await startServer();
  [crowd, other] = [await openSession(running.url), await openSession(running.url)];
});
afterEach(async () => {
  for (const caller of [crowd, other]) await caller.close();
  await running.stop();
});

const read = ({ session }: Caller) =>
  session.read({ nodeId: "ns=2;s=Gateway.Heartbeat", attributeId: AttributeIds.Value });

it.each(["ConditionRefresh", "Read"])(
  "200 requests %s at once delay another client's by few",
  async (kind) => {
    const { subscriptionId } = await crowd.session.createSubscription2({ publishingEnabled: true });
    const refresh = {
      objectId: resolveNodeId("ConditionType"),
      methodId: resolveNodeId(MethodIds.ConditionType_ConditionRefresh),
      inputArguments: [{ dataType: DataType.UInt32, value: subscriptionId }],
    };
    let answered = 0;
    const all = Array.from({ length: 200 }, async () => {
      await (kind === "Read" ? read(crowd) : crowd.session.call(refresh));
      answered += 1;
    });
    await read(other);
    expect(answered).toBeLessThan(20);
    await Promise.all(all);
    expect(answered).toBe(200);
  },
);
