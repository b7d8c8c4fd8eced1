import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { quoted } from "../../domain/foreign-text.ts";
import { jsonFault } from "../../domain/outcome.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";

/** A JSON object with known fields, or what is wrong with it. */
export type ReadBody =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** A JSON value, or what is wrong with it. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/** How long a request may take to arrive. */
export const REQUEST_TIMEOUT_MS = 5_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Passes JSON bodies to the routes as bytes, for `readBody`. Any other type is refused with 415. */
export function addJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", readBytes);
}

class BodyFault extends Error {
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/**
 * Reads into one buffer: over HTTP/2 a body may come as frames of one byte, each of which would take many
 * times its size in memory.
 */
function readBytes({ headers, routeOptions }: FastifyRequest, body: IncomingMessage): Promise<Buffer> {
  const length = Number(headers["content-length"] ?? Number.NaN);
  const { bodyLimit = 0 } = routeOptions;
  if (Number.isNaN(length)) return Promise.reject(new BodyFault(411, "send a body with content-length"));
  if (length > bodyLimit)
    return Promise.reject(new BodyFault(413, `the body is too large: send at most ${bodyLimit} bytes`));
  const bytes = Buffer.alloc(length);
  return new Promise((resolve, reject) => {
    let at = 0;
    // HTTP/1.1 has a bound of its own.
    const timer = setTimeout(
      () => reject(new BodyFault(408, "the request took too long to arrive")),
      REQUEST_TIMEOUT_MS,
    );
    const settle = (end: () => void) => () => {
      clearTimeout(timer);
      end();
    };
    body.on("data", (chunk: Buffer) => {
      at += chunk.copy(bytes, at);
    });
    body.once(
      "end",
      settle(() => resolve(bytes.subarray(0, at))),
    );
    body.once(
      "close",
      settle(() => reject(new BodyFault(400, "the body ends before its content-length"))),
    );
    body.once(
      "error",
      settle(() => reject(new BodyFault(400, "the body did not arrive"))),
    );
  });
}

/** Repeated keys and bytes that are not UTF-8 are refused. */
export function readJsonBody(body: unknown): ReadJson {
  const text = textOf(body);
  if (text === null) return { ok: false, reason: "the body is not UTF-8" };
  const read = readJson(text);
  if (read.ok) return read;
  const { path, message } = jsonFault(read);
  return { ok: false, reason: path === "" ? `the body ${message}` : `${path}: ${message}` };
}

/** Reads a body strictly: an unknown field is refused too. */
export function readBody(body: unknown, fields: readonly string[]): ReadBody {
  const refused = (reason: string): ReadBody => ({ ok: false, reason });
  const read = readJsonBody(body);
  if (!read.ok) return read;
  const { value } = read;
  if (!isJsonObject(value)) return refused(`the body must be a JSON object with ${fields.join(", ")}`);
  const unknown = Object.keys(value).find((key) => !fields.includes(key));
  if (unknown !== undefined) return refused(`${quoted(unknown)}: is not one of ${fields.join(", ")}`);
  return { ok: true, object: value };
}

function textOf(body: unknown): string | null {
  try {
    return body instanceof Uint8Array ? utf8.decode(body) : "";
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
