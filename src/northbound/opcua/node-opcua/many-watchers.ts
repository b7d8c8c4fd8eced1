import { MonitoredItem } from "node-opcua";

/** A node, which is an event emitter too. */
interface Node {
  setMaxListeners(most: number): void;
}
type SetNode = (this: MonitoredItem, node: Node) => void;

/** The original method; undefined: node-opcua is not patched yet. */
let setNode: SetNode | undefined;

/**
 * Allows any number of monitored items on one node; `maxMonitoredItems` bounds them. Each item listens to its
 * node. With the 11th item of an object, or the 5,001st of a variable, Node.js describes the node for a
 * warning, and node-opcua 2.182 throws in that.
 */
export function allowManyWatchers(): void {
  if (setNode !== undefined) return;
  const original: unknown = Reflect.get(MonitoredItem.prototype, "setNode");
  if (typeof original !== "function") throw new Error("node-opcua has no MonitoredItem.setNode any more");
  setNode = original as SetNode;
  const patched: SetNode = function (node) {
    node.setMaxListeners(0);
    (original as SetNode).call(this, node);
  };
  Reflect.set(MonitoredItem.prototype, "setNode", patched);
}
