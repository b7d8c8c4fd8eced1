import { type AddressSpace, type BaseNode, EventFilter, MonitoredItem } from "node-opcua";
import type { OpcUaOptions } from "../options.ts";
import { operandsOf } from "./event-filters.ts";
import { cached, patch } from "./lower.ts";
import { shareAmongUsers } from "./user-shares.ts";

/** Of all items at one object. An event is evaluated for each at once, which takes 0.4 µs a field. */
const atOneObject = { total: 20_000, perUser: 10_000, ofCommander: 1_000, ofReader: 300 };
/** Of all items. A field takes 400 bytes of memory. */
const inAll = { total: 150_000, perUser: 100_000, ofCommander: 5_000, ofReader: 1_000 };
/** An item costs as much as so many fields, whatever it selects. */
const ITEM_COST = 10;
/** So many bytes of a filter cost as much as a field: it may have long literals. */
const BYTES_OF_FIELD = 512;

/** The costs of some items, by user. */
type Taken = Map<string, number>;

/** The cost of an item, until it is deleted. */
export interface Charge {
  readonly user: string;
  readonly cost: number;
  /** Where it counts. */
  readonly taken: readonly Taken[];
}

/** Shares among the users what the items of events cost, in fields. */
interface EventShares {
  /** Null: there is no room. */
  chargeOf(user: string, node: BaseNode, filter: unknown): Charge | null;
}

const spaces = new WeakMap<AddressSpace, EventShares>();
const charges = new WeakMap<object, Charge>();
let isPatched = false;

/** An item counts for the user who made it until it is deleted, with a session or without. */
export function shareEvents(space: AddressSpace, options: OpcUaOptions): void {
  spaces.set(space, createEventShares(options));
  if (isPatched) return;
  isPatched = true;
  patch(MonitoredItem.prototype, "dispose", (dispose: () => void) => {
    return function (this: MonitoredItem) {
      takeBack(this);
      dispose.call(this);
    };
  });
}

export function sharesOf(space: AddressSpace): EventShares {
  const shares = spaces.get(space);
  if (shares === undefined) throw new Error("nothing shares the events of this address space");
  return shares;
}

/** The item costs this from now on. */
export function charge(item: object, cost: Charge | null): void {
  takeBack(item);
  if (cost === null) return;
  charges.set(item, cost);
  add(cost, cost.cost);
}

/** The item costs nothing any more. @returns what it has cost */
export function takeBack(item: object): Charge | null {
  const before = charges.get(item) ?? null;
  charges.delete(item);
  if (before !== null) add(before, -before.cost);
  return before;
}

function add({ user, taken }: Charge, cost: number): void {
  for (const each of taken) each.set(user, (each.get(user) ?? 0) + cost);
}

function createEventShares(options: OpcUaOptions): EventShares {
  const ofObject = shareAmongUsers(options, atOneObject);
  const ofAll = shareAmongUsers(options, inAll);
  const all: Taken = new Map();
  const objects = new WeakMap<BaseNode, Taken>();
  return {
    chargeOf(user, node, filter) {
      const own = cached(objects, node, () => new Map());
      const cost = costOf(filter);
      const hasRoom = ofObject.hasRoom(user, own, cost) && ofAll.hasRoom(user, all, cost);
      return hasRoom ? { user, cost, taken: [own, all] } : null;
    },
  };
}

/** What an item with this filter costs, in fields: those that it selects or compares, and its size. */
function costOf(filter: unknown): number {
  if (!(filter instanceof EventFilter)) return ITEM_COST;
  const fields = (filter.selectClauses ?? []).length + operandsOf(filter.whereClause);
  return ITEM_COST + fields + Math.floor(filter.binaryStoreSize() / BYTES_OF_FIELD);
}
