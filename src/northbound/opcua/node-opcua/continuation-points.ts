import { ContinuationPointManager } from "node-opcua";

/** A session may leave so many unfinished browses; ServerCapabilities says so. */
export const MOST_CONTINUATION_POINTS = 50;

/** What lies under the interface of node-opcua 2.182: one for each session. */
interface Manager {
  readonly _map: Map<string, unknown>;
}
type Register = (this: Manager, ...values: unknown[]) => { readonly continuationPoint?: Buffer };

let isPatched = false;

/**
 * Bounds what browses that no client goes on with keep: 18 kB each for a robot. A new one takes the place of
 * the session's oldest. One answer has as many as there may be, and BadNoContinuationPoints for the rest (OPC
 * UA part 4, 7.9). node-opcua has a bound of its own: a session that has reached it may browse nothing more.
 */
export function boundContinuationPoints(): void {
  if (isPatched) return;
  const { prototype } = ContinuationPointManager;
  const register: unknown = Reflect.get(prototype, "registerReferences");
  if (typeof register !== "function" || typeof Reflect.get(prototype, "hasReachedMaximum") !== "function") {
    throw new Error("node-opcua keeps continuation points elsewhere now");
  }
  isPatched = true;
  /** Made for the answer that is being put together, which takes no turn. */
  const made = new WeakMap<Manager, number>();

  Reflect.set(prototype, "hasReachedMaximum", function hasReachedMaximum(this: Manager) {
    return (made.get(this) ?? 0) >= MOST_CONTINUATION_POINTS;
  });
  const patched: Register = function (...values) {
    const result = (register as Register).apply(this, values);
    if (result.continuationPoint === undefined) return result;
    const before = made.get(this) ?? 0;
    made.set(this, before + 1);
    if (before === 0) queueMicrotask(() => made.delete(this));
    for (const oldest of this._map.keys()) {
      if (this._map.size <= MOST_CONTINUATION_POINTS) break;
      this._map.delete(oldest);
    }
    return result;
  };
  Reflect.set(prototype, "registerReferences", patched);
}
