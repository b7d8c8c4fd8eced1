import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { invalid, type Refusal } from "../refusal.ts";

/** All addresses of a host name. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const LONGEST_URL = 2_048;
const GLOBAL_UNICAST_IPV6 = ipaddr.parseCIDR("2000::/3");

/** A delivery URL: https, without a user name, well-formed. Throws INVALID_ARGUMENT. */
export function readUrl(text: string): URL {
  if (text === "") throw wrongUrl("is required");
  if (text.length > LONGEST_URL) throw wrongUrl(`is longer than ${LONGEST_URL} characters`);
  const url = parseUrl(text);
  if (url === undefined) throw wrongUrl("is no URL");
  if (url.protocol !== "https:") throw wrongUrl("must be https");
  if (url.username !== "" || url.password !== "") throw wrongUrl("must not hold a user name or a password");
  if (url.port === "0") throw wrongUrl("must not name port 0: nothing listens there");
  return url;
}

/**
 * The literal address of a URL's host; undefined: it is a name. The URL parser has already normalised
 * 2130706433 and 0x7f.1.
 */
export function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(host) === 0 ? undefined : host;
}

/** Whether an address belongs to the public internet: global unicast, and no wrapper of another address. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv6 ? parsed.match(GLOBAL_UNICAST_IPV6) : true;
}

/** Checks that a literal address in a URL is public; a name is not looked up. Throws INVALID_ARGUMENT. */
export function checkLiteral(url: URL): void {
  const literal = literalAddress(url);
  if (literal !== undefined) checkPublic([literal]);
}

/**
 * Checks at creation that a URL leads to the public internet, by its literal address, or by every address of
 * its name. Rejects with INVALID_ARGUMENT.
 */
export async function checkReachable(url: URL, resolve: Resolve): Promise<void> {
  const literal = literalAddress(url);
  checkPublic(literal === undefined ? await resolveOrRefuse(url.hostname, resolve) : [literal]);
}

function checkPublic(addresses: readonly string[]): void {
  const wrong = addresses.find((address) => !isPublic(address));
  if (addresses.length === 0 || wrong !== undefined) {
    throw wrongUrl(`leads to ${wrong ?? "no address"}, which is no public address`);
  }
}

async function resolveOrRefuse(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(hostname);
  } catch {
    throw wrongUrl(`has a host, ${hostname}, that does not resolve`);
  }
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function wrongUrl(message: string): Refusal {
  return invalid(`url ${message}`);
}

const MOST_HEADERS = 20;
const MOST_BYTES = 8_192;
const LEGAL_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LEGAL_VALUE = /^(?![ \t])[\t\x20-\x7e\x80-\xff]*(?<![ \t])$/;

/** Headers by which HTTP itself finds the end of a request and its destination. */
const reserved: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Checks custom delivery headers (docs/internals/service.md, WHK-45): at most 20 and 8 kB,
 * legal names and values, no name twice, none that HTTP needs for itself. Throws
 * INVALID_ARGUMENT.
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  if (entries.length > MOST_HEADERS) throw wrongHeaders(`${entries.length} of them; at most ${MOST_HEADERS}`);
  const bytes = entries.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (bytes > MOST_BYTES) throw wrongHeaders(`${bytes} bytes in all; at most ${MOST_BYTES}`);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (!LEGAL_NAME.test(name)) throw wrongHeaders(`${JSON.stringify(name)} is no header name`);
    if (!LEGAL_VALUE.test(value)) throw wrongHeaders(`${name} has a value that no header can have`);
    if (reserved.has(lower)) throw wrongHeaders(`${name} is not for clients to set`);
    if (seen.has(lower)) throw wrongHeaders(`${name} is there twice`);
    seen.add(lower);
  }
}

/** All headers of a delivery: the service's own win, in whatever case a custom one is written. */
export function deliveryHeaders(
  custom: Readonly<Record<string, string>>,
  subscriptionId: string,
  eventId: string,
): Record<string, string> {
  const own: Record<string, string> = {
    "X-Service-Webhook-Id": subscriptionId,
    "X-Service-Webhook-Event-Id": eventId,
    "Content-Type": "application/json",
  };
  const ownNames = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = Object.entries(custom).filter(([name]) => !ownNames.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...own };
}

function wrongHeaders(message: string): Refusal {
  return invalid(`options.headers: ${message}`);
}
