import {
  AttributeIds,
  type AttributeOperand,
  ContentFilter,
  ContentFilterElement,
  type CreateMonitoredItemsRequest,
  type DeleteMonitoredItemsRequest,
  type ElementOperand,
  EventFilter,
  type FilterOperator,
  LiteralOperand,
  type ModifyMonitoredItemsRequest,
  type MonitoringFilter,
  SimpleAttributeOperand,
  type VariantOptions,
} from "node-opcua";
import type { Caller } from "./opcua-harness.ts";

export type Operand = ElementOperand | LiteralOperand | SimpleAttributeOperand | AttributeOperand;

export const message = new SimpleAttributeOperand({
  typeDefinitionId: "i=2041",
  browsePath: [{ name: "Message" }],
  attributeId: AttributeIds.Value,
});
export const literal = (value: VariantOptions) => new LiteralOperand({ value });
export const step = (filterOperator: FilterOperator, ...filterOperands: Operand[]) =>
  new ContentFilterElement({ filterOperator, filterOperands });
export const where = (...elements: ContentFilterElement[]) =>
  new EventFilter({ selectClauses: [message], whereClause: new ContentFilter({ elements }) });

/** The parameters of an item with this filter. */
export function itemParameters(filter: MonitoringFilter | null) {
  return { clientHandle: 1, samplingInterval: 0, queueSize: 10, discardOldest: true, filter };
}

/** A subscription for items that `send` makes. @returns its id */
export async function openSubscription({ session }: Caller): Promise<number> {
  const { subscriptionId } = await session.createSubscription2({
    requestedPublishingInterval: 10,
    requestedLifetimeCount: 1000,
    requestedMaxKeepAliveCount: 100,
    // node-opcua's client would throw at an event of an item that it has not made itself.
    publishingEnabled: false,
  });
  return subscriptionId;
}

/** Sends a request as it is, as any client's stack may. @returns the answer */
export function send(
  { session }: Caller,
  request: CreateMonitoredItemsRequest | ModifyMonitoredItemsRequest | DeleteMonitoredItemsRequest,
): Promise<unknown> {
  const perform: unknown = Reflect.get(session, "performMessageTransaction");
  if (typeof perform !== "function") throw new Error("node-opcua's client sends its requests elsewhere now");
  return perform.call(session, request);
}
