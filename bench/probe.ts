import { join } from "node:path";
import type { Gateway } from "./gateway.ts";
import { benchFolder, REPLY_TIMEOUT_MS } from "./section-run.ts";

/** What a gateway loads before its program so that it can be asked. */
export const probe = [join(benchFolder, "probe-preload.js")];

export interface ProbeRequest {
  readonly of: "heap" | "loop";
}

/** What a gateway's process holds after a collection. */
export interface Collected {
  readonly heapMb: number;
  readonly rssAnonMb: number;
}

/** In milliseconds, beyond the one in which it looks. */
export interface LoopHeld {
  readonly longestMs: number;
  readonly p99Ms: number;
}

export function collected(gateway: Gateway): Promise<Collected> {
  return ask(gateway, "heap");
}

/** For how long the event loop was held since this was asked before; the first time it begins to look. */
export function loopHeld(gateway: Gateway): Promise<LoopHeld> {
  return ask(gateway, "loop");
}

function ask<Reply>({ child }: Gateway, of: ProbeRequest["of"]): Promise<Reply> {
  child.send({ of } satisfies ProbeRequest);
  return child.next<Reply>(REPLY_TIMEOUT_MS);
}
