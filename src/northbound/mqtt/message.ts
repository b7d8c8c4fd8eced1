import type { IPublishPacket } from "mqtt";
import { quoted } from "../../domain/clip.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { isRequestId, jsonFault, requestIdFault } from "../../domain/refusals.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";
import type { Topics } from "./topics.ts";

/**
 * A message from a client as an object with an id, or what is wrong with it. `id` is its own if it can be
 * answered.
 */
export type ReadObject =
  | { readonly ok: true; readonly id: string; readonly object: JsonObject }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

/** The shape of a kind of message. */
export interface MessageShape {
  /** Its name, as in "not a field of a command". */
  readonly kind: string;
  readonly fields: readonly string[];
  /** A whole message, for the reply to a client that sends something else. */
  readonly example: string;
}

/** The topic of an answer. No topic: the sender gave nothing for an answer. */
export interface ReplyTo {
  readonly client: string;
  readonly operation: string;
  readonly id: string | null;
  readonly topic: string | null;
  /** MQTT 5: sent back unchanged. */
  readonly correlationData: Buffer | null;
}

/** The answer to a message that is no command, and its topic. */
export interface Answer {
  readonly to: ReplyTo;
  readonly outcome: Outcome;
  /** Null: none could be read, or none is meant. */
  readonly robotId: string | null;
}

/** The sender and the kind of a message, for the answer and for the log. */
interface Asking {
  readonly client: string;
  readonly operation: string;
}

/** The largest payload that is read, in bytes. */
export const MESSAGE_LIMIT_BYTES = 256 * 1024;

/** How much of a sender's own is kept while its command runs, each: thousands may run at once. */
const LONGEST_KEPT_BYTES = 1_024;
const READABLE_ID_LIMIT = 1_000;
/** In UTF-16 units. */
const LONGEST_NAME = 256;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads the common fields of every message; the caller checks the others. */
export function readObject(payload: Uint8Array, shape: MessageShape): ReadObject {
  if (payload.byteLength > MESSAGE_LIMIT_BYTES) {
    const reason = `the message has ${payload.byteLength} bytes; at most ${MESSAGE_LIMIT_BYTES} are read`;
    return { ok: false, id: null, reason };
  }
  const parsed = parse(payload);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!isJsonObject(value))
    return { ok: false, id: null, reason: `the message must be a JSON object ${shape.example}` };
  const id = own(value, "id");
  if (!isRequestId(id)) return { ok: false, id: readableId(value), reason: requestIdFault(id) };
  const unknown = unknownField(value, shape);
  return unknown === null ? { ok: true, id, object: value } : { ok: false, id, reason: unknown };
}

/** `Object.hasOwn`, so that no inherited name counts as a field. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The name of a robot or an alarm in a field; or what is wrong with it. */
type ReadName =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly reason: string };

export function readName(object: JsonObject, field: string): ReadName {
  const name = own(object, field);
  if (name === undefined) return { ok: false, reason: `${field}: is missing` };
  return typeof name === "string" && name !== "" && name.length <= LONGEST_NAME
    ? { ok: true, name }
    : { ok: false, reason: `${field}: must be text of 1 to ${LONGEST_NAME} characters` };
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

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

function unknownField(object: JsonObject, { kind, fields }: MessageShape): string | null {
  const name = Object.keys(object).find((key) => !fields.includes(key));
  if (name === undefined) return null;
  const all = fields.length === 1 ? fields[0] : `${fields.slice(0, -1).join(", ")} and ${fields.at(-1)}`;
  return `${quoted(name)}: is not a field of a ${kind}; it has ${all}`;
}

/**
 * The topic of the answer to a message: its own response topic if the client may have it, otherwise by its
 * id.
 */
export function replyTo(
  topics: Topics,
  { client, operation }: Asking,
  packet: IPublishPacket,
  id: string | null,
): ReplyTo {
  const { responseTopic, correlationData } = packet.properties ?? {};
  const isOwn = responseTopic !== undefined && answerProblem(topics, client, packet) === null;
  return {
    client,
    operation,
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
