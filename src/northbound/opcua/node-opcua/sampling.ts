import {
  AttributeIds,
  CreateMonitoredItemsRequest,
  CreateSessionRequest,
  ModifyMonitoredItemsRequest,
  type OPCUAServer,
} from "node-opcua";
import { refuseUnservable } from "./monitoring-filters.ts";
import { shortenQueues } from "./queue-budget.ts";

/** The smallest queue of events. */
const LEAST_EVENTS = 10;
/** How long a session outlives a client that crashed, at most. */
const LONGEST_SESSION_TIMEOUT_MS = 120_000;

/**
 * Revises the habitual requests of clients, before the server handles them; the answer contains the result.
 *
 * - Our variables report on change: a sampling interval of 100 ms would cost 10 µs a sample, changed or not,
 *   which is a core for 10,000 items. It is revised to 0.
 * - A session of a client that crashed would be kept for up to 50 minutes.
 * - A filter that cannot be served is refused.
 * - A queue of events has room for some (OPC UA part 4, 7.21: with 0 and 1 the server chooses).
 * - The queues of a session have a common bound.
 */
export function reviseRequests(server: OPCUAServer, namespaceIndex: number): void {
  server.on("request", (request) => {
    if (request instanceof CreateSessionRequest) {
      const { requestedSessionTimeout } = request;
      request.requestedSessionTimeout = Math.min(requestedSessionTimeout, LONGEST_SESSION_TIMEOUT_MS);
    } else if (request instanceof CreateMonitoredItemsRequest) {
      reviseCreate(server, request, namespaceIndex);
    } else if (request instanceof ModifyMonitoredItemsRequest) {
      reviseModify(server, request);
    }
  });
}

function reviseCreate(
  server: OPCUAServer,
  { itemsToCreate, subscriptionId }: CreateMonitoredItemsRequest,
  namespaceIndex: number,
): void {
  const items = itemsToCreate ?? [];
  shortenQueues(
    server,
    subscriptionId,
    items.map(({ requestedParameters }) => requestedParameters),
  );
  for (const item of items) {
    refuseUnservable(item.requestedParameters);
    const { nodeId, attributeId } = item.itemToMonitor;
    if (nodeId.namespace === namespaceIndex && attributeId === AttributeIds.Value) {
      item.requestedParameters.samplingInterval = 0;
    } else if (attributeId === AttributeIds.EventNotifier) {
      const { requestedParameters } = item;
      requestedParameters.queueSize = Math.max(requestedParameters.queueSize, LEAST_EVENTS);
    }
  }
}

function reviseModify(server: OPCUAServer, request: ModifyMonitoredItemsRequest): void {
  const subscription = server.engine.findSubscription(request.subscriptionId);
  const items = request.itemsToModify ?? [];
  shortenQueues(
    server,
    request.subscriptionId,
    items.map(({ requestedParameters }) => requestedParameters),
  );
  for (const item of items) {
    refuseUnservable(item.requestedParameters);
    const monitored = subscription?.getMonitoredItem(item.monitoredItemId);
    if (monitored?.isExceptionBased === true) item.requestedParameters.samplingInterval = 0;
  }
}
