import {
  type AddressSpace,
  EventFilter,
  MonitoredItem,
  type MonitoredItemCreateRequest,
  MonitoredItemCreateResult,
  type MonitoringParameters,
  StatusCodes,
  Subscription,
} from "node-opcua";
import type { OpcUaOptions } from "../options.ts";
import { lower, patch } from "./lower.ts";
import { userOf } from "./session-bounds.ts";
import { shareAmongUsers } from "./user-shares.ts";

/** A queue as short as this is always granted: the bound of the items bounds those, too. */
export const SHORT_QUEUE = 10;
/** What all longer queues hold, in values. A value takes 400 bytes of memory. */
const inLongQueues = { total: 300_000, perUser: 100_000, ofCommander: 20_000, ofReader: 5_000 };
/** The items that are kept for each user. */
const ownItems = { ofCommander: 5_000, ofReader: 1_000 };
/** A field of an event is a Variant. A value has a status and times, too. */
const FIELDS_OF_VALUE = 4;

/** As how many values a notification of an item with this filter counts. */
export function valuesOf(filter: unknown): number {
  if (!(filter instanceof EventFilter)) return 1;
  return Math.max(1, Math.ceil((filter.selectClauses ?? []).length / FIELDS_OF_VALUE));
}

/** Numbers by user. */
type Taken = Map<string, number>;

/** Shares among the users the monitored items, and the values in their queues. */
interface ItemShares {
  readonly items: Taken;
  readonly values: Taken;
  mayAdd(user: string): boolean;
  /** How many values more all long queues of a user may hold. */
  roomOf(user: string): number;
}

/** What an item takes, until it is deleted. */
interface Charge {
  readonly shares: ItemShares;
  readonly user: string;
  readonly values: number;
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
  readonly queueSize: number;
  readonly filter: unknown;
}
type Create = Creation["preCreateMonitoredItem"];
type Modify = (this: Queued, timestamps: unknown, parameters: MonitoringParameters) => unknown;

const spaces = new WeakMap<AddressSpace, ItemShares>();
const charges = new WeakMap<object, Charge>();
let isPatched = false;

/**
 * Bounds the monitored items of each user, and what their queues hold, over all its sessions: one user with
 * 50 sessions would take gigabytes, or leave no items for others. An item counts for the user who made it
 * until it is deleted, with a session or without.
 */
export function shareItems(space: AddressSpace, options: OpcUaOptions): void {
  spaces.set(space, createItemShares(options));
  if (isPatched) return;
  isPatched = true;
  lower<Creation>(Subscription.prototype, "getMonitoredItem");
  patch<Create>(Subscription.prototype, "preCreateMonitoredItem", (create) => {
    return function (this: Creation, space, timestamps, request) {
      const shares = sharesOf(space);
      const user = userOf(this.$session?.userIdentityToken);
      if (!shares.mayAdd(user)) {
        const createResult = new MonitoredItemCreateResult({
          statusCode: StatusCodes.BadTooManyMonitoredItems,
        });
        return { createResult, monitoredItemCreateRequest: request };
      }
      shorten(request.requestedParameters, shares.roomOf(user));
      const created = create.call(this, space, timestamps, request);
      const item = this.getMonitoredItem(created.createResult.monitoredItemId);
      if (item !== null) charge(item, { shares, user, values: longOf(item) });
      return created;
    };
  });
  patch<Modify>(MonitoredItem.prototype, "modify", (modify) => {
    return function (timestamps, parameters) {
      const before = takeBack(this);
      if (before === undefined) return modify.call(this, timestamps, parameters);
      const { shares, user } = before;
      shorten(parameters, shares.roomOf(user));
      const modified = modify.call(this, timestamps, parameters);
      charge(this, { shares, user, values: longOf(this) });
      return modified;
    };
  });
  patch(MonitoredItem.prototype, "dispose", (dispose: () => void) => {
    return function (this: MonitoredItem) {
      takeBack(this);
      dispose.call(this);
    };
  });
}

export function sharesOf(space: AddressSpace): ItemShares {
  const shares = spaces.get(space);
  if (shares === undefined) throw new Error("nothing shares the monitored items of this address space");
  return shares;
}

function createItemShares(options: OpcUaOptions): ItemShares {
  const total = options.limits.maxMonitoredItems;
  const ofItems = shareAmongUsers(options, { total, perUser: total, ...ownItems });
  const ofValues = shareAmongUsers(options, inLongQueues);
  const items: Taken = new Map();
  const values: Taken = new Map();
  return {
    items,
    values,
    mayAdd: (user) => ofItems.hasRoom(user, items),
    roomOf: (user) => ofValues.roomOf(user, values),
  };
}

/** Shortens a queue to the values for which there is room. */
function shorten(parameters: MonitoringParameters | null, room: number): void {
  if (parameters === null || parameters.queueSize <= SHORT_QUEUE) return;
  const most = Math.max(SHORT_QUEUE, Math.floor(room / valuesOf(parameters.filter)));
  parameters.queueSize = Math.min(parameters.queueSize, most);
}

/** What the queue of an item holds, if it is a long one. */
function longOf({ queueSize, filter }: Queued): number {
  return queueSize > SHORT_QUEUE ? queueSize * valuesOf(filter) : 0;
}

function charge(item: object, made: Charge): void {
  charges.set(item, made);
  add(made, 1);
}

function takeBack(item: object): Charge | undefined {
  const before = charges.get(item);
  charges.delete(item);
  if (before !== undefined) add(before, -1);
  return before;
}

function add({ shares: { items, values: queued }, user, values }: Charge, sign: 1 | -1): void {
  items.set(user, (items.get(user) ?? 0) + sign);
  queued.set(user, (queued.get(user) ?? 0) + sign * values);
}
