import type { Envelope, Expiry } from "../../contracts/commander.ts";
import { quoted } from "../../domain/clip.ts";
import { expiryTimeFault, isExpiryTime } from "../../domain/refusals.ts";
import { dateTimeMs } from "../../platform/clock.ts";
import { readBody } from "./request-body.ts";
import type { SenderOf } from "./sender.ts";

const fields = ["operation", "request", "expires_at", "expires_in_ms", "tick", "asked_by"] as const;

/** Checks the times of a command. */
export type CheckTick = (tick: string | null, hasExpiry: boolean) => Pick<Expiry, "lacks" | "late">;

/** Reads `{"operation","request":{…},"expires_at"?,"expires_in_ms"?,"tick"?,"asked_by"?}`. */
export function readEnvelope(
  [source, wrongSender]: ReturnType<SenderOf>,
  requestId: string,
  bytes: unknown,
  checkTick: CheckTick,
): Envelope {
  const read = readBody(bytes, fields);
  const value = (name: (typeof fields)[number]) =>
    read.ok && Object.hasOwn(read.object, name) ? read.object[name] : undefined;
  const [operation, expiresAt] = [value("operation"), value("expires_at")];
  const [withinMs, tick = null] = [value("expires_in_ms"), value("tick")];
  const atMs = expiresAt === undefined ? null : dateTimeMs(expiresAt);
  const envelope = { source, requestId, operation: typeof operation === "string" ? operation : "" };
  const unreadable = (problem: string): Envelope => ({ ...envelope, request: { unreadable: problem } });
  if (wrongSender !== null) return unreadable(wrongSender);
  if (!read.ok) return unreadable(read.reason);
  if (typeof operation !== "string") return unreadable("operation: must be the name of one");
  if (expiresAt !== undefined && atMs === null)
    return unreadable("expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z");
  if (withinMs !== undefined && !isExpiryTime(withinMs)) return unreadable(expiryTimeFault);
  if (tick !== null && typeof tick !== "string") return unreadable("tick: must be the id of a tick, as text");
  const askedBy = value("asked_by");
  // Another user may have logged in with this browser: then it would be another command.
  if (askedBy !== undefined && askedBy !== source.name)
    return unreadable(`asked_by: this log-in is ${quoted(source.name)}; log in as the user who asks`);
  const faults = checkTick(tick, atMs !== null || withinMs !== undefined);
  const expiry = { atMs, withinMs: withinMs ?? null, ...faults };
  return { ...envelope, request: { json: value("request") }, expiry };
}
