import {
  BrowseRequest,
  CallRequest,
  CreateMonitoredItemsRequest,
  HistoryReadRequest,
  type NodeId,
  type OPCUAServer,
  TranslateBrowsePathsToNodeIdsRequest,
} from "node-opcua";

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
