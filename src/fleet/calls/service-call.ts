import { type JsonObject, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { type Client, type ServiceError, status } from "@grpc/grpc-js";
import type { CallEnding } from "../../contracts/fleet-port.ts";
import { type GrpcCodeName, grpcCodeNames } from "../../domain/errors.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import { asIs, authorization, isNoGrpc, withoutStack } from "../channels/grpc-js.ts";
import { errorText, serviceText } from "../error-text.ts";
import { type Http, type HttpAnswer, NothingSent } from "../http.ts";
import { okEndingOf, okEndingOfJson } from "../operations/answer.ts";
import type { Method } from "../operations/row.ts";

/** Endings that grpc-js makes up after the service had answered: they prove no refusal. */
const madeUpHere: ReadonlySet<string> = new Set(["No message received", "Too many responses received"]);

/** How grpc-js ends the calls of a connection that is gone, or that it has given up itself. */
const DROPPED = "Connection dropped";

/** Whether a call has ended without a word of the service, which may not have received it yet. */
export function isUnanswered(ending: CallEnding): boolean {
  return ending.kind === "unknown" && (ending.code === "DEADLINE_EXCEEDED" || ending.message === DROPPED);
}

/** Sends one unary call on a READY connection, once. Never rejects. */
export function callGrpc(
  client: Client,
  serviceName: string,
  method: Method,
  request: Message,
  jwt: string,
  deadlineMs: number,
): Promise<CallEnding> {
  const { desc } = method;
  const bytes = Buffer.from(toBinary(desc.input, request));
  return new Promise((resolve) => {
    const begin = () =>
      client.makeUnaryRequest(
        `/${serviceName}/${method.name}`,
        asIs,
        asIs,
        bytes,
        authorization(jwt),
        { deadline: new Date(Date.now() + deadlineMs) },
        (error, answer) => {
          if (error !== null) {
            resolve(unhappyEnding(codeOf(error), serviceText(error.details)));
          } else resolve(readGrpcAnswer(method, answer ?? Buffer.alloc(0)));
        },
      );
    try {
      withoutStack(begin);
    } catch (error) {
      // The channel was closed in this very moment: it accepts no call, and nothing has left.
      resolve({ kind: "not_sent", message: errorText(error) });
    }
  });
}

/**
 * Only the service's own refusal proves that nothing was done. A token is refused before anything else is
 * looked at.
 */
function codeOf({ code, details }: ServiceError): GrpcCodeName {
  const isMadeUp = madeUpHere.has(details) || (isNoGrpc(details) && code !== status.UNAUTHENTICATED);
  return isMadeUp ? "UNKNOWN" : codeName(code ?? status.UNKNOWN);
}

async function readGrpcAnswer({ desc }: Method, bytes: Buffer): Promise<CallEnding> {
  try {
    return await okEndingOf(desc.output, bytes);
  } catch (error) {
    return { kind: "unknown", code: "DATA_LOSS", message: `the answer cannot be read: ${errorText(error)}` };
  }
}

/** The method, URL and body of a request over HTTPS. */
interface HttpShape {
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
    // An operation without an answer may be answered 204.
    if (answer.status < 200 || answer.status > 299) {
      const { code, message } = errorOfHttp(answer);
      return unhappyEnding(code, message);
    }
    return await readHttpAnswer(method, await textPieces(answer.parts));
  } catch (error) {
    const message = errorText(error);
    if (error instanceof NothingSent) return { kind: "not_sent", message };
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    return { kind: "unknown", code: timedOut ? "DEADLINE_EXCEEDED" : "UNAVAILABLE", message };
  }
}

/** So many bytes are decoded at once. A map has megabytes. */
const DECODED_BYTES = 64 * 1024;

/** The text of a body in pieces, decoded in time slices. */
async function textPieces(parts: readonly Buffer[]): Promise<readonly string[]> {
  const slices = createTimeSlices();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces: string[] = [];
  let waiting: Buffer[] = [];
  let bytes = 0;
  for (const part of parts) {
    waiting.push(part);
    bytes += part.length;
    if (bytes < DECODED_BYTES) continue;
    pieces.push(decoder.decode(Buffer.concat(waiting), { stream: true }));
    waiting = [];
    bytes = 0;
    await slices.next();
  }
  return [...pieces, decoder.decode(Buffer.concat(waiting))];
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

async function readHttpAnswer({ desc, hasGrpc }: Method, pieces: readonly string[]): Promise<CallEnding> {
  try {
    return await okEndingOfJson(desc.output, pieces, hasGrpc);
  } catch (error) {
    // The parser's error quotes the text.
    return { kind: "unknown", code: "DATA_LOSS", message: `the answer cannot be read: ${errorText(error)}` };
  }
}

/** The service's explicit refusals. No other code proves that nothing was done. */
const refusals: ReadonlySet<GrpcCodeName> = new Set([
  "INVALID_ARGUMENT",
  "FAILED_PRECONDITION",
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "UNIMPLEMENTED",
]);

/** The ending of a call without success. */
function unhappyEnding(code: GrpcCodeName, message: string): CallEnding {
  return refusals.has(code) ? { kind: "refused", code, message } : { kind: "unknown", code, message };
}

/** The name of a code; an unknown number is UNKNOWN, as gRPC says. */
function codeName(number: number): GrpcCodeName {
  return grpcCodeNames[number] ?? "UNKNOWN";
}

/** A longer body is no error of the service's, and is not read. */
const LONGEST_ERROR_BODY = 64 * 1024;

const codeOfStatus: ReadonlyMap<number, GrpcCodeName> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ABORTED"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
]);

/**
 * The code and the message, without secrets, of an HTTP answer that is no success
 * (docs/internals/service.md, ERR-59): its headers, which are percent-encoded, else its status and the
 * message of its body. A status without a meaning here is UNKNOWN. So is a refusal that has neither the
 * service's header nor an object as body: a balancer gives it, and the service has judged only the token.
 */
export function errorOfHttp({ status, headers, parts }: HttpAnswer): {
  readonly code: GrpcCodeName;
  readonly message: string;
} {
  const number = Number(headers["grpc-status"] ?? Number.NaN);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const body = length > LONGEST_ERROR_BODY ? null : parsedJson(String(Buffer.concat(parts)));
  const hasCode = Number.isInteger(number) && number > 0;
  const code = hasCode ? codeName(number) : (codeOfStatus.get(status) ?? "UNKNOWN");
  const isPage = !hasCode && !isJsonObject(body) && code !== "UNAUTHENTICATED";
  return { code: isPage && refusals.has(code) ? "UNKNOWN" : code, message: messageOf(status, headers, body) };
}

function messageOf(status: number, headers: HttpAnswer["headers"], body: unknown): string {
  const header = headers["grpc-message"];
  if (header !== undefined) return serviceText(decodePercent(header));
  const message = isJsonObject(body) ? body.message : null;
  return typeof message === "string" ? serviceText(message) : `HTTP ${status}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not every server encodes it; then it is the text itself.
    return text;
  }
}
