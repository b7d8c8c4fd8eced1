import { type AddressSpace, type BaseNode, MonitoredItem } from "node-opcua";
import type { OpcUaOptions } from "../options.ts";
import { cached, patch } from "./lower.ts";
import { shareAmongUsers, type UserShares } from "./user-shares.ts";

/** The items that are kept for each user. */
const ownItems = { ofCommander: 5_000, ofReader: 1_000 };
/** What all longer queues hold, in values. A value takes 400 bytes of memory. */
const inLongQueues = { total: 300_000, perUser: 100_000, ofCommander: 20_000, ofReader: 5_000 };
/** Of all items at one object. An event is evaluated for each at once, which takes 0.4 µs a field. */
const atOneObject = { total: 20_000, perUser: 10_000, ofCommander: 1_000, ofReader: 300 };
/** Of all items. A field takes 400 bytes of memory. */
const inAll = { total: 150_000, perUser: 100_000, ofCommander: 5_000, ofReader: 1_000 };

/** A resource, and what each user has taken of it. */
interface Pool {
  /** How much more a user may take. */
  roomOf(user: string): number;
  add(user: string, amount: number): void;
}

/** What the monitored items of an address space take. */
export interface ItemLedger {
  readonly items: Pool;
  /** What the long queues hold, in values. */
  readonly values: Pool;
  /** What the filters of events cost, in fields. */
  readonly fields: Pool;
  /** Those of the items at one object. */
  fieldsAt(object: BaseNode): Pool;
}

/** What an item takes, until it is deleted. */
export interface Charge {
  readonly user: string;
  readonly amounts: ReadonlyArray<readonly [Pool, number]>;
}

const ledgers = new WeakMap<AddressSpace, ItemLedger>();
/** By kind of charge. An item of events has both. */
const charges = { queue: new WeakMap<object, Charge>(), filter: new WeakMap<object, Charge>() };
type ChargeKind = keyof typeof charges;
let isPatched = false;

/** An item counts for the user who made it until it is deleted, with a session or without. */
export function openItemLedger(space: AddressSpace, options: OpcUaOptions): void {
  const total = options.limits.maxMonitoredItems;
  const ofObject = shareAmongUsers(options, atOneObject);
  const objects = new WeakMap<BaseNode, Pool>();
  ledgers.set(space, {
    items: openPool(shareAmongUsers(options, { total, perUser: total, ...ownItems })),
    values: openPool(shareAmongUsers(options, inLongQueues)),
    fields: openPool(shareAmongUsers(options, inAll)),
    fieldsAt: (object) => cached(objects, object, () => openPool(ofObject)),
  });
  if (isPatched) return;
  isPatched = true;
  patch(MonitoredItem.prototype, "dispose", (dispose: () => void) => {
    return function (this: MonitoredItem) {
      takeBack(this, "queue");
      takeBack(this, "filter");
      dispose.call(this);
    };
  });
}

export function ledgerOf(space: AddressSpace): ItemLedger {
  const ledger = ledgers.get(space);
  if (ledger === undefined) throw new Error("nothing counts the monitored items of this address space");
  return ledger;
}

/** The item takes this from now on. */
export function charge(item: object, kind: ChargeKind, made: Charge | null): void {
  takeBack(item, kind);
  if (made === null) return;
  charges[kind].set(item, made);
  for (const [pool, amount] of made.amounts) pool.add(made.user, amount);
}

/** The item takes nothing any more. @returns what it has taken */
export function takeBack(item: object, kind: ChargeKind): Charge | null {
  const before = charges[kind].get(item) ?? null;
  charges[kind].delete(item);
  if (before !== null) for (const [pool, amount] of before.amounts) pool.add(before.user, -amount);
  return before;
}

function openPool(shares: UserShares): Pool {
  const taken = new Map<string, number>();
  return {
    roomOf: (user) => shares.roomOf(user, taken),
    add: (user, amount) => void taken.set(user, (taken.get(user) ?? 0) + amount),
  };
}
