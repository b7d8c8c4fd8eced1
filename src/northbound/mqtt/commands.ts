import type { IPublishPacket, MqttClient } from "mqtt";
import type { Alarms } from "../../contracts/alarms.ts";
import type { Commander, Envelope, Expiry, RefusalAudit } from "../../contracts/commander.ts";
import type { Holds } from "../../contracts/holds.ts";
import type { Stations } from "../../contracts/stations.ts";
import { expiryTimeFault, isExpiryTime } from "../../domain/refusals.ts";
import type { Clock } from "../../platform/clock.ts";
import { dateTimeMs } from "../../platform/date-time.ts";
import type { Log } from "../../platform/log.ts";
import { takeAlarmMessage } from "./alarm-message.ts";
import { createFrameSorter, type Sorted } from "./client/sorted-stream.ts";
import { subscribe } from "./client/subscribe.ts";
import { takeHoldMessage } from "./hold-message.ts";
import { createInbox } from "./inbox.ts";
import {
  type Answer,
  answerProblem,
  bytesOf,
  type MessageShape,
  own,
  readObject,
  replyTo,
} from "./message.ts";
import type { MqttOptions } from "./options.ts";
import { createReplies, type ReplyBounds } from "./replies.ts";
import { createHeartbeatCounters, takeStationMessage } from "./station-message.ts";
import type { AlarmTopic, CommandTopic, HoldTopic, StationTopic, Topics } from "./topics.ts";

/** A well-formed command message. The intake reads its request. */
export interface CommandMessage {
  readonly id: string;
  /** Wall time in milliseconds; null: the message named none. */
  readonly expiresAtMs: number | null;
  /** From its receipt; null: the message named none. */
  readonly expiresInMs: number | null;
  readonly request: unknown;
}

/**
 * The result of reading a payload. `id` is the message's own if it could be read: then it can be answered.
 */
export type ReadMessage =
  | { readonly ok: true; readonly message: CommandMessage }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

const shape: MessageShape = {
  kind: "command",
  fields: ["id", "expires_in_ms", "expires_at", "request"],
  example: '{"id","expires_in_ms"?,"expires_at"?,"request":{…}}',
};

/** The dependencies for messages of clients. */
export interface CommandParts {
  readonly options: MqttOptions;
  readonly topics: Topics;
  readonly clock: Clock;
  readonly log: Log;
  readonly commander: Commander;
  /** Refusals of messages that are no command are audited there. */
  readonly audit: RefusalAudit;
  readonly stations: Stations;
  readonly holds: Holds;
  readonly alarms: Alarms;
  /** Present if they differ from the default. */
  readonly replyBounds?: ReplyBounds;
}

/**
 * Takes commands from MQTT to the commander, and its outcomes back. Lives as long as the link, over all its
 * connections.
 */
export interface CommandMessages {
  /** Separates clients' messages from the bytes of one connection. */
  sorter(): (bytes: Buffer) => Sorted;
  /** Listens on a new connection, if commands are on. Rejects if the broker refuses the subscription. */
  serve(client: MqttClient): Promise<void>;
  /** Why clients may wait in vain for an answer; null: there is no reason. */
  problem(): string | null;
  figures(): Readonly<Record<string, number>>;
}

