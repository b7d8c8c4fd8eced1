import type { IPublishPacket } from "mqtt";
import { quoted } from "../../domain/foreign-text.ts";
import { isRequestId, jsonFault, requestIdFault } from "../../domain/outcome.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";
import type { Topics } from "./topics.ts";

/** What is wrong with a message. `id` is its own if it can be answered. */
export type UnreadMessage = { readonly ok: false; readonly id: string | null; readonly reason: string };

/** A message from a client as an object with its id, or what is wrong with it. */
type ReadObject<Id> = { readonly ok: true; readonly id: Id; readonly object: JsonObject } | UnreadMessage;

/** The topic of an answer. No topic: the sender gave nothing for an answer. */
export interface ReplyTo {
  readonly client: string;
  readonly id: string | null;
  readonly topic: string | null;
  /** MQTT 5: sent back unchanged. */
  readonly correlationData: Buffer | null;
}

/** The largest payload that is read, in bytes. */
export const MESSAGE_LIMIT_BYTES = 256 * 1024;

/** How much of a sender's own is kept while its command runs, each: thousands may run at once. */
const LONGEST_KEPT_BYTES = 1_024;
const READABLE_ID_LIMIT = 1_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

const commandFields: readonly string[] = ["id", "expires_in_ms", "expires_at", "request"];
const commandExample = '{"id","expires_in_ms"?,"expires_at"?,"request":{…}}';

/**
 * Reads a command as an object with an id and known fields.
 *
 * @param more fields that it may have besides
 */
export function readCommandObject(payload: Uint8Array, more: readonly string[] = []): ReadObject<string> {
  const read = readObject(payload, commandExample);
  if (!read.ok) return read;
  const { id, object } = read;
  if (id === null) return { ok: false, id, reason: requestIdFault(undefined) };
  const fields = [...more, ...commandFields];
  const unknown = Object.keys(object).find((key) => !fields.includes(key));
  if (unknown === undefined) return { ok: true, id, object };
  const reason = `${quoted(unknown)}: is not a field of a command; it has ${fields.slice(0, -1).join(", ")} and request`;
  return { ok: false, id, reason };
}

/** Reads an act: its fields, and an id if it has one, for the reply. */
export function readAct(payload: Uint8Array): ReadObject<string | null> {
  const read = readObject(payload, '{"id"?,…} with the fields of the act');
  if (!read.ok) return read;
  const { id: _id, ...object } = read.object;
  return { ...read, object };
}

/** Reads what all messages have in common. */
function readObject(payload: Uint8Array, example: string): ReadObject<string | null> {
  if (payload.byteLength > MESSAGE_LIMIT_BYTES) {
    const reason = `the message has ${payload.byteLength} bytes; at most ${MESSAGE_LIMIT_BYTES} are read`;
    return { ok: false, id: null, reason };
  }
  const parsed = parse(payload);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!isJsonObject(value))
    return { ok: false, id: null, reason: `the message must be a JSON object ${example}` };
  const id = own(value, "id");
  if (id !== undefined && !isRequestId(id))
    return { ok: false, id: readableId(value), reason: requestIdFault(id) };
  return { ok: true, id: id ?? null, object: value };
}

/** `Object.hasOwn`, so that no inherited name counts as a field. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

type Parsed = { readonly ok: true; readonly value: unknown } | UnreadMessage;

function parse(payload: Uint8Array): Parsed {
  let text: string;
  try {
    text = utf8.decode(payload);
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, id: null, reason: "the message is not UTF-8" };
    throw error;
  }
  const read = readJson(text);
  if (read.ok) return read;
  const { path, message } = jsonFault(read);
  const reason = path === "" ? `the message ${message}` : `${path}: ${message}`;
  // With two ids nobody knows whose command is refused: an answer to one of them may be taken for another's.
  const isNamed = read.kind === "repeated" && isJsonObject(read.value) && !read.atTop.has("id");
  return { ok: false, id: isNamed ? readableId(read.value) : null, reason };
}

/** An id that an answer can carry, even if a command may not have it. */
function readableId(object: JsonObject): string | null {
  const id = own(object, "id");
  if (typeof id === "number") return String(id);
  return typeof id === "string" && id !== "" && id.length <= READABLE_ID_LIMIT ? id : null;
}

/**
 * The topic of the answer to a message: its own response topic if the client may have it, otherwise by its
 * id.
 */
export function replyTo(topics: Topics, client: string, packet: IPublishPacket, id: string | null): ReplyTo {
  const { responseTopic, correlationData } = packet.properties ?? {};
  const isOwn = responseTopic !== undefined && answerProblem(topics, client, packet) === null;
  return {
    client,
    id,
    topic: isOwn ? responseTopic : id === null ? null : topics.reply(client, id),
    correlationData: isTooLong(correlationData) ? null : (correlationData ?? null),
  };
}

/** Why a client cannot be answered as it wants (MQTT 5: response topic, correlation data); null: it can. */
export function answerProblem(topics: Topics, client: string, packet: IPublishPacket): string | null {
  const { responseTopic, correlationData } = packet.properties ?? {};
  if (isTooLong(correlationData)) return `correlation data of more than ${LONGEST_KEPT_BYTES} bytes`;
  if (responseTopic === undefined) return null;
  if (isTooLong(responseTopic)) return `a response topic of more than ${LONGEST_KEPT_BYTES} bytes`;
  return topics.mayAnswerOn(client, responseTopic)
    ? null
    : "the response topic is outside the client's own subtree";
}

function isTooLong(kept: Buffer | string | undefined): boolean {
  return kept !== undefined && Buffer.byteLength(kept) > LONGEST_KEPT_BYTES;
}

export function bytesOf(packet: IPublishPacket): Uint8Array {
  return typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
}

/**
 * The topic whose JSON contains our session for another one (published-topics.ts); undefined: that topic
 * itself; null: a later run does not look for it.
 */
export type Mark = string | null | undefined;
/** Publishes one retained state message. An empty payload removes the topic. */
export type PublishState = (topic: string, payload: string, mark?: Mark) => void;
/** Removes a topic for good. The broker acknowledges it, because no later snapshot would remove it again. */
export type RemoveTopic = (topic: string) => void;
