import {
  AttributeIds,
  type CallMethodResultOptions,
  type ISessionContext,
  MonitoringMode,
  type OPCUAServer,
  type StatusCode,
  StatusCodes,
  type Subscription,
  type UAObject,
  type Variant,
} from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import { describeError } from "../../../platform/error-text.ts";
import type { Log } from "../../../platform/log.ts";
import { deliverTo, type EventItem, notifyItem } from "../node-opcua/event-delivery.ts";
import { notifiersOf } from "../node-opcua/raise-event.ts";
import type { TimeSlices } from "../node-opcua/time-slices.ts";
import { type ConditionEvents, MOST_RAISED_A_TURN } from "./condition-events.ts";

/** An item of a subscription, with what it monitors. */
type Item = EventItem & {
  readonly node: UAObject | null;
  readonly monitoringMode: MonitoringMode;
};

/** How long a refresh waits for a client that fetches nothing. */
const LONGEST_WAIT_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/**
 * Answers ConditionRefresh and ConditionRefresh2 (OPC UA part 9, 5.5.7 and 5.5.8): sends the retained
 * conditions to one subscription alone, between RefreshStart and RefreshEnd. It waits while the queue of an
 * item is full, so a client with a short queue gets them all. It waits no more for a client that has fetched
 * nothing for so long: that one loses events, as it loses others.
 */
export function answerRefresh(
  server: OPCUAServer,
  events: Pick<ConditionEvents, "retained" | "eventOf">,
  slices: Pick<TimeSlices, "begin">,
  clock: Clock,
  log: Log,
): void {
  const type = server.engine.addressSpace?.findEventType("ConditionType") ?? null;
  const methods = [type?.getMethodByName("ConditionRefresh"), type?.getMethodByName("ConditionRefresh2")];
  const refreshed = new WeakSet<Subscription>();

  async function send(items: readonly Item[]): Promise<void> {
    const pause = slices.begin(MOST_RAISED_A_TURN);
    const wait = createWait(clock);
    for (const key of events.retained()) {
      for (const item of items) {
        await pause();
        await wait(item);
        // The client may have deleted the item meanwhile, and the alarm may have ended.
        if (!isMonitored(item)) continue;
        const found = events.eventOf(key);
        if (found === null) break;
        const isAbove = item.node !== null && notifiersOf(found.source).includes(item.node);
        if (isAbove) deliverTo(item, found.event);
      }
    }
    for (const item of items) {
      await wait(item);
      notifyItem(item, "RefreshEndEventType", "the conditions are complete");
    }
  }

  function begin(subscription: Subscription, items: readonly Item[]): StatusCode {
    if (refreshed.has(subscription)) return StatusCodes.BadRefreshInProgress;
    refreshed.add(subscription);
    for (const item of items) notifyItem(item, "RefreshStartEventType", "the conditions follow");
    send(items)
      .catch((error) =>
        log.error({ cause: describeError(error) }, "a refresh of OPC UA conditions has failed"),
      )
      .finally(() => refreshed.delete(subscription));
    return StatusCodes.Good;
  }

  async function refresh(values: Variant[], context: ISessionContext): Promise<CallMethodResultOptions> {
    const [subscriptionId, itemId] = values.map(({ value }) => Number(value));
    // Undefined, in spite of its type, once a subscription has outlived its session.
    const subscription = server.engine.findSubscription(subscriptionId ?? 0) as
      | Subscription
      | null
      | undefined;
    if (subscription == null) return { statusCode: StatusCodes.BadSubscriptionIdInvalid };
    if (subscription.$session?.sessionContext !== context)
      return { statusCode: StatusCodes.BadUserAccessDenied };
    const items = itemsOf(subscription);
    if (itemId === undefined) return { statusCode: begin(subscription, items.filter(isMonitored)) };
    const item = subscription.getMonitoredItem(itemId) as unknown as Item | null;
    if (item === null) return { statusCode: StatusCodes.BadMonitoredItemIdInvalid };
    return { statusCode: begin(subscription, [item].filter(isMonitored)) };
  }

  for (const method of methods) {
    if (!method) throw new Error("node-opcua has no ConditionRefresh any more");
    method.bindMethod(refresh);
  }
}

function itemsOf(subscription: Subscription): readonly Item[] {
  const { serverHandles } = subscription.getMonitoredItems();
  return Array.from(serverHandles).flatMap(
    (id) => (subscription.getMonitoredItem(id) as unknown as Item | null) ?? [],
  );
}

/** Whether it monitors events now. */
function isMonitored({ itemToMonitor, monitoringMode, node }: Item): boolean {
  const isOfEvents = itemToMonitor?.attributeId === AttributeIds.EventNotifier;
  return isOfEvents && node !== null && monitoringMode !== MonitoringMode.Disabled;
}

/** Waits until the client has fetched what fills the queue of an item. */
function createWait(clock: Clock): (item: Item) => Promise<void> {
  let isSilent = false;
  return async (item) => {
    const untilMs = clock.monotonicMs() + LONGEST_WAIT_MS;
    while (!isSilent && isFull(item)) {
      await new Promise<void>((resolve) => void clock.after(LOOK_AGAIN_MS, resolve));
      isSilent = isFull(item) && clock.monotonicMs() >= untilMs;
    }
  };
}

/** Whether the client has to fetch something before the item can take more. */
function isFull({ node, monitoringMode, queue, queueSize }: Item): boolean {
  return node !== null && monitoringMode === MonitoringMode.Reporting && queue.length >= queueSize;
}
