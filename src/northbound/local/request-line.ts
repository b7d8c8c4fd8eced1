import { quoted } from "../../domain/clip.ts";
import { expiryTimeFault, idFault, isExpiryTime, isPlainText, jsonFault } from "../../domain/refusals.ts";
import { dateTimeMs } from "../../platform/date-time.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";

/** A line that asks for a command; whether the operation likes the request is another matter. */
export interface RequestLine {
  readonly id: string;
  readonly operation: string;
  readonly request: JsonObject;
  /** Wall time in milliseconds; null when the line named none. */
  readonly expiresAtMs: number | null;
  /** From its receipt; null when the line named none. */
  readonly expiresInMs: number | null;
  /** Who sends it, as the client says: `local` where it says nothing. */
  readonly user: string;
}

/** A line that ends the lease of a robot, of any station: for engineers. */
export interface OverrideLine {
  readonly id: string;
  /** The robot, by robot_id. */
  readonly override: string;
  readonly user: string;
}

/** A line that begins or lifts a hold. */
export interface HoldLine {
  readonly id: string;
  readonly hold: {
    /** Null: all robots. */
    readonly robotId: string | null;
    readonly isHeld: boolean;
    /** Whose hold is lifted; absent: the sender's own. */
    readonly user?: string;
  };
  readonly user: string;
}

/** What became of a line. `id` is the line's own where it could be read: then it can be answered. */
export type ReadLine =
  | { readonly ok: true; readonly line: RequestLine | OverrideLine | HoldLine }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

const ID_LIMIT = 128;
const USER_LIMIT = 64;
const ROBOT_LIMIT = 256;
const DEPTH_LIMIT = 64;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const known = [
  "id",
  "operation",
  "request",
  "expires_at",
  "user",
  "override",
  "hold",
  "expires_in_ms",
] as const;

/**
 * Reads `{"id","operation","request":{…},"expires_in_ms"?,"expires_at"?,"user"?}`, `{"id","override","user"?}`, or
 * `{"id","hold":{"robot_id"?,"hold":true|false,"user"?},"user"?}`, strictly:
 * what is not understood is refused, never ignored.
 */
export function readRequestLine(bytes: Uint8Array): ReadLine {
  const parsed = parse(bytes);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!isJsonObject(value))
    return { ok: false, id: null, reason: `the line must be a JSON object with ${known.join(", ")}` };
  const [id, operation, request, expiry, user, override, hold, expiresIn] = known.map((name) =>
    own(value, name),
  );
  const refused = (reason: string): ReadLine => ({ ok: false, id: readableId(id), reason });
  const stranger = Object.keys(value).find((key) => !known.some((name) => name === key));
  if (stranger !== undefined) return refused(`${quoted(stranger)}: is not one of ${known.join(", ")}`);
  if (!isPlainText(id, ID_LIMIT)) return refused(idFault(id, ID_LIMIT));
  if (user !== undefined && !isUser(user))
    return refused(`user: must be text of 1 to ${USER_LIMIT} printable characters without /`);
  const by = user ?? "local";
  if (hold !== undefined) {
    if ([operation, request, expiry, override, expiresIn].some((value) => value !== undefined))
      return refused("hold: stands beside no operation, request, expiry or override");
    const asked = readHold(hold);
    return typeof asked === "string" ? refused(asked) : { ok: true, line: { id, hold: asked, user: by } };
  }
  if (override !== undefined) {
    if (operation !== undefined || request !== undefined || expiry !== undefined || expiresIn !== undefined)
      return refused("override: stands beside no operation, request or expiry");
    if (!isPlainText(override, ROBOT_LIMIT))
      return refused(`override: must be a robot_id of 1 to ${ROBOT_LIMIT} printable characters`);
    return { ok: true, line: { id, override, user: by } };
  }
  if (typeof operation !== "string") return refused("operation: must be the name of one");
  if (!isJsonObject(request)) return refused("request: must be an object");
  if (deeperThan(request, DEPTH_LIMIT))
    return refused(`request: is nested more than ${DEPTH_LIMIT} levels deep`);
  const expiresAtMs = expiry === undefined ? null : dateTimeMs(expiry);
  if (expiry !== undefined && expiresAtMs === null)
    return refused("expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z");
  if (expiresIn !== undefined && !isExpiryTime(expiresIn)) return refused(expiryTimeFault);
  const expiresInMs = expiresIn ?? null;
  return { ok: true, line: { id, operation, request, expiresAtMs, expiresInMs, user: by } };
}

/** What is asked of a hold, or what is wrong with it. No robot_id: all robots. */
function readHold(value: unknown): HoldLine["hold"] | string {
  if (!isJsonObject(value)) return "hold: must be an object with robot_id, hold and user";
  const stranger = Object.keys(value).find((key) => !["robot_id", "hold", "user"].includes(key));
  if (stranger !== undefined) return `hold: ${quoted(stranger)} is not one of robot_id, hold and user`;
  const [robotId, isHeld, user] = ["robot_id", "hold", "user"].map((name) => own(value, name));
  if (robotId !== undefined && !isPlainText(robotId, ROBOT_LIMIT))
    return `hold.robot_id: must be text of 1 to ${ROBOT_LIMIT} printable characters`;
  if (typeof isHeld !== "boolean") return "hold.hold: must be true or false";
  if (user === undefined) return { robotId: robotId ?? null, isHeld };
  if (isHeld || typeof user !== "string")
    return "hold.user: must be text, as opcua:plc1, beside hold false: it names whose hold is lifted";
  return { robotId: robotId ?? null, isHeld, user };
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

function parse(bytes: Uint8Array): Parsed {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, id: null, reason: "the line is not UTF-8" };
    throw error;
  }
  const read = readJson(text);
  if (read.ok) return read;
  const { path, message } = jsonFault(read);
  const reason = path === "" ? `the line ${message}` : `${path}: ${message}`;
  // With two ids nobody knows whose command is refused.
  const isNamed = read.kind === "repeated" && isJsonObject(read.value) && !read.atTop.has("id");
  return { ok: false, id: isNamed ? readableId(own(read.value, "id")) : null, reason };
}

function readableId(id: unknown): string | null {
  return typeof id === "string" && id.length <= ID_LIMIT ? id : null;
}

/** `Object.hasOwn`, so that no inherited name is taken for a field. */
function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A slash parts a name from a request id in a command's identity. */
function isUser(value: unknown): value is string {
  return isPlainText(value, USER_LIMIT) && !value.includes("/");
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => deeperThan(inner, levels - 1));
}
