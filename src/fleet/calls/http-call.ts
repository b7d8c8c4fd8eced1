import { type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import type { CallEnding } from "../../contracts/fleet-port.ts";
import { errorText } from "../error-text.ts";
import { type Http, NothingSent } from "../http.ts";
import { okEndingOfJson } from "../operations/answer.ts";
import type { Method } from "../operations/row.ts";
import { codeOfHttp, messageOfHttp, unhappyEnding } from "./ending.ts";

/** The method, URL and body of a request over HTTPS. */
export interface HttpShape {
  readonly path: string;
  readonly body: string | null;
}

/** Sends one operation over HTTPS, once. Never rejects. */
export async function callHttp(
  http: Http,
  baseUrl: string,
  method: Method,
  request: Message,
  jwt: string,
  leaves: () => boolean,
  times: { readonly deadlineMs: number; readonly leaveWithinMs: number },
  signal: AbortSignal,
): Promise<CallEnding> {
  const { path, body } = httpShape(method, request);
  try {
    const answer = await http.send({
      verb: method.route.verb,
      url: `${baseUrl}${path}`,
      headers: { authorization: `Bearer ${jwt}` },
      body,
      ...times,
      signal,
      reads: method.reads,
      leaves,
    });
    if (answer.status !== 200) {
      const code = codeOfHttp(answer.status, answer.headers);
      return unhappyEnding(code, messageOfHttp(answer.status, answer.headers, String(answer.bytes)));
    }
    return await readAnswer(method, String(answer.bytes));
  } catch (error) {
    const message = errorText(error);
    if (error instanceof NothingSent) return { kind: "not_sent", message };
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    return { kind: "unknown", code: timedOut ? "DEADLINE_EXCEEDED" : "UNAVAILABLE", message };
  }
}

/**
 * `{field}` in the path is replaced by that field; the other fields travel in the query string or in a JSON
 * body.
 */
export function httpShape(method: Method, request: Message): HttpShape {
  const { desc, route } = method;
  const fields = toJson(desc.input, request, { alwaysEmitImplicit: true }) as JsonObject;
  const rest: Record<string, JsonObject[string]> = { ...fields };
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const jsonName = desc.input.fields.find((field) => field.name === name)?.jsonName ?? name;
    const value = rest[jsonName];
    delete rest[jsonName];
    return encodeURIComponent(String(value));
  });
  if (route.inQuery) return { path: `${path}${queryOf(method, rest)}`, body: null };
  if (route.verb === "GET") return { path, body: null };
  return { path, body: JSON.stringify(rest) };
}

/** Lists become repeated parameters (docs/internals/service.md, END-05). */
function queryOf({ desc }: Method, fields: JsonObject): string {
  const query = new URLSearchParams();
  for (const field of desc.input.fields) {
    const value = fields[field.jsonName];
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) query.append(field.name, String(item));
    }
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

async function readAnswer({ desc, hasGrpc }: Method, text: string): Promise<CallEnding> {
  try {
    return await okEndingOfJson(desc.output, text, hasGrpc);
  } catch (error) {
    // The parser's error quotes the text.
    return { kind: "unknown", code: "DATA_LOSS", message: `the answer cannot be read: ${errorText(error)}` };
  }
}
