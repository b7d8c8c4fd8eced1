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
import { checkEventFilter, type FilterVerdict, operandsOf } from "./event-filters.ts";
import { type Charge, charge, ledgerOf, takeBack } from "./item-ledger.ts";
import { lower } from "./lower.ts";
import { userOf } from "./session-bounds.ts";

/** Parts of node-opcua 2.182 below its interface. */
interface Creation extends LoadedSubscription {
  getMonitoredItem(id: number): object | null;
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

/** An item costs as much as so many fields, whatever it selects. */
const ITEM_COST = 10;
/** So many bytes of a filter cost as much as a field: it may have long literals. */
const BYTES_OF_FIELD = 512;
let isPatched = false;

/**
 * Refuses a subscription to events that would never send any, with the status of OPC UA part 4: node-opcua
 * accepts filters that it cannot evaluate, and objects that are no notifiers. A change of an item that is
 * refused leaves the item as it was. The answer has a result for each select clause. The items of each user,
 * and of all, have a bound for what they cost (item-ledger.ts).
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
    const { status, result, cost } = verdictOf(this, node, requestedParameters.filter);
    if (status !== StatusCodes.Good) {
      const createResult = new MonitoredItemCreateResult({ statusCode: status, filterResult: result });
      return { createResult, monitoredItemCreateRequest: request };
    }
    const created = create.call(this, space, timestamps, request);
    created.createResult.filterResult = result;
    const item = this.getMonitoredItem(created.createResult.monitoredItemId);
    if (item !== null) charge(item, "filter", cost);
    return created;
  };
  const { modify } = modification;
  modification.modify = function (timestamps, parameters) {
    const { itemToMonitor, node } = this;
    if (itemToMonitor.attributeId !== AttributeIds.EventNotifier || node === null)
      return modify.call(this, timestamps, parameters);
    const before = takeBack(this, "filter");
    const {
      status: statusCode,
      result: filterResult,
      cost,
    } = verdictOf(this.$subscription ?? {}, node, parameters.filter);
    charge(this, "filter", cost ?? before);
    if (statusCode !== StatusCodes.Good) return new MonitoredItemModifyResult({ statusCode, filterResult });
    const modified = modify.call(this, timestamps, parameters);
    modified.filterResult = filterResult;
    return modified;
  };
}

/** A verdict, and what an item with this filter costs; null: no item gets the filter. */
type CostedVerdict = FilterVerdict & { readonly cost: Charge | null };

function verdictOf({ $session }: LoadedSubscription, node: BaseNode, filter: unknown): CostedVerdict {
  const refused = { result: null, cost: null };
  if (node.nodeClass !== NodeClass.Object) return { ...refused, status: StatusCodes.BadAttributeIdInvalid };
  const { eventNotifier } = node as UAObject;
  const sendsEvents = (eventNotifier & EventNotifierFlags.SubscribeToEvents) !== 0;
  if (!sendsEvents) return { ...refused, status: StatusCodes.BadNotSupported };
  const space = node.addressSpace as AddressSpace;
  const verdict = checkEventFilter(space, filter);
  if (verdict.status !== StatusCodes.Good) return { ...verdict, cost: null };
  const user = userOf($session?.userIdentityToken);
  const { fields, fieldsAt } = ledgerOf(space);
  const cost = costOf(filter);
  const amounts = [fieldsAt(node), fields].map((pool) => [pool, cost] as const);
  if (amounts.some(([pool]) => pool.roomOf(user) < cost))
    return { ...verdict, status: StatusCodes.BadTooManyMonitoredItems, cost: null };
  return { ...verdict, cost: { user, amounts } };
}

/** What an item with this filter costs, in fields: those that it selects or compares, and its size. */
function costOf(filter: unknown): number {
  if (!(filter instanceof EventFilter)) return ITEM_COST;
  const fields = (filter.selectClauses ?? []).length + operandsOf(filter.whereClause);
  return ITEM_COST + fields + Math.floor(filter.binaryStoreSize() / BYTES_OF_FIELD);
}

/** The parts of node-opcua's monitored item and subscription that are needed here. */
interface LoadedItem {
  readonly itemToMonitor: { readonly attributeId: AttributeIds };
  readonly $subscription?: LoadedSubscription;
}
interface LoadedSubscription {
  readonly $session?: { readonly userIdentityToken?: unknown };
}
