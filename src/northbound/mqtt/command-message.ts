import { expiryTimeFault, isExpiryTime } from "../../domain/refusals.ts";
import { dateTimeMs } from "../../platform/date-time.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { type MessageShape, own, readObject } from "./message.ts";

/** A command message that has its shape; whether the operation likes the request is another matter. */
export interface CommandMessage {
  readonly id: string;
  /** Wall time in milliseconds; null when the message named none. */
  readonly expiresAtMs: number | null;
  /** From its receipt; null when the message named none. */
  readonly expiresInMs: number | null;
  readonly request: JsonObject;
}

/** What became of a payload. `id` is the message's own where it could be read: then it can be answered. */
export type ReadMessage =
  | { readonly ok: true; readonly message: CommandMessage }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

const DEPTH_LIMIT = 64;
const shape: MessageShape = {
  kind: "command",
  fields: ["id", "expires_in_ms", "expires_at", "request"],
  example: '{"id","expires_in_ms"?,"expires_at"?,"request":{…}}',
};

/** Reads `{"id","expires_in_ms"?,"expires_at"?,"request":{…}}` strictly: what is not understood is refused, never ignored. */
export function readCommandMessage(payload: Uint8Array): ReadMessage {
  const read = readObject(payload, shape);
  if (!read.ok) return read;
  const { id, object } = read;
  const request = own(object, "request");
  if (request === undefined) return { ok: false, id, reason: "request: is missing" };
  if (!isJsonObject(request)) return { ok: false, id, reason: "request: must be an object" };
  if (deeperThan(request, DEPTH_LIMIT))
    return { ok: false, id, reason: `request: is nested more than ${DEPTH_LIMIT} levels deep` };
  const expiry = readExpiry(own(object, "expires_at"));
  if (!expiry.ok) return { ok: false, id, reason: expiry.reason };
  const expiresIn = own(object, "expires_in_ms");
  if (expiresIn !== undefined && !isExpiryTime(expiresIn)) return { ok: false, id, reason: expiryTimeFault };
  return { ok: true, message: { id, expiresAtMs: expiry.atMs, expiresInMs: expiresIn ?? null, request } };
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
