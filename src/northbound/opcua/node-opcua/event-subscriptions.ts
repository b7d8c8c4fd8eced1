import {
  type AddressSpace,
  AttributeIds,
  type BaseNode,
  EventFilter,
  EventNotifierFlags,
  MonitoredItem,
  type MonitoredItemCreateRequest,
  MonitoredItemCreateResult,
  MonitoredItemModifyResult,
  type MonitoringParameters,
  NodeClass,
  StatusCodes,
  Subscription,
  type UAObject,
} from "node-opcua";
import { checkEventFilter, type FilterVerdict } from "./event-filters.ts";
import { cached, lower } from "./lower.ts";

/** Parts of node-opcua 2.182 below its interface. */
interface Creation extends LoadedSubscription {
  getMonitoredItem(id: number): unknown;
  preCreateMonitoredItem(
    space: AddressSpace,
    timestamps: unknown,
    request: MonitoredItemCreateRequest,
  ): { createResult: MonitoredItemCreateResult; monitoredItemCreateRequest: MonitoredItemCreateRequest };
}
interface Modification extends LoadedItem {
  readonly node: BaseNode | null;
  modify(timestamps: unknown, parameters: MonitoringParameters): MonitoredItemModifyResult;
}

let isPatched = false;

/**
 * Refuses a subscription to events that would never send any, with the status of OPC UA part 4: node-opcua
 * accepts filters that it cannot evaluate, and objects that are no notifiers. A change of an item that is
 * refused leaves the item as it was. The answer has a result for each select clause. A session has a bound
 * for what an event costs at its items.
 */
export function checkEventSubscriptions(): void {
  if (isPatched) return;
  const creation = lower<Creation>(Subscription.prototype, "preCreateMonitoredItem");
  const modification = lower<Modification>(MonitoredItem.prototype, "modify");
  isPatched = true;
  const { preCreateMonitoredItem: create } = creation;
  creation.preCreateMonitoredItem = function (space, timestamps, request) {
    const { itemToMonitor, requestedParameters } = request;
    const node = space.findNode(itemToMonitor.nodeId);
    if (itemToMonitor.attributeId !== AttributeIds.EventNotifier || node === null)
      return create.call(this, space, timestamps, request);
    const { status, result } = verdictOf(this, null, node, requestedParameters.filter);
    if (status !== StatusCodes.Good) {
      const createResult = new MonitoredItemCreateResult({ statusCode: status, filterResult: result });
      return { createResult, monitoredItemCreateRequest: request };
    }
    const created = create.call(this, space, timestamps, request);
    created.createResult.filterResult = result;
    countIn(this, this.getMonitoredItem(created.createResult.monitoredItemId));
    return created;
  };
  const { modify } = modification;
  modification.modify = function (timestamps, parameters) {
    const { itemToMonitor, node } = this;
    if (itemToMonitor.attributeId !== AttributeIds.EventNotifier || node === null)
      return modify.call(this, timestamps, parameters);
    const subscription = this.$subscription ?? {};
    const { status: statusCode, result: filterResult } = verdictOf(
      subscription,
      this,
      node,
      parameters.filter,
    );
    if (statusCode !== StatusCodes.Good) return new MonitoredItemModifyResult({ statusCode, filterResult });
    const modified = modify.call(this, timestamps, parameters);
    modified.filterResult = filterResult;
    return modified;
  };
}

/** @param item the item that is changed; null: it is new */
function verdictOf(
  subscription: LoadedSubscription,
  item: LoadedItem | null,
  node: BaseNode,
  filter: unknown,
): FilterVerdict {
  if (node.nodeClass !== NodeClass.Object) return { status: StatusCodes.BadAttributeIdInvalid, result: null };
  const { eventNotifier } = node as UAObject;
  const sendsEvents = (eventNotifier & EventNotifierFlags.SubscribeToEvents) !== 0;
  if (!sendsEvents) return { status: StatusCodes.BadNotSupported, result: null };
  const verdict = checkEventFilter(node.addressSpace as AddressSpace, filter);
  if (verdict.status !== StatusCodes.Good || hasRoomFor(subscription, node, filter, item)) return verdict;
  return { status: StatusCodes.BadTooManyMonitoredItems, result: verdict.result };
}

/** The parts of node-opcua's monitored item and subscription that are needed here. */
interface LoadedItem {
  /** Null: the item was deleted. */
  readonly node: object | null;
  readonly filter: unknown;
  readonly itemToMonitor: { readonly attributeId: AttributeIds };
  readonly $subscription?: LoadedSubscription;
}
interface LoadedSubscription {
  /** That of its session; absent: the subscription is closed. */
  readonly publishEngine?: { readonly subscriptions: readonly object[] };
}

/** An item costs as much as so many fields, whatever it selects. */
const ITEM_COST = 10;
/** Of all items of a session that get the events of one object: an event is evaluated for each at once. */
const MOST_OF_OBJECT = 10_000;
/** Of all items of a session: each has a queue. */
const MOST_OF_SESSION = 100_000;

/** So many bytes of a filter cost as much as a field: it may have long literals. */
const BYTES_OF_FIELD = 1_024;

/** The items of events, by their subscription. */
const items = new WeakMap<object, Set<LoadedItem>>();
const costs = new WeakMap<EventFilter, number>();

/** What an item with this filter costs, in fields: those that it selects or compares, and its size. */
function costOf(filter: unknown): number {
  return filter instanceof EventFilter ? cached(costs, filter, () => costOfFilter(filter)) : ITEM_COST;
}

function costOfFilter(filter: EventFilter): number {
  const elements = filter.whereClause?.elements ?? [];
  const operands = elements.reduce((sum, element) => sum + (element?.filterOperands?.length ?? 0), 0);
  const size = Math.floor(filter.binaryStoreSize() / BYTES_OF_FIELD);
  return ITEM_COST + (filter.selectClauses?.length ?? 0) + operands + size;
}

/**
 * Whether the session of a subscription may have one more item with this filter, or an item that gets another
 * one.
 *
 * @param item the item that is changed; null: it is new
 */
function hasRoomFor(
  { publishEngine }: LoadedSubscription,
  node: object,
  filter: unknown,
  item: LoadedItem | null,
): boolean {
  let [ofObject, ofSession] = [costOf(filter), costOf(filter)];
  for (const subscription of publishEngine?.subscriptions ?? []) {
    const own = items.get(subscription) ?? new Set();
    for (const each of own) {
      if (each.node === null) own.delete(each);
      if (each.node === null || each === item) continue;
      const cost = costOf(each.filter);
      ofSession += cost;
      if (each.node === node) ofObject += cost;
    }
  }
  return ofObject <= MOST_OF_OBJECT && ofSession <= MOST_OF_SESSION;
}

/** A subscription has one more item. */
function countIn(subscription: object, item: unknown): void {
  if (item instanceof MonitoredItem && item.itemToMonitor.attributeId === AttributeIds.EventNotifier)
    cached(items, subscription, () => new Set()).add(item as unknown as LoadedItem);
}
