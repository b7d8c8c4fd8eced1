import type { UAEventType, UAObject, Variant } from "node-opcua";
import { ComputedEvent, eventValues, sendEvent } from "./computed-event.ts";

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

/** The further fields of an event, by their BrowseNames as paths have them: `2:MissionId`. */
export type EventFields = Readonly<Record<string, Variant>>;

/** Whether anybody subscribes to the events of the object. An event costs more than the question. */
export function isSubscribed({ node, above }: Notifier): boolean {
  if (node.listenerCount("event") > 0 || (above?.listenerCount("event") ?? 0) > 0) return true;
  return node.addressSpace.rootFolder.objects.server.listenerCount("event") > 0;
}

/** Raises an event of an object. */
export function raiseEvent(
  source: UAObject,
  type: UAEventType,
  { id, ...facts }: EventFacts,
  fields: EventFields,
): void {
  const sourceName = source.browseName.name ?? "";
  const base = { ...facts, id: Buffer.from(id), source: source.nodeId, sourceName };
  sendEvent(source, new ComputedEvent(type, null, eventValues(type, base, fields)));
}
