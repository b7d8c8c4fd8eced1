import type { EventSubscribers } from "../../contracts/link.ts";
import type { DropReason, FleetEvent } from "../../domain/event.ts";
import { namingTopic } from "./client/broker-problem.ts";
import { type LimitedClient, PacketTooLarge, TopicRefused } from "./client/limited-client.ts";
import { EVENTS_IN_FLIGHT, type SizeLimit } from "./client/size-limit.ts";
import type { Loss } from "./loss.ts";
import { eventPayload } from "./payloads.ts";
import type { Topics } from "./topics.ts";

/** The arrival of events that the gateway publishes at its own broker (`broker/event-arrivals.ts`). */
export interface EventArrivals {
  /** How many clients that acknowledge events are connected. */
  subscribers(): number;
  /** Whether one is connecting, and gets the state first. */
  areComing(): boolean;
  /**
   * `look` is called when the first comes or has all state, or when the last has gone, until the returned
   * function is called.
   */
  watch(look: () => void): () => void;
  /** Whether the event of this packet identifier has arrived. */
  arrived(messageId: number): Promise<boolean>;
}

/** Publishes events. */
export interface EventWriter {
  /** Resolves when the broker has acknowledged them. */
  write(events: readonly FleetEvent[]): Promise<void>;
  /** Hands them over to the subscribers of a broker that stores none. */
  to(arrivals: EventArrivals): EventSubscribers;
}

export interface EventWriterParts {
  readonly topics: Topics;
  readonly sessionId: string;
  readonly counts: { events: number };
  /** Null with the gateway's own broker, which has no limit. */
  readonly sizes: SizeLimit | null;
  /** An event was left out because of its size. */
  readonly onTooLarge: (topic: string, limitBytes: number) => void;
}

type Published = (error: Error | null | undefined, messageId: number | null) => void;

export function createEventWriter(client: LimitedClient, loss: Loss, parts: EventWriterParts): EventWriter {
  const { topics, sessionId, counts, sizes } = parts;
  if (sizes !== null) void loss.lost.then(sizes.lost);

  /** Whether it is larger than an event for which the broker has closed a connection. */
  function isTooLarge(topic: string, bytes: number): boolean {
    const limitBytes = sizes?.limitBytes() ?? null;
    if (limitBytes === null || bytes <= limitBytes) return false;
    parts.onTooLarge(topic, limitBytes);
    return true;
  }

  function publish(event: FleetEvent, qos: 0 | 1, done: Published): void {
    const { robotId, kind } = event;
    const topic = robotId === "" ? topics.gatewayEvent(kind) : topics.robot(robotId).event(kind);
    const payload = eventPayload(event, sessionId);
    const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload);
    if (kind !== "dropped" && isTooLarge(topic, bytes)) {
      publish(leftOut(event, "too_large"), qos, done);
      return;
    }
    counts.events += 1;
    sizes?.sent(event.eventId, topic, bytes);
    client.publish(topic, payload, { qos }, (error, packet) => {
      if (!error) sizes?.acknowledged(event.eventId);
      else if (isNeverTaken(error)) sizes?.leftOut(event.eventId);
      namingTopic(topic, (named) => {
        if (!isNeverTaken(named)) done(named, packet?.messageId ?? null);
        // Not tried again: the broker refuses it in every connection.
        else if (kind === "dropped") done(null, null);
        else publish(leftOut(event, named instanceof TopicRefused ? "refused" : "too_large"), qos, done);
      })(error);
    });
  }

  /** Resolves with its packet identifier; null: no broker accepts it. */
  async function publishOne(event: FleetEvent): Promise<number | null> {
    let messageId: number | null = null;
    await loss.orElse((done) =>
      publish(event, 1, (error, id) => {
        messageId = id;
        done(error);
      }),
    );
    return messageId;
  }

  async function deliverOne(event: FleetEvent, arrivals: EventArrivals): Promise<boolean> {
    const messageId = await publishOne(event);
    if (messageId === null) return true;
    let hasArrived = false;
    await loss.orElse((done) => {
      void arrivals.arrived(messageId).then((has) => {
        hasArrived = has;
        done();
      });
    });
    return hasArrived;
  }

  return {
    async write(events) {
      for (const window of windowsOf(events, sizes?.window())) await Promise.all(window.map(publishOne));
      sizes?.allArrived();
    },
    to: (arrivals) => ({
      areThere: () => arrivals.subscribers() > 0,
      areComing: () => arrivals.areComing(),
      watch: (look) => arrivals.watch(look),
      async deliver(events) {
        let arrived = 0;
        for (const window of windowsOf(events)) {
          const have = await Promise.all(window.map((event) => deliverOne(event, arrivals)));
          const missing = have.indexOf(false);
          if (missing !== -1) return arrived + missing;
          arrived += have.length;
        }
        return arrived;
      },
      show(event) {
        if (loss.cause() === null) publish(event, 0, () => {});
      },
    }),
  };
}

function windowsOf(
  events: readonly FleetEvent[],
  size = EVENTS_IN_FLIGHT,
): readonly (readonly FleetEvent[])[] {
  const count = Math.ceil(events.length / size);
  return Array.from({ length: count }, (_value, index) => events.slice(index * size, (index + 1) * size));
}

function isNeverTaken(error: unknown): boolean {
  return error instanceof PacketTooLarge || error instanceof TopicRefused;
}

/** The report of an event that the broker does not accept. A repeat has the same id. */
function leftOut(event: FleetEvent, reason: DropReason): FleetEvent {
  const { eventId, atMs, historical, sessionId } = event;
  const isOfCommand = event.kind === "command";
  return {
    kind: "dropped",
    eventId: `${eventId}.dropped`,
    robotId: isOfCommand ? "" : event.robotId,
    atMs,
    source: isOfCommand ? event.command.source : null,
    count: 1,
    fromMs: atMs,
    toMs: atMs,
    reason,
    ...(historical === undefined ? {} : { historical }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}
