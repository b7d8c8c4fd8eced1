import type { Child } from "../child.ts";
import { pause } from "../section-run.ts";

/**
 * Time for what a start leaves to do. The last is to collect its garbage, when the gateway has been at rest
 * for ten to twenty seconds (`platform/heap-return.ts`): a second of CPU with the threads of V8.
 */
const SETTLE_MS = 30_000;

/** What a gateway costs while nothing happens. */
export interface IdleCost {
  /** Of a core. */
  readonly percent: number;
  readonly rssAnonMb: number;
}

/** Measures a gateway for so many seconds. */
export async function idleCost(gateway: Child, seconds: number): Promise<IdleCost> {
  await pause(SETTLE_MS);
  const before = gateway.cpuMicros();
  await pause(seconds * 1000);
  return { percent: (gateway.cpuMicros() - before) / 1e4 / seconds, rssAnonMb: gateway.rssAnonMb() };
}
