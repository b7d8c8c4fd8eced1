import ipaddr from "ipaddr.js";
import { quoted } from "../../domain/clip.ts";

/** What of a request tells for whom it is. */
export interface AddressedRequest {
  /** The Host header; undefined without one, as HTTP/1.0 allows. */
  readonly host: string | undefined;
  /** The address of this machine at which it came in. */
  readonly localAddress: string | undefined;
}

/**
 * Why a request is not answered, as a sentence for its sender; null when it is. A page of somebody else may give its own name the
 * address of this gateway (DNS rebinding), and a browser then lets it read the answers. Its name is in the Host header.
 *
 * @param hostnames that the configuration gives this gateway
 */
export function misdirected(
  { host, localAddress }: AddressedRequest,
  hostnames: readonly string[],
): string | null {
  if (host === undefined) return null;
  const name = withoutPort(host).toLowerCase().replace(/\.$/, "");
  if (name === "localhost" || hostnames.some((known) => known.toLowerCase() === name)) return null;
  if (ipaddr.isValid(name)) {
    const address = ipaddr.process(name);
    if (address.range() === "loopback") return null;
    if (localAddress !== undefined && ipaddr.process(localAddress).toString() === address.toString())
      return null;
  }
  return `this gateway does not answer for the host ${quoted(name)}: use its address, or add the name to web.hostnames in its configuration`;
}

function withoutPort(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host);
  return bracketed?.[1] ?? host.replace(/:\d*$/, "");
}
