import type { Gap, StreamEvent } from "../../northbound/web/api/stream.ts";
import { eventText } from "./event-text.ts";

/** An event for the views. */
export interface ReceivedEvent {
  readonly id: string;
  /** By the gateway's clock. */
  readonly at: string;
  /** Empty: of no single robot. Null: events of any robot are missing here. */
  readonly robotId: string | null;
  readonly kind: string;
  readonly text: string;
}

/** The events that the page has received, the newest last. */
export interface EventLog {
  /** By the gateway's clock. Older ones were not received, or were evicted. */
  readonly since: string;
  readonly events: readonly ReceivedEvent[];
}

const MOST_EVENTS = 500;

/** The log when a stream begins: empty, unless the stream resumes after an event that the page received. */
export function listening(log: EventLog | null, at: string, couldResume: boolean): EventLog {
  return log !== null && couldResume ? log : { since: at, events: [] };
}

export function withEvent(log: EventLog, event: StreamEvent): EventLog {
  const { event_id: id, at, robot_id: robotId, kind } = event;
  if (log.events.some((known) => known.id === id)) return log;
  return withNewest(log, { id, at, robotId, kind, text: eventText(event) });
}

export function withGap(log: EventLog, { at, missing }: Gap): EventLog {
  const text =
    missing === null
      ? "Events are missing here. It is not known how many, for the gateway was started again."
      : `${missing} events are missing here, of this robot or of others.`;
  return withNewest(log, { id: `gap ${at}`, at, robotId: null, kind: "missing", text });
}

function withNewest({ since, events }: EventLog, newest: ReceivedEvent): EventLog {
  const all = [...events, newest];
  const kept = all.slice(-MOST_EVENTS);
  return { since: kept.length < all.length ? (kept[0]?.at ?? since) : since, events: kept };
}

/** The newest first: those of a robot, and where any may be missing. */
export function eventsOf(log: EventLog, robotId: string, most: number): readonly ReceivedEvent[] {
  const own = log.events.filter((event) => event.robotId === robotId || event.robotId === null);
  return own.reverse().slice(0, most);
}
