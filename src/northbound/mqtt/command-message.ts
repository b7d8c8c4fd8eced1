import { expiryTimeFault, isExpiryTime } from "../../domain/refusals.ts";
import { dateTimeMs } from "../../platform/date-time.ts";
import { type MessageShape, own, readObject } from "./message.ts";

/** A command message that has its shape. Its request is for the intake to read. */
export interface CommandMessage {
  readonly id: string;
  /** Wall time in milliseconds; null when the message named none. */
  readonly expiresAtMs: number | null;
  /** From its receipt; null when the message named none. */
  readonly expiresInMs: number | null;
  readonly request: unknown;
}

/** What became of a payload. `id` is the message's own where it could be read: then it can be answered. */
export type ReadMessage =
  | { readonly ok: true; readonly message: CommandMessage }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

const shape: MessageShape = {
  kind: "command",
  fields: ["id", "expires_in_ms", "expires_at", "request"],
  example: '{"id","expires_in_ms"?,"expires_at"?,"request":{…}}',
};

/**
 * Reads `{"id","expires_in_ms"?,"expires_at"?,"request":{…}}` strictly: what is not understood is refused,
 * never ignored.
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
