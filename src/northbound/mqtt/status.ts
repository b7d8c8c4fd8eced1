import { isoTime } from "../../models/json-text.ts";
import type { Health } from "../../platform/component.ts";
import { publishedHealth } from "../../platform/health-history.ts";
import type { StatusPayload } from "./models/state.ts";

/** The content of the `status` topic. `at` is missing in the last will: its time is not known. */
export function statusPayload(
  state: "online" | "offline",
  gatewayId: string,
  sessionId: string,
  atMs: number | null,
): string {
  const payload: StatusPayload = {
    state,
    session_id: sessionId,
    gateway_id: gatewayId,
    ...(atMs === null ? {} : { at: isoTime(atMs) }),
  };
  return JSON.stringify(payload);
}

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
