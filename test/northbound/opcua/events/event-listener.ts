import {
  AttributeIds,
  constructEventFilter,
  type EventFilter,
  resolveNodeId,
  TimestampsToReturn,
  type Variant,
} from "node-opcua";
import type { Caller } from "../opcua-harness.ts";

/** The events that a client receives, each as its selected values by field. */
export interface Listener {
  readonly events: ReadonlyArray<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

const modelChange = resolveNodeId("GeneralModelChangeEventType").toString();

/** Subscribes to the events of a node. `fields` are those that the filter selects, in its order. */
export async function listen(
  { session }: Caller,
  nodeId: string,
  fields: readonly string[],
  filter: EventFilter = constructEventFilter([...fields, "EventType"]),
  queueSize = 1_000,
): Promise<Listener> {
  const events: Array<Record<string, unknown>> = [];
  const subscription = await session.createSubscription2({
    requestedPublishingInterval: 10,
    requestedLifetimeCount: 1000,
    requestedMaxKeepAliveCount: 100,
    publishingEnabled: true,
  });
  const item = await subscription.monitor(
    { nodeId, attributeId: AttributeIds.EventNotifier },
    { samplingInterval: 0, queueSize, discardOldest: true, filter },
    TimestampsToReturn.Both,
  );
  item.on("changed", (values: unknown) => {
    const variants = values as readonly Variant[];
    // Robots that are new are told a moment later, as a change of the model.
    if (String(variants[fields.length]?.value) === modelChange) return;
    events.push(Object.fromEntries(fields.map((field, index) => [field, variants[index]?.value ?? null])));
  });
  return { events, stop: () => subscription.terminate() };
}
