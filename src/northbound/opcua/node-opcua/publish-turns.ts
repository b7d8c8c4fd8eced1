import { EventFieldList, Subscription } from "node-opcua";
import { lower } from "./lower.ts";

/** What one publish response has: fields of events, where a value counts as one. */
export const MOST_FIELDS_A_RESPONSE = 2_000;
/** An event costs as much as so many fields, beside its own. */
export const FIELDS_AN_EVENT = 5;

/** Parts of node-opcua's subscription below its interface. */
interface Publisher {
  /** That of its session. */
  readonly publishEngine?: object;
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
let isTurnPlanned = false;
/** Those that have news, and whose turn has not come, in the order of waiting. */
const waiting = new Set<Publisher>();
let isServing = false;

/**
 * Bounds what publish responses take of a turn of the event loop. node-opcua 2.182 puts up to 1,000 events
 * into one response, however many fields each has, and answers all waiting requests of a session at once. A
 * response with fewer has MoreNotifications. The next one follows in a later turn, after those of all other
 * sessions that wait.
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
    const isLater = isTurnOver() || (waiting.size > 0 && !isServing);
    if (isLater && this.publishingEnabled && hasNews(this)) waiting.add(this);
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

/** Another response may have as much as the bound. */
function isTurnOver(): boolean {
  return sentInTurn > MOST_FIELDS_A_RESPONSE / 2;
}

function planTurn(): void {
  if (isTurnPlanned) return;
  isTurnPlanned = true;
  // Outside of a turn that begins here, the immediates of the present turn are still to come.
  if (isServing) setImmediate(beginTurn);
  else setImmediate(() => setImmediate(beginTurn));
}

function beginTurn(): void {
  isTurnPlanned = false;
  sentInTurn = 0;
  for (const { publishEngine } of waiting) {
    if (isTurnOver()) return;
    const own = [...waiting].filter((each) => each.publishEngine === publishEngine);
    for (const each of own) waiting.delete(each);
    isServing = true;
    // Those of the session that still have news then wait again, behind all others.
    for (const each of own) each._flushRemainingNotifications();
    isServing = false;
  }
}

function hasNews(subscription: Publisher): boolean {
  return subscription.hasPendingNotifications || subscription.hasUncollectedMonitoredItemNotifications;
}

/** How many of the notifications one response has: at least one, and at most `most`. */
function take(notifications: Iterable<{ readonly notification: unknown }>, most: number): number {
  let [count, fields] = [0, 0];
  for (const { notification } of notifications) {
    const own = costOf(notification);
    if (count === most || (count > 0 && fields + own > MOST_FIELDS_A_RESPONSE)) break;
    count += 1;
    fields += own;
  }
  sentInTurn += fields;
  planTurn();
  return Math.max(1, count);
}

function costOf(notification: unknown): number {
  if (!(notification instanceof EventFieldList)) return 1;
  return FIELDS_AN_EVENT + (notification.eventFields?.length ?? 0);
}
