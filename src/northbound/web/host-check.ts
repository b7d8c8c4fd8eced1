import { X509Certificate } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";
import { quoted } from "../../domain/foreign-text.ts";
import { bareHost, isLoopback, urlHost } from "../../platform/url-host.ts";
import { sendProblem } from "./problem.ts";

/** The parts of a request that name its host. */
export interface AddressedRequest {
  /** The Host header; HTTP/1.0 allows a request without it. */
  readonly host: string | undefined;
  /** The address of this machine that received it. */
  readonly localAddress: string | undefined;
}

/**
 * Why a request is refused, as a sentence for its sender; null: it is answered. A foreign website may give
 * its own name the address of this gateway (DNS rebinding), and a browser then lets the site read the
 * answers. The Host header has the site's name.
 *
 * @param hostnames the names of this gateway in the configuration
 */
export function misdirected(
  { host, localAddress }: AddressedRequest,
  hostnames: readonly string[],
): string | null {
  if (host === undefined) return null;
  const name = withoutPort(host).toLowerCase().replace(/\.$/, "");
  if (name === "localhost" || hostnames.some((known) => bareHost(known).toLowerCase() === name)) return null;
  if (ipaddr.isValid(name)) {
    const address = ipaddr.process(name);
    if (address.range() === "loopback") return null;
    if (localAddress !== undefined && ipaddr.process(localAddress).toString() === address.toString())
      return null;
  }
  return `this gateway does not answer for the host ${quoted(name)}: use its address, or add the name to web.hostnames in its configuration`;
}

/** The host that a request names. HTTP/2 has a header of its own for it, and may have both. */
export function hostIn(headers: IncomingHttpHeaders): string | undefined {
  return headers[":authority"] === undefined ? headers.host : String(headers[":authority"]);
}

function withoutPort(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host);
  return bracketed?.[1] ?? host.replace(/:\d*$/, "");
}

/** Where a browser finds the console. */
export interface PagePlace {
  readonly host: string;
  readonly port: number;
  /** The names of this gateway in the configuration. */
  readonly hostnames: readonly string[];
  /** The addresses of this machine for others, if it listens on all. */
  readonly addresses: readonly string[];
  /** PEM; null: without TLS. */
  readonly certificate: string | null;
}

/** The URL that a browser would use, with a name or address that the certificate has, if there is one. */
export function pageUrl({ host, port, hostnames, addresses, certificate }: PagePlace): string {
  const isOnAll = host === "0.0.0.0" || bareHost(host) === "::";
  const hosts = isLoopback(host) ? [host] : [...hostnames, ...(isOnAll ? addresses : [host])];
  const shown = certificate === null ? null : new X509Certificate(certificate);
  const known = hosts
    .map(bareHost)
    .find((each) => (isIP(each) === 0 ? shown?.checkHost(each) : shown?.checkIP(each)) !== undefined);
  const scheme = shown === null ? "http" : "https";
  return new URL(`${scheme}://${urlHost(known ?? hosts[0] ?? "localhost")}:${port}`).origin;
}

interface Address {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/**
 * Refuses a method that a known address does not have, with 405 and `Allow` (RFC 9110, 15.5.6). The framework
 * alone would answer as for an unknown address. Call it before the routes are added.
 */
export function addMethodCheck(server: FastifyInstance): void {
  const addresses = new Map<string, Address>();
  server.addHook("onRoute", ({ url, method }) => {
    const known = addresses.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    addresses.set(url, known);
    for (const each of [method].flat()) known.methods.add(each);
  });
  // Before the body is read: its content does not matter.
  server.addHook("onRequest", async ({ url, method, routeOptions }, reply) => {
    if (routeOptions.url !== undefined) return;
    const [path = ""] = url.split("?", 1);
    const taken = [...addresses.values()].filter(({ pattern }) => pattern.test(path));
    const allowed = [...new Set(taken.flatMap(({ methods }) => [...methods]))].sort().join(", ");
    if (allowed === "") return;
    const detail = `this address does not take ${method}; it takes ${allowed}`;
    return sendProblem(reply.header("allow", allowed), 405, detail);
  });
}

/** Matches the paths of a route, whose parts are texts, `:parameter` or a final `*`. */
function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part.startsWith(":")) return "[^/]+";
    return part === "*" ? ".*" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}
