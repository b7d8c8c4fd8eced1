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

/** The value of a variable for the user of a session; it has the type of the value that all others see. */
export type OwnValue = (context: ISessionContext) => number | Int32Array;

const ownValues = new WeakMap<object, OwnValue>();
type Record = (this: MonitoredItem, value: DataValue, isForced: boolean, range?: NumericRange) => boolean;
let isPatched = false;

/**
 * Lets a variable have another value for each user, for those who read and those who listen. A listener is
 * given the value of the session whose subscription it is. `Tag.renew` tells that users see another value.
 */
export function showOwnValues(variable: UAVariable, ownValue: OwnValue): void {
  patchMonitoredItems();
  ownValues.set(variable, ownValue);
}

export function hasOwnValues(variable: object): boolean {
  return ownValues.has(variable);
}

/** What a session sees in place of the value that all share, or of the part of it that was asked for. */
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

/** A session has another user now: what its subscriptions have shown was the other's. */
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

/** Every value that an item records, whether it was read or a change, passes `recordValue`. */
function patchMonitoredItems(): void {
  if (isPatched) return;
  const original: unknown = Reflect.get(MonitoredItem.prototype, "recordValue");
  if (typeof original !== "function") throw new Error("node-opcua has no MonitoredItem.recordValue any more");
  const patched: Record = function (value, isForced, range) {
    const context = this.$subscription?.$session?.sessionContext;
    const isValue = this.itemToMonitor?.attributeId === AttributeIds.Value;
    const { node } = this;
    const isOwn = isValue && context !== undefined && node !== null;
    const seen = isOwn ? asSeenBy(node, value, context) : value;
    return (original as Record).call(this, seen, isForced, range);
  };
  Reflect.set(MonitoredItem.prototype, "recordValue", patched);
  isPatched = true;
}
