import type { FastifyInstance } from "fastify";
import { quoted } from "../../domain/clip.ts";
import { jsonFault } from "../../domain/refusals.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";

/** A JSON object with known fields, or what is wrong with it. */
export type ReadBody =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly reason: string };

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Passes JSON bodies to the routes as bytes, for `readBody`. Any other type is refused with 415. */
export function addJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
}

/** Reads a body strictly: unknown fields, repeated keys and bytes that are not UTF-8 are refused. */
export function readBody(body: unknown, fields: readonly string[]): ReadBody {
  const refused = (reason: string): ReadBody => ({ ok: false, reason });
  const text = textOf(body);
  if (text === null) return refused("the body is not UTF-8");
  const read = readJson(text);
  if (!read.ok) {
    const { path, message } = jsonFault(read);
    return refused(path === "" ? `the body ${message}` : `${path}: ${message}`);
  }
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
