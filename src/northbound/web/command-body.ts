import { expiryTimeFault, isExpiryTime } from "../../domain/refusals.ts";
import { dateTimeMs } from "../../platform/date-time.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readBody } from "./request-body.ts";

/** The body of `PUT /api/v1/commands/{id}`: well-formed, whether or not the operation takes the request. */
export interface CommandBody {
  readonly operation: string;
  readonly request: JsonObject;
  /** Wall time in milliseconds; null when the body named none. */
  readonly expiresAtMs: number | null;
  /** From its receipt; null when the body named none. */
  readonly expiresInMs: number | null;
}

export type ReadCommandBody =
  | { readonly ok: true; readonly body: CommandBody }
  | { readonly ok: false; readonly reason: string };

const MOST_LEVELS = 64;
const fields = ["operation", "request", "expires_at", "expires_in_ms"] as const;

/** Reads `{"operation","request":{…},"expires_at"?,"expires_in_ms"?}`. */
export function readCommandBody(bytes: unknown): ReadCommandBody {
  const read = readBody(bytes, fields);
  if (!read.ok) return read;
  const [operation, request, expiresAt, expiresInMs = null] = fields.map((name) =>
    Object.hasOwn(read.object, name) ? read.object[name] : undefined,
  );
  const refused = (reason: string): ReadCommandBody => ({ ok: false, reason });
  if (typeof operation !== "string") return refused("operation: must be the name of one");
  if (!isJsonObject(request)) return refused("request: must be an object");
  if (deeperThan(request, MOST_LEVELS))
    return refused(`request: is nested more than ${MOST_LEVELS} levels deep`);
  const expiresAtMs = expiresAt === undefined ? null : dateTimeMs(expiresAt);
  if (expiresAt !== undefined && expiresAtMs === null)
    return refused("expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z");
  if (expiresInMs !== null && !isExpiryTime(expiresInMs)) return refused(expiryTimeFault);
  return { ok: true, body: { operation, request, expiresAtMs, expiresInMs } };
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => deeperThan(inner, levels - 1));
}
