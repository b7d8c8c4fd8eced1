import {
  type AddressSpace,
  AttributeIds,
  type BaseNode,
  ContentFilter,
  DataType,
  EventFieldList,
  EventFilter,
  type ISessionContext,
  MonitoredItem,
  type UAEventType,
} from "node-opcua";
import { mayReceive } from "./audit-readers.ts";
import { ComputedEvent } from "./computed-event.ts";
import { lower } from "./lower.ts";

/** An item that monitors events: parts of node-opcua 2.182 below its interface. */
export interface EventItem {
  readonly node: { readonly addressSpace: EventSpace } | null;
  readonly filter: EventFilter;
  readonly clientHandle: number;
  readonly queueSize: number;
  readonly discardOldest: boolean;
  readonly queue: EventFieldList[];
  readonly itemToMonitor: { readonly attributeId: AttributeIds };
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
type EventSpace = AddressSpace & {
  constructEventData(type: UAEventType, data: Record<string, unknown>): EventData;
};

/** Events which report that other events of an item were discarded. They do not count as its events. */
const overflows = new WeakSet<EventFieldList>();
/** How node-opcua itself delivers an event; null: it does everywhere. */
let deliver: Delivery["_on_opcua_event"] | null = null;

/**
 * Keeps an error in a client's filter away from the code that raises an event, and from later listeners:
 * node-opcua 2.182 throws if a filter compares with a ByteString that is null. Such a filter lets no event
 * through. And an item whose queue was too short gets an EventQueueOverflowEvent (OPC UA part 4, 5.12.1.5),
 * which node-opcua lacks. And an item gets each event that comes after the answer to its creation: node-opcua
 * begins to listen a turn later, when the client may have the answer already. And audit events are for
 * engineers alone.
 */
export function deliverEvents(): void {
  if (deliver !== null) return;
  const item = lower<Delivery>(MonitoredItem.prototype, "_on_opcua_event");
  lower<Delivery>(item, "_enqueue_event");
  lower<Delivery>(item, "_getSession");
  const startAsBefore = lower<Delivery>(item, "_start_sampling")._start_sampling;
  lower<Delivery>(item, "__start_sampling");
  item._start_sampling = function (recordsFirst) {
    const isOfEvents = this.itemToMonitor.attributeId === AttributeIds.EventNotifier;
    if (isOfEvents && this.node !== null) this.__start_sampling(recordsFirst);
    else startAsBefore.call(this, recordsFirst);
  };
  const deliverAsBefore = item._on_opcua_event;
  deliver = deliverAsBefore;
  item._on_opcua_event = function (event) {
    const type = event instanceof ComputedEvent ? event.type : event.getEventDataSource();
    if (!mayReceive(this._getSession()?.sessionContext ?? null, type)) return;
    try {
      if (event instanceof ComputedEvent) enqueue(this, event.select(this.filter));
      else deliverAsBefore.call(this, event);
    } catch {
      // Only this item's client could mend its filter, and an accepted filter has no way to report an error.
    }
  };
  item._enqueue_event = function (fields) {
    const { queue, queueSize, discardOldest, clientHandle } = this;
    const event = new EventFieldList({ clientHandle, eventFields: fields });
    const index = queue.findIndex((each) => overflows.has(each));
    const count = queue.length - (index < 0 ? 0 : 1);
    // At the beginning if the oldest events were discarded, otherwise at the end.
    if (count < queueSize) queue.splice(discardOldest || index < 0 ? queue.length : index, 0, event);
    else {
      if (index < 0) queue.splice(discardOldest ? 0 : queue.length, 0, overflowOf(this));
      if (discardOldest) queue.splice(1, 1);
      else queue.splice(queue.length - 2, 1);
      queue.splice(discardOldest ? queue.length : queue.length - 1, 0, event);
    }
  };
}

function enqueue(item: EventItem, fields: Fields | null): void {
  if (fields !== null) (item as EventItem & Delivery)._enqueue_event(fields);
}

/** Delivers an event to one item alone, if its filter lets it through. */
export function deliverTo(item: EventItem, event: ComputedEvent): void {
  (item as EventItem & Delivery)._on_opcua_event(event);
}

/** Delivers an event of the server itself to one item alone, whatever its filter lets through. */
export function notifyItem(item: EventItem, typeName: string, message: string): void {
  if (item.node !== null) enqueue(item, serverEvent(item, typeName, message));
}

function overflowOf(item: EventItem): EventFieldList {
  const eventFields = serverEvent(item, "EventQueueOverflowEventType", "events were discarded");
  const overflow = new EventFieldList({ clientHandle: item.clientHandle, eventFields });
  overflows.add(overflow);
  return overflow;
}

/** The fields that the item selects of an event of the server itself. */
function serverEvent(item: EventItem, typeName: string, message: string): Fields {
  const space = item.node?.addressSpace;
  const type = space?.findEventType(typeName) ?? null;
  if (space === undefined || type === null || deliver === null) return [];
  const event = space.constructEventData(type, {
    $eventDataSource: type,
    sourceNode: { dataType: DataType.NodeId, value: space.rootFolder.objects.server.nodeId },
    sourceName: { dataType: DataType.String, value: "Server" },
    message: { dataType: DataType.LocalizedText, value: { locale: "en", text: message } },
    severity: { dataType: DataType.UInt16, value: SEVERITY },
  });
  let selected: Fields = [];
  const { selectClauses } = item.filter;
  const probe = Object.create(item, {
    filter: { value: new EventFilter({ selectClauses, whereClause: new ContentFilter({}) }) },
    _enqueue_event: {
      value: (fields: Fields) => {
        selected = fields;
      },
    },
  });
  deliver.call(probe, event);
  return selected;
}

/** The client has missed an event: it should browse again. */
const SEVERITY = 500;
