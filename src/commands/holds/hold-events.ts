import type { Source } from "../../domain/command.ts";
import { holderName } from "../../domain/hold.ts";
import type { StoredHold } from "../journal/journal.ts";
import type { Shared } from "../parts.ts";

export type HoldEventParts = Pick<Shared, "clock" | "log" | "audit" | "sessionId" | "notify">;

/** Logs, audits and publishes that a hold has begun or was lifted. */
export type PublishHold = (to: "held" | "free", hold: StoredHold, by: Source) => void;

export function createHoldEvents({ clock, log, audit, sessionId, notify }: HoldEventParts): PublishHold {
  let events = 0;
  return (to, { robotId, owner }, by) => {
    const what = to === "held" ? "begun" : "lifted";
    const atMs = clock.nowMs();
    log.info({ robotId, owner: holderName(owner), by: holderName(by) }, `hold ${what}`);
    audit({
      at: new Date(atMs).toISOString(),
      event: "hold",
      hold: what,
      robot_id: robotId,
      protocol: by.protocol,
      user: by.name,
      owner: { protocol: owner.protocol, user: owner.name },
    });
    events += 1;
    const eventId = `${sessionId}.h${events}`;
    notify({ kind: "hold", eventId, robotId: robotId ?? "", atMs, owner, to, by });
  };
}
