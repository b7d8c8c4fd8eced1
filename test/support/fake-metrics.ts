import type { Metrics } from "../../src/northbound/web/metrics/metrics.ts";

/** A gateway that has nothing to be scraped. */
export const fakeMetrics: Metrics = { contentType: "text/plain", text: async () => "" };

/** A gateway that serves. */
export const isReady = { problem: () => null };
