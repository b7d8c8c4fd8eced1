import {
  AttributeIds,
  type DataValue,
  extractRange,
  type ISessionContext,
  MonitoredItem,
  type NumericRange,
  type ServerSession,
  type UAVariable,
  Variant,
} from "node-opcua";
import { patch } from "./lower.ts";

/** The value of a variable for the user of a session; it has the type of the common value. */
export type OwnValue = (context: ISessionContext) => number | Int32Array;

const ownValues = new WeakMap<object, OwnValue>();
type Record = (this: MonitoredItem, value: DataValue, isForced: boolean, range?: NumericRange) => boolean;
let isPatched = false;

/**
 * Gives a variable another value for each user, for reads and for monitored items. An item gets the value of
 * its session's user. `Tag.renew` reports that users see another value.
 */
export function showOwnValues(variable: UAVariable, ownValue: OwnValue): void {
  patchMonitoredItems();
  ownValues.set(variable, ownValue);
}

export function hasOwnValues(variable: object): boolean {
  return ownValues.has(variable);
}

/** The value for a session, in place of the common value or of the requested part of it. */
export function asSeenBy(
  variable: object,
  value: DataValue,
  context: ISessionContext,
  range?: NumericRange | null,
): DataValue {
  const ownValue = ownValues.get(variable);
  if (ownValue === undefined || !value.statusCode.isGood()) return value;
  const { dataType, arrayType } = value.value;
  const own = value.clone();
  own.value = new Variant({ dataType, arrayType, value: ownValue(context) });
  return range == null ? own : extractRange(own, range);
}

/** A session has another user now: the values of its subscriptions were those of the other user. */
export function renewOwnValues(session: ServerSession): void {
  for (const subscription of session.publishEngine.subscriptions) {
    for (const handle of subscription.getMonitoredItems().serverHandles) {
      const item = subscription.getMonitoredItem(handle);
      const node = item?.node;
      if (item == null || node == null || !ownValues.has(node)) continue;
      item.recordValue((node as UAVariable).readValue(session.sessionContext), false);
    }
  }
}

/** Every value that an item records, from a read or a change, passes `recordValue`. */
function patchMonitoredItems(): void {
  if (isPatched) return;
  patch<Record>(MonitoredItem.prototype, "recordValue", (record) => {
    return function (value, isForced, range) {
      const context = this.$subscription?.$session?.sessionContext;
      const isValue = this.itemToMonitor?.attributeId === AttributeIds.Value;
      const { node } = this;
      const isOwn = isValue && context !== undefined && node !== null;
      const seen = isOwn ? asSeenBy(node, value, context) : value;
      return record.call(this, seen, isForced, range);
    };
  });
  isPatched = true;
}
