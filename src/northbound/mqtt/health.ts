import { isoTime } from "../../models/json-text.ts";
import type { Health } from "../../platform/component.ts";
import { publishedHealth } from "../../platform/published-health.ts";

/** The health of every part of the daemon, by name. */
export type HealthReport = Readonly<Record<string, Health>>;

const rank = { up: 0, starting: 1, degraded: 2, down: 3 } as const;

/** The content of the `health` topic: the worst state, then each part with its figures. */
export function healthPayload(report: HealthReport, sessionId: string, nowMs: number): string {
  let worst: Health["state"] = "up";
  for (const part of Object.values(report)) if (rank[part.state] > rank[worst]) worst = part.state;
  return JSON.stringify({
    state: worst,
    session_id: sessionId,
    at: isoTime(nowMs),
    parts: publishedHealth(report),
  });
}

/** The part of the health that makes a message due at once: states and sentences, not figures. */
export function healthSignature(report: HealthReport): string {
  let signature = "";
  for (const [name, part] of Object.entries(report))
    signature += `${name}=${part.state}:${part.detail ?? ""}\n`;
  return signature;
}
