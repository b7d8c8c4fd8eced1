import type { Source } from "../../domain/command.ts";
import { holderName } from "../../domain/hold.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Stop } from "../../domain/stops.ts";
import { actFields } from "../audit/audit.ts";
import type { StoredHold } from "../journal/journal.ts";
import type { Shared } from "../parts.ts";

/** What holds do outside this folder. */
export interface HoldEffects {
  /** A hold has begun: starts of the robot, or (null) of all, that have not left must be refused. */
  readonly refuseStarts: (robotId: RobotId | null) => void;
  /** Sends a stop for the owner of a hold. Never rejects. */
  readonly sendStop: (robotId: RobotId, stop: Stop, owner: Source) => Promise<Outcome>;
  /** Another member of a cluster has changed the hold of this robot, or (null) of all robots. */
  readonly changed: (robotId: RobotId | null) => void;
}

interface HoldEventParts extends Pick<Shared, "clock" | "log" | "audit" | "sessionId" | "notify"> {
  /** The hold on this robot, or (null) on all robots, has changed. */
  readonly onHold: (robotId: RobotId | null) => void;
}

/** Logs, audits and publishes that a hold has begun or was lifted. */
export type PublishHold = (to: "held" | "free", hold: StoredHold, by: Source) => void;

export function createHoldEvents({
  clock,
  log,
  audit,
  sessionId,
  notify,
  onHold,
}: HoldEventParts): PublishHold {
  let events = 0;
  return (to, { robotId, owner }, by) => {
    const what = to === "held" ? "begun" : "lifted";
    const isOwn = holderName(by) === holderName(owner);
    const fields = { hold: to === "held", user: isOwn ? undefined : holderName(owner) };
    const act =
      robotId === null ? actFields("HoldAll", fields) : actFields("Hold", { robot_id: robotId, ...fields });
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
      ...act,
    });
    events += 1;
    const eventId = `${sessionId}.h${events}`;
    notify({ kind: "hold", eventId, robotId: robotId ?? "", atMs, owner, to, by });
    onHold(robotId);
  };
}
