import type { EventSubscribers } from "../../contracts/link.ts";
import type { DropReason, FleetEvent } from "../../domain/event.ts";
import { eventJson } from "../../models/event.ts";
import type { EventArrivals } from "./broker/event-arrivals.ts";
import { EVENTS_IN_FLIGHT, type SizeLimit } from "./client/broker-limits.ts";
import type { Loss } from "./client/client.ts";
import { type LimitedClient, NotTakenYet, PacketTooLarge, TopicRefused } from "./client/limited-client.ts";
import type { Topics } from "./topics.ts";

/** Publishes events. */
export interface EventWriter {
  /** Resolves with how many of them, from the first, the broker has taken. It takes the others later. */
  write(events: readonly FleetEvent[]): Promise<number>;
  /** Hands them over to the subscribers of a broker that keeps none. */
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
  /** Taken before an event that the broker has not taken yet. */
  let takenEarly: ReadonlySet<string> = new Set();
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
    const payload = eventJson(event, sessionId);
    const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload);
    if (kind !== "dropped" && isTooLarge(topic, bytes)) {
      publish(leftOut(event, "too_large"), qos, done);
      return;
    }
    counts.events += 1;
    sizes?.sent(event.eventId, topic, bytes);
    client.publish(topic, payload, { qos }, (error, packet) => {
      if (!error) sizes?.acknowledged(event.eventId);
      else if (isAnswer(error)) sizes?.leftOut(event.eventId);
      if (!isNeverTaken(error)) done(error, packet?.messageId ?? null);
      // Not tried again: the broker takes it in no connection.
      else if (kind === "dropped") done(null, null);
      else publish(leftOut(event, error instanceof TopicRefused ? "refused" : "too_large"), qos, done);
    });
  }

  /** Resolves with its packet identifier; null: no broker takes it. */
  async function publishOne(event: FleetEvent): Promise<number | null | "not yet"> {
    let result: number | null | "not yet" = null;
    await loss.orElse((done) =>
      publish(event, 1, (error, id) => {
        result = error instanceof NotTakenYet ? "not yet" : id;
        done(error instanceof NotTakenYet ? null : error);
      }),
    );
    return result;
  }

  /** @returns how many are taken, from the first */
  async function writeWindow(events: readonly FleetEvent[]): Promise<number> {
    const early = takenEarly;
    takenEarly = new Set();
    const isTaken = await Promise.all(
      events.map(async (event) => early.has(event.eventId) || (await publishOne(event)) !== "not yet"),
    );
    const missing = isTaken.indexOf(false);
    if (missing === -1) return events.length;
    takenEarly = new Set(events.filter((_event, index) => isTaken[index]).map(({ eventId }) => eventId));
    return missing;
  }

  async function deliverOne(event: FleetEvent, arrivals: EventArrivals): Promise<boolean> {
    const messageId = await publishOne(event);
    if (messageId === null) return true;
    if (messageId === "not yet") return false;
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
      let written = 0;
      for (const window of windowsOf(events, sizes?.window())) {
        const taken = await writeWindow(window);
        written += taken;
        if (taken < window.length) return written;
      }
      sizes?.allArrived();
      return written;
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

/** Whether the event is not under way any more, and the connection goes on. */
function isAnswer(error: unknown): boolean {
  return isNeverTaken(error) || error instanceof NotTakenYet;
}

/** What tells of an event that the broker does not take. A repeat has the same id. */
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
