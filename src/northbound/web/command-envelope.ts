import type { IncomingHttpHeaders } from "node:http";
import type { Envelope } from "../../contracts/commander.ts";
import { expiryTimeFault, isExpiryTime } from "../../domain/refusals.ts";
import { dateTimeMs } from "../../platform/date-time.ts";
import { readBody } from "./request-body.ts";
import { senderOf } from "./sender.ts";

const fields = ["operation", "request", "expires_at", "expires_in_ms"] as const;

/** Reads `{"operation","request":{…},"expires_at"?,"expires_in_ms"?}` and its sender. */
export function readEnvelope(headers: IncomingHttpHeaders, requestId: string, bytes: unknown): Envelope {
  const [source, wrongSender] = senderOf(headers);
  const read = readBody(bytes, fields);
  const value = (name: (typeof fields)[number]) =>
    read.ok && Object.hasOwn(read.object, name) ? read.object[name] : undefined;
  const [operation, expiresAt] = [value("operation"), value("expires_at")];
  const withinMs = value("expires_in_ms");
  const atMs = expiresAt === undefined ? null : dateTimeMs(expiresAt);
  const envelope = { source, requestId, operation: typeof operation === "string" ? operation : "" };
  const unreadable = (problem: string): Envelope => ({ ...envelope, request: { unreadable: problem } });
  if (wrongSender !== null) return unreadable(wrongSender);
  if (!read.ok) return unreadable(read.reason);
  if (typeof operation !== "string") return unreadable("operation: must be the name of one");
  if (expiresAt !== undefined && atMs === null)
    return unreadable("expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z");
  if (withinMs !== undefined && !isExpiryTime(withinMs)) return unreadable(expiryTimeFault);
  return { ...envelope, request: { json: value("request") }, expiry: { atMs, withinMs: withinMs ?? null } };
}
