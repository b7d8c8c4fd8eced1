import { clip } from "../domain/foreign-text.ts";
import { connectFault, connectFaultText, type Peer } from "../platform/connect-fault.ts";
import { messageOf } from "../platform/error-text.ts";
import { bareHost } from "../platform/url-host.ts";

/** OpenSSL's own form: `thread:error:code:library:function:reason:file:line:more`. */
const OPENSSL = /[0-9A-F]+:error:[0-9A-F]+:[^:\n]*:[^:\n]*:([^:\n]*):[^\n]*/gi;

/**
 * An error as one line for health and the log. OpenSSL's messages have a pointer, a source file and a line
 * end, and the pointer differs each time: only their reason is kept. Of several errors (a name with several
 * addresses) the first is enough.
 */
export function errorText(error: unknown): string {
  const one: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = one instanceof Error ? one.message : String(one);
  return serviceText(text.replace(OPENSSL, "TLS: $1").replace(/\s+/g, " ").trim());
}

const HIDDEN = "(hidden)";
/**
 * What follows the name of a scheme in an Authorization header; `<JWT>` in a sentence about it does not
 * match.
 */
const CREDENTIALS = /(Bearer|Basic)((?:\s|%20)+)[\w.~+/=-]+/gi;
/**
 * A JWT or its beginning: base64url of `{"`, `{ "` or `{` and a line end, and the characters after it.
 * Anything may stand before it, `%20` too, so there is no word boundary.
 */
const JWT = /e(?:yJ[\w-]|yAi|w0K|wo[gJK])[\w-]{7,}(?:\.[\w-]*)*/g;
/** The longest message of an outcome. */
const LONGEST = 1_000;
/** An error page may have megabytes; the useful part is at its beginning. */
const LONGEST_LOOKED_AT = 16 * LONGEST;

/**
 * A text from the other side for the log, health, a reply and the audit log. A service, or a proxy before it,
 * may repeat the request's Authorization header: tokens and credentials are hidden, also if they are cut
 * short. The result is one line of readable length.
 */
export function serviceText(text: string): string {
  const shown = clip(text, LONGEST_LOOKED_AT)
    .replace(CREDENTIALS, `$1$2${HIDDEN}`)
    .replace(JWT, HIDDEN)
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ");
  return clip(shown, LONGEST);
}

const KEY = "fleet.proxy.url";

/** The proxy failed, and not the service behind it; the message names the proxy. */
export class ProxyFailed extends Error {
  override readonly name = "ProxyFailed";
}

/** The meaning of an answer to CONNECT other than 200. */
export function proxyAnswer(status: number, address: string): string {
  switch (status) {
    case 407:
      return "the proxy refuses the user (407): correct fleet.proxy.username and the file of fleet.proxy.password";
    case 403:
      return `the proxy does not let through to ${address} (403): let it, or remove fleet.proxy`;
    case 502:
    case 503:
    case 504:
      return `the proxy cannot reach ${address} (${status})`;
    default:
      return `the proxy answers ${status} to a connection to ${address}`;
  }
}

const ofTcp: ReadonlySet<unknown> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** Whether an error of a request through a proxy is the proxy's own: TCP ends there, TLS does not. */
function isOfProxy(error: unknown): boolean {
  return error instanceof Error && "code" in error && ofTcp.has(error.code);
}

/** The proxy itself could not be reached. */
export function proxyFailed(error: unknown, proxyUrl: string): ProxyFailed {
  const { hostname, port } = new URL(proxyUrl);
  const peer = {
    key: `the proxy, ${KEY}`,
    host: bareHost(hostname),
    port: port === "" ? 80 : Number(port),
    caKey: null,
    certificateKey: null,
  };
  return new ProxyFailed(connectFaultText(error, peer, "", messageOf(error)), { cause: error });
}

/** The server of a connection. */
interface Target {
  /** The key of its address, as `fleet.https`. */
  readonly key: string;
  /** `https://host:port`. */
  readonly url: string;
  /** Null: there is no proxy. */
  readonly proxyUrl: string | null;
}

/** undici's message for an answer to CONNECT other than 200. */
const REFUSED_TUNNEL = /^Proxy response \((\d+)\)/;

/**
 * Why a connection to the service could not be made, in one line: the host, its key, and what to do if the
 * reason is known. It changes once a day at most, so that it is one transition in log and health.
 */
export function connectProblem(error: unknown, { key, url, proxyUrl }: Target, nowMs: number): string {
  if (error instanceof ProxyFailed) return serviceText(error.message);
  const { hostname, port } = new URL(url);
  const peer: Peer = {
    key,
    host: bareHost(hostname),
    port: port === "" ? 443 : Number(port),
    caKey: "fleet.ca",
    certificateKey: "fleet.clientCertificate",
  };
  if (proxyUrl !== null) {
    const status = REFUSED_TUNNEL.exec(errorText(error))?.[1];
    if (status !== undefined) return proxyAnswer(Number(status), `${hostname}:${peer.port}`);
    if (isOfProxy(error)) return serviceText(proxyFailed(error, proxyUrl).message);
  }
  const today = new Date(nowMs).toISOString().slice(0, "2026-01-31".length);
  return connectFault(error, peer, today) === null
    ? errorText(error)
    : serviceText(connectFaultText(error, peer, today, ""));
}