export function createCommandMessages(parts: CommandParts): CommandMessages {
  const { options, topics, clock, log } = parts;
  const counts = { commands: 0, stationMessages: 0, holdMessages: 0, alarmMessages: 0 };
  const replies = createReplies(clock, log, parts.replyBounds);
  const hasChanged = createHeartbeatCounters();

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
    // Without a signal: the journal and the robot need the outcome, whatever becomes of this connection.
    void parts.commander.submit(envelope, null).then((outcome) => replies.send(to, outcome));
  };

  const answer = ({ to, outcome, robotId }: Answer, operation: string) => {
    replies.send(to, outcome);
    if (outcome.outcome !== "refused") return;
    const source = { protocol: "mqtt", name: to.client } as const;
    parts.audit.refused({ source, requestId: to.id, operation, robotId }, outcome);
  };

  const takeForStation = (topic: StationTopic, packet: IPublishPacket) => {
    counts.stationMessages += 1;
    const answerTo = (answered: Answer) => answer(answered, `station/${answered.to.operation}`);
    const answered = takeStationMessage({ ...parts, hasChanged }, topic, packet);
    if (answered instanceof Promise) void answered.then(answerTo);
    else answerTo(answered);
  };

  const takeHold = (topic: HoldTopic, packet: IPublishPacket) => {
    counts.holdMessages += 1;
    answer(takeHoldMessage(parts, topic, packet), "hold");
  };

  const takeAlarm = (topic: AlarmTopic, packet: IPublishPacket) => {
    counts.alarmMessages += 1;
    void takeAlarmMessage(parts, topic, packet).then((answered) => answer(answered, answered.to.operation));
  };

  /** Topics whose retained message is being cleared: the empty message that clears it comes back. */
  const cleared = new Set<string>();
  let publisher: MqttClient | null = null;

  const handle = (name: string, packet: IPublishPacket, waitedMs: number) => {
    const isEmpty = packet.payload.length === 0;
    if (isEmpty && cleared.delete(name)) return;
    if (packet.retain && !isEmpty) {
      cleared.add(name);
      publisher?.publish(name, "", { qos: 1, retain: true });
    }
    const command = topics.readCommand(name);
    const station = command === null ? topics.readStation(name) : null;
    const hold = topics.readHold(name);
    const alarm = topics.readAlarm(name);
    if (command !== null) take(command, packet, waitedMs);
    if (station !== null) takeForStation(station, packet);
    if (hold !== null) takeHold(hold, packet);
    if (alarm !== null) takeAlarm(alarm, packet);
  };
  const inbox = createInbox(options.protocolVersion, clock, (topic) => topics.ownerOf(topic) ?? "", handle);

  return {
    sorter: () => createFrameSorter(topics.isRead, inbox.put),
    async serve(client) {
      if (!commandsOn(options, log)) return;
      replies.use(client);
      publisher = client;
      cleared.clear();
      // Retain as published (MQTT 5): a command with the retain flag is recognised at once.
      const { commandFilter, stationFilter, holdFilters, alarmFilter } = topics;
      const filters = [commandFilter, stationFilter, ...holdFilters, alarmFilter];
      const refused = await subscribe(client, filters, { qos: 1, rap: true });
      if (refused.includes(commandFilter))
        throw new Error(`the broker refused the subscription ${commandFilter}`);
      if (refused.length > 0)
        log.warn(
          { filters: refused },
          "the broker keeps subscriptions from us: nobody can lease or hold robots, or acknowledge alarms, over MQTT by them",
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

/**
 * Reads `{"id","expires_in_ms"?,"expires_at"?,"request":{…}}` strictly: an unknown field is refused, never
 * ignored.
 */
export function readCommandMessage(payload: Uint8Array): ReadMessage {
  const read = readObject(payload, shape);
  if (!read.ok) return read;
  const { id, object } = read;
  const expiry = readExpiry(own(object, "expires_at"));
  if (!expiry.ok) return { ok: false, id, reason: expiry.reason };
  const expiresIn = own(object, "expires_in_ms");
  if (expiresIn !== undefined && !isExpiryTime(expiresIn)) return { ok: false, id, reason: expiryTimeFault };
  const request = own(object, "request");
  return { ok: true, message: { id, expiresAtMs: expiry.atMs, expiresInMs: expiresIn ?? null, request } };
}

function readExpiry(
  value: unknown,
): { readonly ok: true; readonly atMs: number | null } | { readonly ok: false; readonly reason: string } {
  if (value === undefined) return { ok: true, atMs: null };
  const atMs = dateTimeMs(value);
  if (atMs === null)
    return { ok: false, reason: "expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z" };
  return { ok: true, atMs };
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
