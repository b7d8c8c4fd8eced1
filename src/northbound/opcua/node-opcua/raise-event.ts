import type { UAEventType, UAObject, Variant } from "node-opcua";
import { ComputedEvent, eventValues } from "./computed-event.ts";

/** node-opcua's own items listen to events of either kind. */
type Notifier = UAObject & { emit(name: "event", event: ComputedEvent): boolean };

/** The objects whose subscribers get the events of an object: the Server first, the object last. */
const notifiers = new WeakMap<UAObject, readonly UAObject[]>();

/** The events of an object are from now on those of `above`, too, which has been added before. */
export function noteNotifier(above: UAObject, object: UAObject): void {
  notifiers.set(object, [...notifiersOf(above), object]);
}

/**
 * The objects whose subscribers get the events of this one. node-opcua 2.182 would follow the references
 * upwards for each event, which costs more than the event itself.
 */
export function notifiersOf(source: UAObject): readonly UAObject[] {
  return notifiers.get(source) ?? [source];
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
export function isSubscribed(source: UAObject): boolean {
  return notifiersOf(source).some((notifier) => notifier.listenerCount("event") > 0);
}

/** Sends an event to the subscribers of the object, and of the notifiers above it. */
export function sendEvent(source: UAObject, event: ComputedEvent): void {
  for (const notifier of notifiersOf(source) as readonly Notifier[]) notifier.emit("event", event);
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
