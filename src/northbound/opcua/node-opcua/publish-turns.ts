import { EventFieldList, Subscription } from "node-opcua";
import { lower } from "./lower.ts";

/** Fields of events that the publish responses of one turn of the event loop share; a value counts as one. */
export const MOST_FIELDS_A_TURN = 4_000;

/** Parts of node-opcua's subscription below its interface. */
interface Publisher {
  readonly publishingEnabled: boolean;
  readonly hasPendingNotifications: boolean;
  readonly hasUncollectedMonitoredItemNotifications: boolean;
  maxNotificationsPerPublish: number;
  readonly _pending_notifications: { values(): Iterable<{ readonly notification: unknown }> };
  process_subscription(): void;
  _flushRemainingNotifications(): void;
  _popNotificationToSend(): unknown;
}

let isPatched = false;
let sentInTurn = 0;

/**
 * Bounds what publish responses take of a turn of the event loop. node-opcua 2.182 puts up to 1,000 events
 * into one response, however many fields each has, and answers all waiting requests of a session at once. A
 * response with fewer has MoreNotifications, and the next one follows in the next turn.
 */
export function publishInTurns(): void {
  if (isPatched) return;
  const own = lower<Publisher>(Subscription.prototype, "process_subscription");
  lower<Publisher>(own, "_flushRemainingNotifications");
  const { process_subscription: publish, _popNotificationToSend: pop } = lower<Publisher>(
    own,
    "_popNotificationToSend",
  );
  isPatched = true;
  own.process_subscription = function () {
    const isLater = sentInTurn >= MOST_FIELDS_A_TURN && this.publishingEnabled && hasNews(this);
    if (isLater) setImmediate(() => this._flushRemainingNotifications());
    else publish.call(this);
  };
  own._popNotificationToSend = function () {
    const granted = this.maxNotificationsPerPublish;
    this.maxNotificationsPerPublish = take(this._pending_notifications.values(), granted);
    try {
      return pop.call(this);
    } finally {
      this.maxNotificationsPerPublish = granted;
    }
  };
}

function hasNews(subscription: Publisher): boolean {
  return subscription.hasPendingNotifications || subscription.hasUncollectedMonitoredItemNotifications;
}

/** How many of the notifications one response has: at least one, and at most `most`. */
function take(notifications: Iterable<{ readonly notification: unknown }>, most: number): number {
  let [count, fields] = [0, 0];
  for (const { notification } of notifications) {
    const own = notification instanceof EventFieldList ? (notification.eventFields?.length ?? 0) : 1;
    if (count === most || (count > 0 && fields + own > MOST_FIELDS_A_TURN)) break;
    count += 1;
    fields += own;
  }
  if (sentInTurn === 0) setImmediate(() => (sentInTurn = 0));
  sentInTurn += fields;
  return Math.max(1, count);
}
