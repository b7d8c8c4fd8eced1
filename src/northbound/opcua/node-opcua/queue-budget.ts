import type { MonitoringParameters, OPCUAServer } from "node-opcua";

/** The limit of values in all queues of one session. */
const MOST_QUEUED = 100_000;
/** A queue as short as this is always granted: maxMonitoredItems bounds their number. */
const SHORT_QUEUE = 10;

/**
 * Shortens the queues that a request asks for, so that those of its session have a common bound; the answer
 * contains the result. node-opcua 2.182 bounds each queue by itself, at 5,000: a client of 10,000 items that
 * never publishes would take gigabytes before its subscription expires.
 */
export function shortenQueues(
  server: OPCUAServer,
  subscriptionId: number,
  asked: ReadonlyArray<MonitoringParameters | null>,
): void {
  const long = asked.filter((parameters) => parameters !== null && parameters.queueSize > SHORT_QUEUE);
  if (long.length === 0) return;
  const free = MOST_QUEUED - queuedBy(server, subscriptionId);
  const share = Math.max(SHORT_QUEUE, Math.floor(free / long.length));
  for (const parameters of long) {
    if (parameters !== null) parameters.queueSize = Math.min(parameters.queueSize, share);
  }
}

/** How much the queues of the subscription's session may hold now. */
function queuedBy(server: OPCUAServer, subscriptionId: number): number {
  const session = server.engine.findSubscription(subscriptionId)?.$session;
  let sum = 0;
  for (const subscription of session?.publishEngine.subscriptions ?? []) {
    for (const handle of subscription.getMonitoredItems().serverHandles)
      sum += subscription.getMonitoredItem(handle)?.queueSize ?? 0;
  }
  return sum;
}
