import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { Refusal } from "../refusal.ts";

/** All addresses of a host name. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const LONGEST_URL = 2_048;
const GLOBAL_UNICAST_IPV6 = ipaddr.parseCIDR("2000::/3");

/** A delivery URL: https, without a user name, well-formed. Throws INVALID_ARGUMENT. */
export function readUrl(text: string): URL {
  if (text === "") throw invalid("is required");
  if (text.length > LONGEST_URL) throw invalid(`is longer than ${LONGEST_URL} characters`);
  const url = parseUrl(text);
  if (url === undefined) throw invalid("is no URL");
  if (url.protocol !== "https:") throw invalid("must be https");
  if (url.username !== "" || url.password !== "") throw invalid("must not hold a user name or a password");
  if (url.port === "0") throw invalid("must not name port 0: nothing listens there");
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
    throw invalid(`leads to ${wrong ?? "no address"}, which is no public address`);
  }
}

async function resolveOrRefuse(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(hostname);
  } catch {
    throw invalid(`has a host, ${hostname}, that does not resolve`);
  }
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function invalid(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENT", `url ${message}`);
}
