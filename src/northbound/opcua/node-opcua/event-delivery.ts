import { randomBytes } from "node:crypto";
import {
  type AddressSpace,
  AttributeIds,
  type BaseNode,
  EventFieldList,
  type EventFilter,
  type ISessionContext,
  MonitoredItem,
  ObjectIds,
  ObjectTypeIds,
  sameNodeId,
  type UAObjectType,
} from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import { ComputedEvent, eventValues } from "./computed-event.ts";
import { cached, lower, standardId } from "./lower.ts";

/** An item that monitors events: parts of node-opcua 2.182 below its interface. */
export interface EventItem {
  readonly node: { readonly addressSpace: AddressSpace } | null;
  readonly filter: EventFilter;
  readonly clientHandle: number;
  readonly queueSize: number;
  readonly discardOldest: boolean;
  readonly queue: EventFieldList[];
  /** Null: the item is deleted. */
  readonly itemToMonitor: { readonly attributeId: AttributeIds } | null;
}
type Fields = EventFieldList["eventFields"];
interface Delivery {
  _start_sampling(this: EventItem & Delivery, recordsFirst: boolean): void;
  __start_sampling(recordsFirst: boolean): void;
  _on_opcua_event(this: EventItem & Delivery, event: ComputedEvent | EventData): void;
  /** Null: the session of the subscription is gone. */
  _getSession(): { readonly sessionContext: ISessionContext } | null;
  _enqueue_event(this: EventItem, fields: Fields): void;
}
/** An event of node-opcua itself. */
interface EventData {
  getEventDataSource(): BaseNode;
}

/** Events which report that other events of an item were discarded. They do not count as its events. */
const notices = new WeakSet<EventFieldList>();
/** Events of conditions that wait in queues. */
const ofConditions = new WeakSet<EventFieldList>();
let isPatched = false;
/** Of the server that was made last: all of a process have one clock. */
let nowMs: Clock["nowMs"];

/**
 * Keeps an error in a client's filter away from the code that raises an event, and from later listeners:
 * node-opcua 2.182 throws if a filter compares with a ByteString that is null. Such a filter lets no event
 * through. And an item whose queue was too short gets an EventQueueOverflowEvent (OPC UA part 4, 5.12.1.5),
 * which node-opcua lacks; and a RefreshRequiredEvent, if it has lost conditions. And an item gets each event
 * that comes after the answer to its creation: node-opcua begins to listen a turn later, when the client may
 * have the answer already. And audit events are for engineers alone.
 */
export function deliverEvents(clock: Pick<Clock, "nowMs">): void {
  nowMs = clock.nowMs;
  if (isPatched) return;
  const item = lower<Delivery>(MonitoredItem.prototype, "_on_opcua_event");
  lower<Delivery>(item, "_enqueue_event");
  lower<Delivery>(item, "_getSession");
  const startAsBefore = lower<Delivery>(item, "_start_sampling")._start_sampling;
  lower<Delivery>(item, "__start_sampling");
  item._start_sampling = function (recordsFirst) {
    const isOfEvents = this.itemToMonitor?.attributeId === AttributeIds.EventNotifier;
    if (isOfEvents && this.node !== null) this.__start_sampling(recordsFirst);
    else startAsBefore.call(this, recordsFirst);
  };
  const deliverAsBefore = item._on_opcua_event;
  isPatched = true;
  item._on_opcua_event = function (event) {
    const type = event instanceof ComputedEvent ? event.type : event.getEventDataSource();
    if (!mayReceive(this._getSession()?.sessionContext ?? null, type)) return;
    try {
      if (event instanceof ComputedEvent) putComputed(this, event);
      else deliverAsBefore.call(this, event);
    } catch {
      // Only this item's client could mend its filter, and an accepted filter has no way to report an error.
    }
  };
  item._enqueue_event = function (fields) {
    put(this, fieldList(this, fields));
  };
}

