import type { PromMeter } from "../../src/northbound/web/metrics/meter.ts";

/** Stands in the place of the gateway's own meter, and counts nothing. */
export function createMeter(): PromMeter {
  return { metrics: [], commandEnded() {}, heard() {} };
}
