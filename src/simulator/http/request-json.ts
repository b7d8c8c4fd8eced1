import type { FastifyReply } from "fastify";
import { messageOf } from "../../platform/error-text.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import { httpStatus, Refusal } from "../refusal.ts";
import { statusHeaders } from "../status.ts";

/** The parts of an HTTP request that become an operation's message. */
export interface RequestParts {
  /** The body's bytes; undefined or empty: there is none. */
  readonly body: unknown;
  /** Values taken from the path, by field name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly isQueryMeant: boolean;
}

/** The JSON of an operation's request. Throws INVALID_ARGUMENT. */
export function requestJson({ body, params, query, isQueryMeant }: RequestParts): Json {
  const fields = isQueryMeant ? queryFields(query) : bodyFields(body);
  for (const [name, value] of Object.entries(params)) {
    if (!/^-?\d{1,20}$/.test(value)) throw invalid(`${name} in the path is no integer`);
    for (const spelling of [name, toCamelCase(name)]) {
      if (Object.hasOwn(fields, spelling) && !isText(fields[spelling], value)) {
        throw invalid(`${name} is ${value} in the path and something else in the body`);
      }
      delete fields[spelling];
    }
    fields[name] = Number(value);
  }
  return fields;
}

/** A query has each value as a list. */
function isText(given: unknown, text: string): boolean {
  const values = [given].flat();
  const [only] = values;
  return values.length === 1 && (typeof only === "string" || typeof only === "number") && `${only}` === text;
}

function bodyFields(body: unknown): Record<string, Json> {
  const parsed = parseBody(body) ?? {};
  if (!isJsonObject(parsed)) throw invalid("the body is no JSON object");
  return { ...parsed };
}

/** Parses a body; undefined: there is none. Throws INVALID_ARGUMENT if it is no JSON. */
export function parseBody(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw invalid(`the body is no JSON: ${messageOf(error)}`);
  }
}

/** Lists may be given by repeating the key, by commas, or both (docs/internals/service.md, END-05). */
function queryFields(query: RequestParts["query"]): Record<string, Json> {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(query)) {
    fields[name] = [value]
      .flat()
      .flatMap((each) => each.split(","))
      .filter((each) => each !== "");
  }
  return fields;
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function invalid(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENT", message);
}

/**
 * Answers with a refusal: the HTTP status of its code (or `status`), the two
 * gRPC headers, and `{"code","message"}` (docs/internals/service.md, ERR-59).
 */
export function refuse(
  reply: FastifyReply,
  refusal: Refusal,
  status = httpStatus[refusal.code],
): FastifyReply {
  return reply
    .code(status)
    .headers(statusHeaders(refusal.code, refusal.message))
    .send({ code: refusal.code, message: refusal.message });
}
