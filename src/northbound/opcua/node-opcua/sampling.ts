import {
  AttributeIds,
  CreateMonitoredItemsRequest,
  CreateSessionRequest,
  DataChangeFilter,
  DeadbandType,
  EventFilter,
  ModifyMonitoredItemsRequest,
  type MonitoringParameters,
  type OPCUAServer,
} from "node-opcua";
import { ledgerOf } from "./item-ledger.ts";
import { SHORT_QUEUE, valuesOf } from "./item-shares.ts";
import { userOf } from "./session-bounds.ts";

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

/**
 * Shortens the long queues that a request asks for, all of them alike, to what their user has left
 * (item-shares.ts); the answer contains the result.
 */
function shortenQueues(
  server: OPCUAServer,
  subscriptionId: number,
  asked: ReadonlyArray<MonitoringParameters | null>,
): void {
  const long = asked.filter((parameters) => parameters !== null && parameters.queueSize > SHORT_QUEUE);
  if (long.length === 0) return;
  const session = server.engine.findSubscription(subscriptionId)?.$session;
  const user = userOf(session?.userIdentityToken);
  const share = Math.max(SHORT_QUEUE, Math.floor(roomOf(server, user) / long.length));
  for (const parameters of long) {
    if (parameters === null) continue;
    const most = Math.max(SHORT_QUEUE, Math.floor(share / valuesOf(parameters.filter)));
    parameters.queueSize = Math.min(parameters.queueSize, most);
  }
}

/** How many values more all long queues of a user may hold. */
function roomOf({ engine: { addressSpace } }: OPCUAServer, user: string): number {
  return addressSpace === null ? 0 : ledgerOf(addressSpace).values.roomOf(user);
}

/**
 * Replaces a filter that node-opcua 2.182 accepts and cannot serve by one that it refuses. A deadband that is
 * no number would hide every change.
 */
function refuseUnservable(parameters: MonitoringParameters): void {
  const { filter } = parameters;
  if (filter instanceof DataChangeFilter) {
    const { deadbandType, deadbandValue } = filter;
    if (deadbandType === DeadbandType.None || deadbandValue >= 0) return;
    filter.deadbandType = DeadbandType.Percent;
    filter.deadbandValue = -1;
  } else if (filter !== null && !(filter instanceof EventFilter)) {
    // An aggregate, or no filter at all. The client would take each value for one that has passed it.
    parameters.filter = new EventFilter({});
  }
}
