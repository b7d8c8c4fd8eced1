import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A host without the brackets that an IPv6 address has in a URL. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** A host for a URL: an IPv6 address gets brackets, unless it has them. */
export function urlHost(host: string): string {
  const bare = bareHost(host);
  return isIP(bare) === 6 ? `[${bare}]` : host;
}

/** Whether `host` is an address that only programs of this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = bareHost(host);
  if (bare === "localhost") return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}
