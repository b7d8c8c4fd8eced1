import type { OPCUAServer } from "node-opcua";
import { sessionsOf } from "./session-bounds.ts";

/** The counts of a server on which its memory depends. */
export interface ServerLoad {
  readonly monitoredItems: number;
  /** Of all namespaces. */
  readonly nodes: number;
}

/** Counts without walking over nodes or items, because it is called often. */
export function serverLoad(server: OPCUAServer): ServerLoad {
  const namespaces = server.engine.addressSpace?.getNamespaceArray() ?? [];
  const subscriptions = sessionsOf(server).flatMap(({ publishEngine }) => publishEngine.subscriptions);
  return {
    monitoredItems: subscriptions.reduce((sum, { monitoredItemCount }) => sum + monitoredItemCount, 0),
    nodes: namespaces.reduce((sum, namespace) => sum + nodesOf(namespace), 0),
  };
}

/** node-opcua 2.182 has only an iterator. */
function nodesOf(namespace: object): number {
  const index: unknown = Reflect.get(namespace, "_nodeid_index");
  if (!(index instanceof Map)) throw new Error("node-opcua keeps nodes elsewhere now");
  return index.size;
}
