import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";
import { quoted } from "../../domain/clip.ts";
import { bareHost } from "../../platform/url-host.ts";

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
