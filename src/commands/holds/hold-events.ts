import type { Source } from "../../domain/command.ts";
import type { FleetEvent } from "../../domain/event.ts";
import { holderName } from "../../domain/hold.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { AuditSink } from "../audit/audit.ts";
import type { StoredHold } from "../journal/journal.ts";

export interface HoldEventParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: AuditSink;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
  /** Where the begin and the end of every hold go as events. Synchronous; never throws. */
  readonly notify: (event: FleetEvent) => void;
}

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
