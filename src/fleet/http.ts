import { Agent, type Dispatcher, ProxyAgent, request } from "undici";
import { within } from "../platform/within.ts";
import type { FleetOptions } from "./options.ts";

/** One request to the service over HTTPS. */
export interface HttpRequest {
  readonly verb: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or null for none. */
  readonly body: string | null;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Whether it has no effect, so that it may share a kept connection. */
  readonly reads: boolean;
}

/** Whatever the service answered; every status is an answer. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** It is certain that the request did not leave: no connection could be made. */
export class NothingSent extends Error {
  override readonly name = "NothingSent";
}

/** HTTPS to the service: own CA, client certificate, proxy, and no request ever sent twice. */
export interface Http extends AsyncDisposable {
  /** Rejects with NothingSent, or with whatever cut the request after it may have left. */
  send(request: HttpRequest): Promise<HttpAnswer>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const LARGEST_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Two pools. Requests that the method's name promises to be harmless may share
 * connections; everything else gets a connection of its own, because an HTTP client
 * that finds a kept connection dead may send again what it had sent on it, and
 * FinishTaskChain is a GET that must not be repeated (design, Commands).
 */
export function createHttp(options: Pick<FleetOptions, "tls" | "proxyUrl">): Http {
  const shared = createDispatcher(options, 1);
  const single = createDispatcher(options, 0);
  return {
    send: (what) => send(what, shared, single),
    async [Symbol.asyncDispose]() {
      await Promise.all([shared.destroy(), single.destroy()]);
    },
  };
}

async function send(what: HttpRequest, shared: Dispatcher, single: Dispatcher): Promise<HttpAnswer> {
  try {
    return await within(what.signal, what.deadlineMs, (signal) => exchange(what, shared, single, signal));
  } catch (error) {
    if (isBeforeSending(error)) throw new NothingSent(connectProblem(error), { cause: error });
    throw error;
  }
}

async function exchange(
  what: HttpRequest,
  shared: Dispatcher,
  single: Dispatcher,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const answer = await request(what.url, {
    dispatcher: what.reads ? shared : single,
    method: what.verb as Dispatcher.HttpMethod,
    headers: what.body === null ? what.headers : { "content-type": "application/json", ...what.headers },
    body: what.body,
    idempotent: false,
    headersTimeout: what.deadlineMs,
    bodyTimeout: what.deadlineMs,
    signal,
  });
  return {
    status: answer.statusCode,
    headers: singleHeaders(answer.headers),
    text: await readText(answer.body),
  };
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > LARGEST_ANSWER_BYTES)
      throw new Error(`the answer is larger than ${LARGEST_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function createDispatcher(
  options: Pick<FleetOptions, "tls" | "proxyUrl">,
  pipelining: number,
): Agent | ProxyAgent {
  const tls = {
    ...(options.tls.ca === null ? {} : { ca: options.tls.ca }),
    ...(options.tls.client === null
      ? {}
      : { cert: options.tls.client.certificate, key: options.tls.client.key }),
  };
  const common = { pipelining, allowH2: false, keepAliveTimeout: 4_000 };
  if (options.proxyUrl === null) {
    return new Agent({ ...common, connect: { ...tls, timeout: CONNECT_TIMEOUT_MS } });
  }
  return new ProxyAgent({
    ...common,
    uri: options.proxyUrl,
    requestTls: { ...tls, timeout: CONNECT_TIMEOUT_MS },
  });
}

function singleHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const single: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) single[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return single;
}

const connectCalls: ReadonlySet<string> = new Set(["connect", "getaddrinfo"]);

/** The server's certificate is looked at before a byte of the request leaves. */
const beforeSendingCodes: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Node names a connection that is cut during the TLS handshake by its text alone: its code is that of any cut. */
const CUT_IN_HANDSHAKE = "Client network socket disconnected before secure TLS connection was established";

function isBeforeSending(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ("code" in at && typeof at.code === "string" && beforeSendingCodes.has(at.code)) return true;
    if (at.message === CUT_IN_HANDSHAKE) return true;
    if ("syscall" in at && typeof at.syscall === "string" && connectCalls.has(at.syscall)) return true;
    if (at instanceof AggregateError && at.errors.length > 0 && at.errors.every(isBeforeSending)) return true;
  }
  return false;
}

function connectProblem(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return inner instanceof Error ? inner.message : String(inner);
}
