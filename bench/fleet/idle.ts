import type { Child } from "../child.ts";
import { pause } from "../section-run.ts";

/** Time for what a start leaves to do. */
const SETTLE_MS = 5_000;

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
