import type { Clock } from "../../platform/clock.ts";
import type { Mirror } from "./mirror.ts";
import { LEADER_KEY } from "./records.ts";
import type { ProtocolTimes } from "./times.ts";

/** Whether this member should lead, by its session to the service. */
export interface SessionWatch {
  /** A member without a session leads only where no other one does for long: it holds robots, and tells. */
  mayLead(): boolean;
  /** It has had no session for long. Call it about once a second. */
  isCut(): boolean;
}

interface SessionWatchParts {
  readonly mirror: Pick<Mirror, "get">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly times: Pick<ProtocolTimes, "cutMs" | "unledMs">;
  readonly hasSession: () => boolean;
}

export function createSessionWatch({ mirror, clock, times, hasSession }: SessionWatchParts): SessionWatch {
  let unledSinceMs = clock.monotonicMs();
  let cutSinceMs: number | null = null;
  return {
    mayLead() {
      if (mirror.get(LEADER_KEY) !== undefined) unledSinceMs = clock.monotonicMs();
      return hasSession() || clock.monotonicMs() - unledSinceMs > times.unledMs;
    },
    isCut() {
      const nowMs = clock.monotonicMs();
      cutSinceMs = hasSession() ? null : (cutSinceMs ?? nowMs);
      return cutSinceMs !== null && nowMs - cutSinceMs >= times.cutMs;
    },
  };
}
