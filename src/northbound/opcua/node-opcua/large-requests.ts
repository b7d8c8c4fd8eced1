import {
  BrowseRequest,
  CallRequest,
  CreateMonitoredItemsRequest,
  HistoryReadRequest,
  type NodeId,
  type OPCUAServer,
  ReadRequest,
  RegisterNodesRequest,
  WriteRequest,
} from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import { type MissingRobots, robotName } from "./node-lookup.ts";

/** The handlers of node-opcua 2.182 for requests that may name thousands of nodes. */
const handlers = [
  "_on_ReadRequest",
  "_on_WriteRequest",
  "_on_BrowseRequest",
  "_on_CreateMonitoredItemsRequest",
  "_on_CallRequest",
  "_on_RegisterNodesRequest",
  "_on_HistoryReadRequest",
] as const;

/** A request has the event loop for so long, and for the robot that it began. */
const TURN_MS = 8;

/**
 * Builds the robots that a request asks for before node-opcua handles it, a turn at a time: a request for a
 * thousand of them would hold up everybody for seconds. For an initialised server that does not listen yet.
 */
export function buildBeforeRequests(server: OPCUAServer, robots: MissingRobots, clock: Clock): void {
  async function buildInTurns(names: ReadonlySet<string>): Promise<void> {
    let untilMs = clock.monotonicMs() + TURN_MS;
    for (const name of names) {
      if (clock.monotonicMs() >= untilMs) {
        await new Promise(setImmediate);
        untilMs = clock.monotonicMs() + TURN_MS;
      }
      robots.need(name);
    }
  }

  for (const name of handlers) {
    const handle: unknown = Reflect.get(server, name);
    if (typeof handle !== "function") throw new Error(`node-opcua has no ${name} any more`);
    Reflect.set(server, name, (message: { readonly request: unknown }, channel: unknown): unknown => {
      const missing = missingOf(message.request, robots);
      if (missing.size < 2) return handle.call(server, message, channel);
      return buildInTurns(missing).then(() => handle.call(server, message, channel));
    });
  }
}

/** The robots of the request whose nodes are missing. */
function missingOf(request: unknown, { missing }: MissingRobots): ReadonlySet<string> {
  const names = new Set<string>();
  if (missing.size === 0) return names;
  for (const nodeId of nodeIdsOf(request)) {
    const name = robotName(nodeId.value);
    if (name !== null && missing.has(name)) names.add(name);
  }
  return names;
}

function nodeIdsOf(request: unknown): readonly NodeId[] {
  if (request instanceof ReadRequest || request instanceof HistoryReadRequest) {
    return (request.nodesToRead ?? []).map(({ nodeId }) => nodeId);
  }
  if (request instanceof WriteRequest) return (request.nodesToWrite ?? []).map(({ nodeId }) => nodeId);
  if (request instanceof BrowseRequest) return (request.nodesToBrowse ?? []).map(({ nodeId }) => nodeId);
  if (request instanceof CreateMonitoredItemsRequest) {
    return (request.itemsToCreate ?? []).map(({ itemToMonitor }) => itemToMonitor.nodeId);
  }
  if (request instanceof CallRequest) return (request.methodsToCall ?? []).map(({ objectId }) => objectId);
  return request instanceof RegisterNodesRequest ? (request.nodesToRegister ?? []) : [];
}
