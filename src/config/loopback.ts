import ipaddr from "ipaddr.js";

/** Whether only programs of this machine can reach what listens on `host`, or is reached at it. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (bare === "localhost") return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}
