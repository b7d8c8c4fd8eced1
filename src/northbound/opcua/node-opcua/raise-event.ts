import {
  DataType,
  LocalizedText,
  type RaiseEventData,
  type UAEventType,
  type UAObject,
  type VariantOptions,
} from "node-opcua";

/** An object at which clients subscribe to events. */
export interface Notifier {
  readonly node: UAObject;
  /** The folder of all such objects; null: it stands directly under the Server object. */
  readonly above: UAObject | null;
}

/** What BaseEventType wants to know of an event (OPC UA part 5, 6.4.2). */
export interface EventFacts {
  /** Unique and stable: the same event has it in each protocol. */
  readonly id: string;
  readonly atMs: number;
  /** In English. */
  readonly message: string;
  /** From 1 to 1000. */
  readonly severity: number;
}

/** The further fields of an event type, by their BrowseNames. */
export type EventFields = Readonly<Record<string, VariantOptions>>;

const nothing = { dataType: DataType.Null } as const;

/** Whether anybody subscribes to the events of the object. An event costs more than the question. */
export function isSubscribed({ node, above }: Notifier): boolean {
  if (node.listenerCount("event") > 0 || (above?.listenerCount("event") ?? 0) > 0) return true;
  return node.addressSpace.rootFolder.objects.server.listenerCount("event") > 0;
}

/** Raises an event of an object. */
export function raiseEvent(
  source: UAObject,
  type: UAEventType,
  { id, atMs, message, severity }: EventFacts,
  fields: EventFields,
): void {
  const eventId = { dataType: DataType.ByteString, value: Buffer.from(id) };
  source.raiseEvent(
    type,
    Object.assign(eventData(eventId, fields), {
      time: { dataType: DataType.DateTime, value: new Date(atMs) },
      message: {
        dataType: DataType.LocalizedText,
        value: new LocalizedText({ locale: "en", text: message }),
      },
      severity: { dataType: DataType.UInt16, value: severity },
      // Optional: node-opcua would send a DateTime here, which is not its type.
      localTime: nothing,
    }),
  );
}

/** The data of an event, as node-opcua takes them. */
function eventData(eventId: VariantOptions, fields: EventFields): RaiseEventData {
  // node-opcua takes the id of an event from here, and forbids it as a property of the data itself.
  const data = Object.create({ eventId });
  for (const [name, value] of Object.entries(fields))
    data[name.charAt(0).toLowerCase() + name.slice(1)] = value;
  return data;
}
