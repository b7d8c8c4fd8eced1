import { join } from "node:path";
import type { Gateway } from "./gateway.ts";
import { benchFolder, REPLY_TIMEOUT_MS } from "./section-run.ts";

/** What a gateway loads before its program so that it can be asked. */
export const probe = [join(benchFolder, "probe-preload.js")];

export interface ProbeRequest {
  /** `watch` begins to look at the loop, and `held` ends it: to look costs processor time. */
  readonly of: "heap" | "watch" | "held";
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

/** For how long the event loop is held while `work` is done, and what comes of it. */
export async function loopHeldBy<Result>(
  gateway: Gateway,
  work: () => Promise<Result>,
): Promise<{ readonly held: LoopHeld; readonly result: Result }> {
  await ask(gateway, "watch");
  const result = await work();
  return { held: await ask<LoopHeld>(gateway, "held"), result };
}

function ask<Reply>({ child }: Gateway, of: ProbeRequest["of"]): Promise<Reply> {
  child.send({ of } satisfies ProbeRequest);
  return child.next<Reply>(REPLY_TIMEOUT_MS);
}
