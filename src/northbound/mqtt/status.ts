import { isoTime } from "../../models/json-text.ts";
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
