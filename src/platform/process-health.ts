import type { Health } from "./component.ts";

/** Memory and age of this process. */
export function processHealth(): Health {
  const { rss, heapUsed } = process.memoryUsage();
  return {
    state: "up",
    figures: { rssBytes: rss, heapBytes: heapUsed, uptimeSeconds: Math.round(process.uptime()) },
  };
}
