import {
  type BaseNode,
  BrowseRequest,
  CallRequest,
  CreateMonitoredItemsRequest,
  HistoryReadRequest,
  type INamespace,
  type NodeId,
  type OPCUAServer,
  TranslateBrowsePathsToNodeIdsRequest,
} from "node-opcua";
import { wrap } from "./lower.ts";

const ROBOTS = "Robots.";
const STATIONS = "Stations.";

/** Robots with missing nodes, by the step of their NodeIds that names them. */
export interface MissingRobots {
  readonly missing: ReadonlyMap<string, unknown>;
  /** Builds the nodes of that robot now. */
  need(name: string): void;
}

type Find = (nodeId: NodeId) => BaseNode | null;

/** Stations that a reload has removed, by the step of their NodeIds that names them. */
export type HiddenStations = ReadonlySet<string>;

/**
 * Builds the nodes of a robot when somebody looks for one of them. Every service of node-opcua 2.182 finds
 * the nodes of a namespace by its `findNode2`: a read like a browse, a monitored item or a method. So a
 * hidden station has no nodes for anybody.
 */
export function findOnDemand(namespace: INamespace, robots: MissingRobots, hidden: HiddenStations): void {
  wrap<Find>(namespace, "findNode2", (find) => (nodeId) => {
    if (robots.missing.size > 0) {
      const name = robotName(nodeId.value);
      if (name !== null && robots.missing.has(name)) robots.need(name);
    }
    if (hidden.size > 0) {
      const name = nameAfter(STATIONS, nodeId.value);
      if (name !== null && hidden.has(name)) return null;
    }
    return find(nodeId);
  });
}

/** The robot to which a node belongs; null: none. */
export function robotName(path: NodeId["value"]): string | null {
  return nameAfter(ROBOTS, path);
}

function nameAfter(start: string, path: NodeId["value"]): string | null {
  if (typeof path !== "string" || !path.startsWith(start)) return null;
  const end = path.indexOf(".", start.length);
  return end < 0 ? path.slice(start.length) : path.slice(start.length, end);
}

type Resolve = (nodeId: NodeId) => NodeId;

/**
 * Makes every service accept the handles of RegisterNodes for their nodes (OPC UA part 4, 5.9.5): node-opcua
 * 2.182 knows them only for reads and writes. For an initialised server that does not listen yet, before
 * other patches handle its requests.
 */
export function takeRegisteredNodes(server: OPCUAServer): void {
  server.on("request", (request) => {
    const session = server.engine.getSession(request.requestHeader.authenticationToken);
    if (session !== null) replaceHandles(request, (nodeId) => session.resolveRegisteredNode(nodeId));
  });
}

function replaceHandles(request: unknown, resolve: Resolve): void {
  if (request instanceof CreateMonitoredItemsRequest) {
    for (const { itemToMonitor } of request.itemsToCreate ?? []) {
      itemToMonitor.nodeId = resolve(itemToMonitor.nodeId);
    }
  } else if (request instanceof HistoryReadRequest) {
    for (const node of request.nodesToRead ?? []) node.nodeId = resolve(node.nodeId);
  } else if (request instanceof BrowseRequest) {
    for (const node of request.nodesToBrowse ?? []) node.nodeId = resolve(node.nodeId);
  } else if (request instanceof TranslateBrowsePathsToNodeIdsRequest) {
    for (const path of request.browsePaths ?? []) path.startingNode = resolve(path.startingNode);
  } else if (request instanceof CallRequest) {
    for (const call of request.methodsToCall ?? []) {
      call.objectId = resolve(call.objectId);
      call.methodId = resolve(call.methodId);
    }
  }
}
