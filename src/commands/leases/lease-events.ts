import type { Source } from "../../domain/command.ts";
import type { LeaseReason } from "../../domain/event.ts";
import type { RobotId } from "../../domain/robot.ts";
import { actFields } from "../audit/audit.ts";
import type { StoredLease } from "../journal/journal.ts";
import type { Shared } from "../parts.ts";

/** The words of the audit log, for people. */
const reasonTexts: Readonly<Record<LeaseReason, string>> = {
  asked: "asked for",
  released: "released",
  overridden: "overridden",
  left: "the robot has left",
  out_of_sight: "the robot is out of sight",
  lapsed: "the station's heartbeat has lapsed",
  not_configured: "the station is no longer configured",
  not_allowed: "its owner may no longer use the station for the robot",
};

/** The act that has begun or ended a lease; nothing for an end by the gateway. */
function actOf(reason: LeaseReason, robot_id: RobotId, station: string) {
  switch (reason) {
    case "asked":
      return actFields("LeaseRobot", { station, robot_id });
    case "released":
      return actFields("ReleaseRobot", { station, robot_id });
    case "overridden":
      return actFields("OverrideLease", { robot_id });
    default:
      return {};
  }
}

type LeaseEventParts = Pick<Shared, "clock" | "log" | "audit" | "sessionId" | "notify">;

/**
 * Logs, audits and publishes that a lease has begun or ended. `by` null: by the gateway; the audit log then
 * names the owner.
 */
export type PublishLease = (
  to: "leased" | "free",
  lease: Pick<StoredLease, "robotId" | "station" | "owner">,
  reason: LeaseReason,
  by: Source | null,
) => void;

export function createLeaseEvents({ clock, log, audit, notify, sessionId }: LeaseEventParts): PublishLease {
  let events = 0;
  return (to, { robotId, station, owner }, reason, by) => {
    const what = to === "leased" ? "begun" : "ended";
    const source = by ?? owner;
    const reasonText = reasonTexts[reason];
    const atMs = clock.nowMs();
    log.info({ robotId, station, user: source.name, reason: reasonText }, `lease ${what}`);
    audit({
      at: new Date(atMs).toISOString(),
      event: "lease",
      lease: what,
      robot_id: robotId,
      station,
      protocol: source.protocol,
      user: source.name,
      owner: { protocol: owner.protocol, user: owner.name },
      reason: reasonText,
      ...actOf(reason, robotId, station),
    });
    events += 1;
    notify({
      kind: "lease",
      eventId: `${sessionId}.l${events}`,
      robotId,
      atMs,
      station,
      owner,
      to,
      reason,
      by,
    });
  };
}
