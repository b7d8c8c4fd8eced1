import { quoted } from "../../domain/clip.ts";
import { jsonFault } from "../../domain/refusals.ts";
import { dateTimeMs } from "../../platform/date-time.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";

/** A command message that has its shape; whether the operation likes the request is another matter. */
export interface CommandMessage {
  readonly id: string;
  /** Wall time in milliseconds; null when the message named none. */
  readonly expiresAtMs: number | null;
  readonly request: JsonObject;
}

/** What became of a payload. `id` is the message's own where it could be read: then it can be answered. */
export type ReadMessage =
  | { readonly ok: true; readonly message: CommandMessage }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

/** The largest command payload in bytes. */
export const COMMAND_LIMIT_BYTES = 256 * 1024;

const ID_LIMIT = 128;
const READABLE_ID_LIMIT = 1_000;
const DEPTH_LIMIT = 64;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const known = new Set(["id", "expires_at", "request"]);

/** Reads `{"id","expires_at"?,"request":{…}}` strictly: what is not understood is refused, never ignored. */
export function readCommandMessage(payload: Uint8Array): ReadMessage {
  if (payload.byteLength > COMMAND_LIMIT_BYTES)
    return refused(
      null,
      `the message has ${payload.byteLength} bytes; at most ${COMMAND_LIMIT_BYTES} are read`,
    );
  const parsed = parse(payload);
  if (!parsed.ok) return refused(parsed.id, parsed.reason);
  const { value } = parsed;
  if (!isJsonObject(value))
    return refused(null, 'the message must be a JSON object {"id","expires_at"?,"request":{…}}');
  const id = readableId(value);
  const problem = idProblem(value) ?? unknownField(value) ?? requestProblem(value);
  if (problem !== null || id === null) return refused(id, problem ?? "id: is missing");
  const expiry = readExpiry(own(value, "expires_at"));
  if (!expiry.ok) return refused(id, expiry.reason);
  const request = own(value, "request");
  if (!isJsonObject(request)) return refused(id, "request: must be an object");
  return { ok: true, message: { id, expiresAtMs: expiry.atMs, request } };
}

function refused(id: string | null, reason: string): ReadMessage {
  return { ok: false, id, reason };
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

/** `Object.hasOwn`, so that no inherited name is taken for a field. */
function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** An id that an answer can carry, also where it is not one that a command may have. */
function readableId(object: JsonObject): string | null {
  const id = own(object, "id");
  if (typeof id === "number") return String(id);
  return typeof id === "string" && id !== "" && id.length <= READABLE_ID_LIMIT ? id : null;
}

function idProblem(object: JsonObject): string | null {
  const id = own(object, "id");
  if (id === undefined) return "id: is missing";
  if (typeof id !== "string") return "id: must be text";
  if (id === "" || id.length > ID_LIMIT) return `id: must have 1 to ${ID_LIMIT} characters`;
  if (/[\p{Cc}\p{Surrogate}]/u.test(id))
    return "id: must not hold control characters or half surrogate pairs";
  return null;
}

function unknownField(object: JsonObject): string | null {
  const name = Object.keys(object).find((key) => !known.has(key));
  return name === undefined
    ? null
    : `${quoted(name)}: is not a field of a command; it has id, expires_at and request`;
}

function requestProblem(object: JsonObject): string | null {
  const request = own(object, "request");
  if (request === undefined) return "request: is missing";
  if (!isJsonObject(request)) return "request: must be an object";
  return deeperThan(request, DEPTH_LIMIT) ? `request: is nested more than ${DEPTH_LIMIT} levels deep` : null;
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => deeperThan(inner, levels - 1));
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
