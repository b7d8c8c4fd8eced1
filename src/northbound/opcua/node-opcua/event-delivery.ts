import { MonitoredItem } from "node-opcua";

type Deliver = (this: MonitoredItem, event: unknown) => void;

/** The original, while node-opcua has not been patched. */
let deliver: Deliver | undefined;

/**
 * Keeps what a client's filter does wrong from whoever raises an event, and from those that listen after it.
 * node-opcua 2.182 throws where a filter compares with a ByteString that is null. Such a filter lets no event
 * through.
 */
export function containEventFilters(): void {
  if (deliver !== undefined) return;
  const original: unknown = Reflect.get(MonitoredItem.prototype, "_on_opcua_event");
  if (typeof original !== "function") throw new Error("node-opcua delivers events elsewhere now");
  deliver = original as Deliver;
  const patched: Deliver = function (event) {
    try {
      (original as Deliver).call(this, event);
    } catch {
      // Only this item's client could mend it, and it is told no more of a filter once it is accepted.
    }
  };
  Reflect.set(MonitoredItem.prototype, "_on_opcua_event", patched);
}
