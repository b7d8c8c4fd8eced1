import type { IPublishPacket, MqttClient } from "mqtt";
import type { Acts } from "../../contracts/acts.ts";
import type { Commander, Envelope, Expiry } from "../../contracts/commander.ts";
import { type ActName, isActName } from "../../domain/acts.ts";
import { expiryDateFault, expiryTimeFault, isExpiryTime, refusal } from "../../domain/outcome.ts";
import { type Clock, dateTimeMs } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { subscribe } from "./client/client.ts";
import { createFrameSorter, type Sorted } from "./client/sorted-stream.ts";
import { createInbox } from "./inbox.ts";
import {
  answerProblem,
  bytesOf,
  own,
  readAct,
  readCommandObject,
  replyTo,
  type UnreadMessage,
} from "./message.ts";
import type { MqttOptions } from "./options.ts";
import { createReplies, type ReplyBounds } from "./replies.ts";
import type { CommandTopic, Topics } from "./topics.ts";

/** A well-formed command message. The intake reads its request. */
export interface CommandMessage {
  readonly id: string;
  /** Wall time in milliseconds; null: the message named none. */
  readonly expiresAtMs: number | null;
  /** From its receipt; null: the message named none. */
  readonly expiresInMs: number | null;
  readonly request: unknown;
  /** Of a message whose topic does not name it. */
  readonly operation: unknown;
}

/** The result of reading a payload. */
export type ReadMessage = { readonly ok: true; readonly message: CommandMessage } | UnreadMessage;

/**
 * Takes commands and acts from MQTT to the gateway, and their outcomes back. Lives as long as the link, over
 * all its connections.
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

export function createCommandMessages({
  options,
  topics,
  clock,
  log,
  commander,
  acts,
  replyBounds,
}: {
  readonly options: MqttOptions;
  readonly topics: Topics;
  readonly clock: Clock;
  readonly log: Log;
  readonly commander: Commander;
  readonly acts: Acts;
  /** Present if they differ from the default. */
  readonly replyBounds?: ReplyBounds | undefined;
}): CommandMessages {
  const counts = { commands: 0, acts: 0 };
  const replies = createReplies(clock, log, replyBounds);

  const take = (topic: CommandTopic, packet: IPublishPacket, waitedMs: number) => {
    counts.commands += 1;
    const read = readCommandMessage(bytesOf(packet));
    const to = replyTo(topics, topic.client, packet, read.ok ? read.message.id : read.id);
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
    void commander.submit(envelope, null).then((outcome) => replies.send(to, outcome));
  };

  const takeAct = (name: ActName, client: string, packet: IPublishPacket) => {
    counts.acts += 1;
    const read = readAct(bytesOf(packet));
    const unanswerable = answerProblem(topics, client, packet);
    const to = replyTo(topics, client, packet, read.id);
    const reason = read.ok ? unanswerable : read.reason;
    const malformed = reason === null ? null : refusal("MALFORMED", reason);
    const asked = {
      source: { protocol: "mqtt", name: client } as const,
      requestId: to.id,
      fields: read.ok ? read.object : null,
      refused: packet.retain ? refusal("RETAINED", "commands must not be retained") : malformed,
    };
    void acts.answer(name, asked).then((outcome) => replies.send(to, outcome));
  };

  /** Topics whose retained message is being cleared: the empty message that clears it comes back. */
  const cleared = new Set<string>();
  let publisher: MqttClient | null = null;

  const clear = (name: string) => {
    cleared.add(name);
    publisher?.publish(name, "", { qos: 1, retain: true });
  };

  const handle = (name: string, packet: IPublishPacket, waitedMs: number) => {
    const isEmpty = packet.payload.length === 0;
    if (isEmpty && cleared.delete(name)) return;
    if (packet.retain && !isEmpty) clear(name);
    const command = topics.readCommand(name);
    if (command === null) return;
    const { client, operation } = command;
    if (isActName(operation)) takeAct(operation, client, packet);
    else take(command, packet, waitedMs);
  };
  /** It has no id that could be read, and so no answer. */
  const refuseTooLong = (name: string, reason: string, isRetained: boolean) => {
    const command = topics.readCommand(name);
    if (command === null) return;
    if (isRetained) clear(name);
    const { client, operation } = command;
    const refused: Envelope = {
      source: { protocol: "mqtt", name: client },
      requestId: null,
      operation,
      request: { unreadable: reason },
      expiry: { atMs: null, withinMs: null, lacks: null },
    };
    void commander.submit(refused, null);
  };

  const inbox = createInbox(options.protocolVersion, clock, (topic) => topics.ownerOf(topic) ?? "", handle);

  return {
    sorter: () =>
      createFrameSorter({
        protocolVersion: options.protocolVersion,
        isWanted: topics.isRead,
        take: inbox.put,
        onTooLong: refuseTooLong,
      }),
    async serve(client) {
      if (!commandsOn(options, log)) return;
      replies.use(client);
      publisher = client;
      cleared.clear();
      // Retain as published (MQTT 5): a command with the retain flag is recognised at once.
      const { commandFilter } = topics;
      const refused = await subscribe(client, [commandFilter], { qos: 1, rap: true });
      if (refused.length > 0) throw new Error(`the broker refused the subscription ${commandFilter}`);
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
 *
 * @param more fields that it may have besides
 */
export function readCommandMessage(payload: Uint8Array, more?: readonly ["operation"]): ReadMessage {
  const read = readCommandObject(payload, more);
  if (!read.ok) return read;
  const { id, object } = read;
  const [expiresAt, expiresIn] = [own(object, "expires_at"), own(object, "expires_in_ms")];
  const expiresAtMs = expiresAt === undefined ? null : dateTimeMs(expiresAt);
  if (expiresAt !== undefined && expiresAtMs === null) return { ok: false, id, reason: expiryDateFault };
  if (expiresIn !== undefined && !isExpiryTime(expiresIn)) return { ok: false, id, reason: expiryTimeFault };
  const [request, operation] = [own(object, "request"), own(object, "operation")];
  const expiresInMs = expiresIn ?? null;
  return { ok: true, message: { id, expiresAtMs, expiresInMs, request, operation } };
}

const expiryAdvice = "give expires_in_ms, expires_at, or MQTT 5 message expiry";

/** The message's own expiries, and MQTT 5's. */
export function expiryOf(
  packet: Pick<IPublishPacket, "properties">,
  read: ReadMessage,
  isRequired: boolean,
): Expiry {
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
