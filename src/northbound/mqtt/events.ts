import type { FleetEvent } from "../../domain/event.ts";
import { namingTopic } from "./client/broker-problem.ts";
import { type LimitedClient, PacketTooLarge } from "./client/limited-client.ts";
import type { Loss } from "./loss.ts";
import { eventPayload } from "./payloads.ts";
import type { Topics } from "./topics.ts";

export interface EventParts {
  readonly topics: Topics;
  readonly sessionId: string;
  readonly counts: { events: number };
}

type Done = (error?: Error | null) => void;

const EVENTS_IN_FLIGHT = 64;

/** Publishes events in their order. Resolves when the broker has acknowledged them all. */
export async function writeEvents(
  client: LimitedClient,
  loss: Loss,
  parts: EventParts,
  events: readonly FleetEvent[],
): Promise<void> {
  for (let start = 0; start < events.length; start += EVENTS_IN_FLIGHT) {
    const window = events
      .slice(start, start + EVENTS_IN_FLIGHT)
      .map((event) => loss.orElse((done) => publishEvent(client, parts, event, done)));
    await Promise.all(window);
  }
}

function publishEvent(client: LimitedClient, parts: EventParts, event: FleetEvent, done: Done): void {
  const { robotId, kind } = event;
  const topic = robotId === "" ? parts.topics.gatewayEvent(kind) : parts.topics.robot(robotId).event(kind);
  parts.counts.events += 1;
  const published: Done = (error) => {
    if (!(error instanceof PacketTooLarge)) done(error);
    // Not tried again: the broker takes it in no connection.
    else if (kind === "dropped") done();
    else publishEvent(client, parts, leftOut(event), done);
  };
  client.publish(topic, eventPayload(event, parts.sessionId), { qos: 1 }, namingTopic(topic, published));
}

/** What tells of an event that is larger than the broker takes. A repeat has the same id. */
function leftOut(event: FleetEvent): FleetEvent {
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
    reason: "too_large",
    ...(historical === undefined ? {} : { historical }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}