/** Puts an event into the queue of its item. Above the queue's size an event is discarded. */
function put(item: EventItem, event: EventFieldList): void {
  const { queue, queueSize, discardOldest } = item;
  const noticeCount = countNotices(item);
  if (queue.length - noticeCount < queueSize) {
    queue.splice(discardOldest ? queue.length : queue.length - noticeCount, 0, event);
    return;
  }
  const [lost] = discardOldest
    ? queue.splice(noticeCount, 1)
    : queue.splice(queue.length - noticeCount - 1, 1, event);
  if (discardOldest) queue.push(event);
  if (noticeCount === 0) addNotice(item, "EventQueueOverflowEventType", "events were discarded");
  // After an overflow, there is at most this notice.
  if (lost !== undefined && ofConditions.has(lost) && countNotices(item) < 2)
    addNotice(item, "RefreshRequiredEventType", "conditions were discarded: call ConditionRefresh");
}

/** Notices are at the begin of a queue whose oldest events are discarded, otherwise at its end. */
function countNotices({ queue, discardOldest }: EventItem): number {
  for (let count = 0; ; count += 1) {
    const each = queue[discardOldest ? count : queue.length - 1 - count];
    if (each === undefined || !notices.has(each)) return count;
  }
}

function addNotice(item: EventItem, typeName: string, message: string): void {
  const notice = fieldList(item, serverEvent(item, typeName, message));
  const { queue, discardOldest } = item;
  queue.splice(discardOldest ? countNotices(item) : queue.length, 0, notice);
  notices.add(notice);
}

function fieldList({ clientHandle }: EventItem, eventFields: Fields): EventFieldList {
  return new EventFieldList({ clientHandle, eventFields });
}

function putComputed(item: EventItem, event: ComputedEvent): void {
  const fields = event.select(item.filter);
  if (fields === null) return;
  const list = fieldList(item, fields);
  if (event.isOfCondition) ofConditions.add(list);
  put(item, list);
}

/** Delivers an event to one item alone, if its filter lets it through. */
export function deliverTo(item: EventItem, event: ComputedEvent): void {
  (item as EventItem & Delivery)._on_opcua_event(event);
}

/** Delivers an event of the server itself to one item alone, whatever its filter lets through. */
export function notifyItem(item: EventItem, typeName: string, message: string): void {
  if (item.node !== null) put(item, fieldList(item, serverEvent(item, typeName, message)));
}

/** The fields that the item selects of an event of the server itself. */
function serverEvent(item: EventItem, typeName: string, message: string): Fields {
  const type = item.node?.addressSpace.findEventType(typeName) ?? null;
  if (type === null) return [];
  const facts = { id: randomBytes(16), atMs: nowMs(), message, severity: SEVERITY };
  const values = eventValues(type, { ...facts, source: serverId, sourceName: "Server" }, {});
  return new ComputedEvent(type, null, values).selectFields(item.filter);
}

/** The client has missed an event: it should browse again. */
const SEVERITY = 500;
const serverId = standardId(ObjectIds.Server);

/** Whether the user of a session may receive audit events. */
type MayReadAudit = (context: ISessionContext) => boolean;

/** Of address spaces. Nobody receives the audit events of one without an entry. */
const readers = new WeakMap<object, MayReadAudit>();
const auditTypes = new WeakMap<BaseNode, boolean>();
const AUDIT_EVENT_TYPE = standardId(ObjectTypeIds.AuditEventType);

/** Limits who receives the audit events of an address space: those of node-opcua itself, too. */
export function limitAuditEvents(addressSpace: AddressSpace, mayRead: MayReadAudit): void {
  readers.set(addressSpace, mayRead);
}

/**
 * Whether a session may receive events of this type.
 *
 * @param context null: the session of the subscription is gone
 */
function mayReceive(context: ISessionContext | null, type: BaseNode): boolean {
  if (!cached(auditTypes, type, () => isAuditType(type))) return true;
  return context !== null && readers.get(type.addressSpace)?.(context) === true;
}

function isAuditType(type: BaseNode): boolean {
  for (let each: UAObjectType | null = type as UAObjectType; each !== null; each = each.subtypeOfObj)
    if (sameNodeId(each.nodeId, AUDIT_EVENT_TYPE)) return true;
  return false;
}
