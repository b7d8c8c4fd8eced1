import type { OPCUAServer } from "node-opcua";
import { sessionsOf } from "./session-bounds.ts";

/** What of a server takes memory. */
export interface ServerLoad {
  readonly monitoredItems: number;
  /** Of all namespaces. */
  readonly nodes: number;
}

/** Counts without walking over nodes or items: it is asked often. */
export function serverLoad(server: OPCUAServer): ServerLoad {
  const namespaces = server.engine.addressSpace?.getNamespaceArray() ?? [];
  const subscriptions = sessionsOf(server).flatMap(({ publishEngine }) => publishEngine.subscriptions);
  return {
    monitoredItems: subscriptions.reduce((sum, { monitoredItemCount }) => sum + monitoredItemCount, 0),
    nodes: namespaces.reduce((sum, namespace) => sum + nodesOf(namespace), 0),
  };
}

/** node-opcua 2.182 gives an iterator alone. */
function nodesOf(namespace: object): number {
  const index: unknown = Reflect.get(namespace, "_nodeid_index");
  if (!(index instanceof Map)) throw new Error("node-opcua keeps nodes elsewhere now");
  return index.size;
}
