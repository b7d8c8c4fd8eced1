import type { IPublishPacket, MqttClient } from "mqtt";
import type { Commander, Envelope, Expiry, RefusalAudit } from "../../contracts/commander.ts";
import type { Holds } from "../../contracts/holds.ts";
import type { Stations } from "../../contracts/stations.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createClearing } from "./clearing.ts";
import { createFrameSorter, type Sorted } from "./client/frame-sorter.ts";
import { createPublishReader } from "./client/publish-reader.ts";
import { subscribe } from "./client/subscribe.ts";
import { type ReadMessage, readCommandMessage } from "./command-message.ts";
import { takeHoldMessage } from "./hold-message.ts";
import { createInbox } from "./inbox.ts";
import type { MqttOptions } from "./options.ts";
import { createReplies, type ReplyBounds, type ReplyTo } from "./replies.ts";
import { answerProblem, bytesOf, replyTo } from "./reply-to.ts";
import { takeStationMessage } from "./station-desk.ts";
import type { CommandTopic, HoldTopic, StationTopic, Topics } from "./topics.ts";

/** What the command desk needs of the rest of the gateway. */
export interface CommandParts {
  readonly options: MqttOptions;
  readonly topics: Topics;
  readonly clock: Clock;
  readonly log: Log;
  readonly commander: Commander;
  /** Where refusals of what is no command are audited. */
  readonly audit: RefusalAudit;
  readonly stations: Stations;
  readonly holds: Holds;
  /** Where they are not the usual ones. */
  readonly replyBounds?: ReplyBounds;
}

/**
 * Takes commands from MQTT to the commander and its outcomes back. Lives as long as the link, over all its
 * connections.
 */
export interface CommandDesk {
  /** Takes clients' messages out of the bytes of one connection. */
  sorter(): (bytes: Buffer) => Sorted;
  /** Listens on a new connection, where commands are on. Rejects when the broker refuses the subscription. */
  serve(client: MqttClient): Promise<void>;
  /** Why clients may wait for an answer that does not come; null when there is no reason. */
  problem(): string | null;
  figures(): Readonly<Record<string, number>>;
}

export function createCommandDesk(parts: CommandParts): CommandDesk {
  const { options, topics, clock, log } = parts;
  const counts = { commands: 0, stationMessages: 0, holdMessages: 0 };
  const replies = createReplies(clock, log, parts.replyBounds);

  const take = (topic: CommandTopic, packet: IPublishPacket, waitedMs: number) => {
    counts.commands += 1;
    const read = readCommandMessage(bytesOf(packet));
    const to = replyTo(topics, topic, packet, read.ok ? read.message.id : read.id);
    const envelope: Envelope = {
      source: { protocol: "mqtt", name: topic.client },
      requestId: to.id,
      operation: topic.operation,
      request: read.ok ? { json: read.message.request } : { unreadable: read.reason },
      expiry: expiryOf(packet, read, options.commands.requireExpiry),
      receivedMs: clock.nowMs() - waitedMs,
      retained: packet.retain,
      unanswerable: answerProblem(topics, topic.client, packet),
    };
    // The journal and the robot want the outcome, whatever becomes of this connection.
    void parts.commander.submit(envelope, null).then((outcome) => replies.send(to, outcome));
  };

  const answer = (to: ReplyTo, outcome: Outcome, operation: string, robotId: string | null) => {
    replies.send(to, outcome);
    if (outcome.outcome !== "refused") return;
    const source = { protocol: "mqtt", name: to.client } as const;
    parts.audit.refused({ source, requestId: to.id, operation, robotId }, outcome);
  };

  const takeForStation = (topic: StationTopic, packet: IPublishPacket) => {
    counts.stationMessages += 1;
    const { to, outcome, robotId } = takeStationMessage(parts, topic, packet);
    answer(to, outcome, `station/${to.operation}`, robotId);
  };

  const takeHold = (topic: HoldTopic, packet: IPublishPacket) => {
    counts.holdMessages += 1;
    const { to, outcome, robotId } = takeHoldMessage(parts, topic, packet);
    answer(to, outcome, to.operation, robotId);
  };

  const readPublish = createPublishReader(options.protocolVersion);
  const cleared = createClearing();
  let publisher: MqttClient | null = null;

  const hear = (name: string, frame: Buffer, waitedMs: number) => {
    const packet = readPublish(frame);
    const command = topics.readCommand(name);
    const station = command === null ? topics.readStation(name) : null;
    const hold = topics.readHold(name);
    if (packet === null) return;
    const empty = packet.payload.length === 0;
    if (empty && cleared.echo(name)) return;
    if (packet.retain && !empty) {
      cleared.expect(name);
      publisher?.publish(name, "", { qos: 1, retain: true });
    }
    if (command !== null) take(command, packet, waitedMs);
    if (station !== null) takeForStation(station, packet);
    if (hold !== null) takeHold(hold, packet);
  };
  const inbox = createInbox(clock, (topic) => topics.ownerOf(topic) ?? "", hear);

  return {
    sorter: () =>
      createFrameSorter(
        (topic) =>
          topics.readCommand(topic) !== null ||
          topics.readStation(topic) !== null ||
          topics.readHold(topic) !== null,
        inbox.put,
      ),
    async serve(client) {
      if (!commandsOn(options, log)) return;
      replies.use(client);
      publisher = client;
      cleared.reset();
      // Retain as published (MQTT 5): a command sent with the retain flag is known as such at once.
      const { commandFilter, stationFilter, holdFilters } = topics;
      const filters = [commandFilter, stationFilter, ...holdFilters];
      const refused = await subscribe(client, filters, { qos: 1, rap: true });
      if (refused.includes(commandFilter))
        throw new Error(`the broker refused the subscription ${commandFilter}`);
      if (refused.length > 0)
        log.warn(
          { filters: refused },
          "the broker keeps subscriptions from us: nobody can lease or hold robots over MQTT by them",
        );
    },
    problem: replies.problem,
    figures: () => ({ ...counts, messagesWaiting: inbox.length, ...replies.figures() }),
  };
}

function commandsOn(options: MqttOptions, log: Log): boolean {
  if (!options.commands.enabled) return false;
  if (options.broker.kind === "embedded" || options.commands.brokerEnforcesClientNames) return true;
  log.warn(
    {},
    "MQTT commands stay off: the configuration does not say brokerEnforcesClientNames for the external broker",
  );
  return false;
}

const expiryAdvice = "give expires_in_ms, expires_at, or MQTT 5 message expiry";

/** The message's own expiries, and MQTT 5's. */
function expiryOf(packet: IPublishPacket, read: ReadMessage, isRequired: boolean): Expiry {
  const seconds = packet.properties?.messageExpiryInterval;
  const { expiresAtMs: atMs = null, expiresInMs = null } = read.ok ? read.message : {};
  const ofPacketMs = seconds === undefined ? null : seconds * 1_000;
  const withinMs =
    ofPacketMs === null || expiresInMs === null
      ? (ofPacketMs ?? expiresInMs)
      : Math.min(ofPacketMs, expiresInMs);
  const isMissing = isRequired && atMs === null && withinMs === null;
  return { atMs, withinMs, lacks: isMissing ? expiryAdvice : null };
}
