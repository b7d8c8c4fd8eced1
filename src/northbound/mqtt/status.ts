import { isoTime } from "./json-text.ts";

/** The content of the `status` topic. `at` is missing in the last will: nobody knows when that will be. */
export function statusPayload(
  state: "online" | "offline",
  gatewayId: string,
  sessionId: string,
  atMs: number | null,
): string {
  return JSON.stringify({
    state,
    session_id: sessionId,
    gateway_id: gatewayId,
    ...(atMs === null ? {} : { at: isoTime(atMs) }),
  });
}
