import { AttributeIds, EventFilter, MonitoredItem } from "node-opcua";
import { cached } from "./lower.ts";

/** The parts of node-opcua's monitored item and subscription that are needed here. */
export interface LoadedItem {
  /** Null: the item was deleted. */
  readonly node: object | null;
  readonly filter: unknown;
  readonly itemToMonitor: { readonly attributeId: AttributeIds };
  readonly $subscription?: LoadedSubscription;
}
export interface LoadedSubscription {
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
export function hasRoomFor(
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
export function countIn(subscription: object, item: unknown): void {
  if (item instanceof MonitoredItem && item.itemToMonitor.attributeId === AttributeIds.EventNotifier)
    cached(items, subscription, () => new Set()).add(item as unknown as LoadedItem);
}
