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
import { lower } from "./lower.ts";

/** Parts of node-opcua 2.182 below its interface. */
interface Creation {
  preCreateMonitoredItem(
    space: AddressSpace,
    timestamps: unknown,
    request: MonitoredItemCreateRequest,
  ): { createResult: MonitoredItemCreateResult; monitoredItemCreateRequest: MonitoredItemCreateRequest };
}
interface Modification {
  readonly node: BaseNode | null;
  readonly itemToMonitor: { readonly attributeId: AttributeIds };
  modify(timestamps: unknown, parameters: MonitoringParameters): MonitoredItemModifyResult;
}

let isPatched = false;

/**
 * Refuses a subscription to events that would never send any, with the status of OPC UA part 4: node-opcua
 * accepts filters that it cannot evaluate, and objects that are no notifiers. A change of an item that is
 * refused leaves the item as it was. The answer has a result for each select clause.
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
    const { status, result } = verdictOf(node, requestedParameters.filter);
    if (status !== StatusCodes.Good) {
      const createResult = new MonitoredItemCreateResult({ statusCode: status, filterResult: result });
      return { createResult, monitoredItemCreateRequest: request };
    }
    const created = create.call(this, space, timestamps, request);
    created.createResult.filterResult = result;
    return created;
  };
  const { modify } = modification;
  modification.modify = function (timestamps, parameters) {
    const { itemToMonitor, node } = this;
    if (itemToMonitor.attributeId !== AttributeIds.EventNotifier || node === null)
      return modify.call(this, timestamps, parameters);
    const { status: statusCode, result: filterResult } = verdictOf(node, parameters.filter);
    if (statusCode !== StatusCodes.Good) return new MonitoredItemModifyResult({ statusCode, filterResult });
    const modified = modify.call(this, timestamps, parameters);
    modified.filterResult = filterResult;
    return modified;
  };
}

function verdictOf(node: BaseNode, filter: unknown): FilterVerdict {
  if (node.nodeClass !== NodeClass.Object) return { status: StatusCodes.BadAttributeIdInvalid, result: null };
  const { eventNotifier } = node as UAObject;
  const sendsEvents = (eventNotifier & EventNotifierFlags.SubscribeToEvents) !== 0;
  if (!sendsEvents) return { status: StatusCodes.BadNotSupported, result: null };
  return checkEventFilter(node.addressSpace as AddressSpace, filter);
}
