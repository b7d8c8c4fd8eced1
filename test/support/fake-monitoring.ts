import type { Monitoring } from "../../src/northbound/web/monitoring.ts";

/** A gateway that serves, and has nothing to be scraped. */
export function fakeMonitoring(more: Partial<Monitoring> = {}): Monitoring {
  return {
    health: () => ({ fleet: { state: "up" } }),
    hang: () => null,
    readiness: { problem: () => null },
    metrics: { contentType: "text/plain", text: async () => "" },
    ...more,
  };
}
