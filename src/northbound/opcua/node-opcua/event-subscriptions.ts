import {
  type AddressSpace,
  AttributeIds,
  type BaseNode,
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
import { countIn, hasRoomFor, type LoadedItem, type LoadedSubscription } from "./event-load.ts";
import { lower } from "./lower.ts";

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
