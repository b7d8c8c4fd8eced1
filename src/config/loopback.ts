import ipaddr from "ipaddr.js";
import { bareHost } from "../platform/url-host.ts";

/** Whether `host` is an address that only programs of this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = bareHost(host);
  if (bare === "localhost") return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}
