import {
  type AddressSpace,
  type BaseNode,
  EventFilter,
  MonitoredItem,
  type MonitoredItemCreateRequest,
  MonitoredItemCreateResult,
  type MonitoringParameters,
  StatusCodes,
  Subscription,
} from "node-opcua";
import { charge, type ItemLedger, ledgerOf, takeBack } from "./item-ledger.ts";
import { lower, patch } from "./lower.ts";
import { userOf } from "./session-bounds.ts";

/** A queue as short as this is always granted: the bound of the items bounds those, too. */
export const SHORT_QUEUE = 10;
/** A field of an event is a Variant. A value has a status and times, too. */
const FIELDS_OF_VALUE = 4;

/** As how many values a notification of an item with this filter counts. */
export function valuesOf(filter: unknown): number {
  if (!(filter instanceof EventFilter)) return 1;
  return Math.max(1, Math.ceil((filter.selectClauses ?? []).length / FIELDS_OF_VALUE));
}

/** Parts of node-opcua 2.182 below its interface. */
interface Creation {
  readonly $session?: { readonly userIdentityToken?: unknown };
  getMonitoredItem(id: number): Queued | null;
  preCreateMonitoredItem(
    space: AddressSpace,
    timestamps: unknown,
    request: MonitoredItemCreateRequest,
  ): { createResult: MonitoredItemCreateResult; monitoredItemCreateRequest: MonitoredItemCreateRequest };
}
interface Queued {
  readonly node: BaseNode | null;
  readonly queueSize: number;
  readonly filter: unknown;
}
type Create = Creation["preCreateMonitoredItem"];
type Modify = (this: Queued, timestamps: unknown, parameters: MonitoringParameters) => unknown;

let isPatched = false;

/**
 * Bounds the monitored items of each user, and what their queues hold, over all its sessions: one user with
 * 50 sessions would take gigabytes, or leave no items for others. An item counts for the user who made it
 * until it is deleted (item-ledger.ts).
 */
export function shareItems(): void {
  if (isPatched) return;
  isPatched = true;
  lower<Creation>(Subscription.prototype, "getMonitoredItem");
  patch<Create>(Subscription.prototype, "preCreateMonitoredItem", (create) => {
    return function (this: Creation, space, timestamps, request) {
      const ledger = ledgerOf(space);
      const user = userOf(this.$session?.userIdentityToken);
      if (ledger.items.roomOf(user) < 1) {
        const createResult = new MonitoredItemCreateResult({
          statusCode: StatusCodes.BadTooManyMonitoredItems,
        });
        return { createResult, monitoredItemCreateRequest: request };
      }
      shorten(request.requestedParameters, ledger.values.roomOf(user));
      const created = create.call(this, space, timestamps, request);
      const item = this.getMonitoredItem(created.createResult.monitoredItemId);
      if (item !== null) chargeQueue(item, ledger, user);
      return created;
    };
  });
  patch<Modify>(MonitoredItem.prototype, "modify", (modify) => {
    return function (timestamps, parameters) {
      const before = takeBack(this, "queue");
      if (before === null || this.node === null) return modify.call(this, timestamps, parameters);
      const ledger = ledgerOf(this.node.addressSpace as AddressSpace);
      shorten(parameters, ledger.values.roomOf(before.user));
      const modified = modify.call(this, timestamps, parameters);
      chargeQueue(this, ledger, before.user);
      return modified;
    };
  });
}

/** Shortens a queue to the values for which there is room. */
function shorten(parameters: MonitoringParameters | null, room: number): void {
  if (parameters === null || parameters.queueSize <= SHORT_QUEUE) return;
  const most = Math.max(SHORT_QUEUE, Math.floor(room / valuesOf(parameters.filter)));
  parameters.queueSize = Math.min(parameters.queueSize, most);
}

/** Charges the item, and what its queue holds if it is a long one. */
function chargeQueue(item: Queued, { items, values }: ItemLedger, user: string): void {
  const { queueSize, filter } = item;
  const held = queueSize > SHORT_QUEUE ? queueSize * valuesOf(filter) : 0;
  const amounts = [[items, 1] as const, [values, held] as const];
  charge(item, "queue", { user, amounts });
}
