import type { AlarmView } from "../../models/alarm.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { SessionFacts } from "../../northbound/web/api/session.ts";
import type { Emphasis } from "../floor/scene.ts";

/** The state of an alarm: whether it is active, and whether somebody has acknowledged it. */
export function alarmState({ active, priority, acknowledged_by: by }: AlarmView): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  const word = `${active ? "active" : "returned"}, ${by === null ? "unacknowledged" : "acknowledged"}`;
  if (!active) return { word, emphasis: "normal" };
  const isGrave = priority === "urgent" || priority === "high";
  return { word, emphasis: isGrave && by === null ? "alarm" : "abnormal" };
}

/**
 * Why this user may not acknowledge an alarm: only operators of its robot may, or of all robots if it
 * concerns none.
 */
export function whyNotAcknowledged(
  { robot_id: robotId }: AlarmView,
  { role, robots }: Pick<SessionFacts, "role" | "robots">,
): string | null {
  if (role === "observer") return "only operators may acknowledge it";
  if (robots === null) return null;
  if (robotId === undefined) return "only operators of all robots may acknowledge it";
  return robots.includes(robotId) ? null : "only operators of its robot may acknowledge it";
}

/** How many alarms are in each state, in words. */
export function alarmCounts(alarms: readonly AlarmView[]): string {
  const count = (has: (alarm: AlarmView) => boolean) => alarms.filter(has).length;
  return [
    `${count((alarm) => alarm.acknowledged_by === null)} unacknowledged`,
    `${count((alarm) => alarm.acknowledged_by !== null)} acknowledged`,
    `${count((alarm) => !alarm.active)} of them returned`,
  ].join(", ");
}

/**
 * How many robots a lost link concerns; empty for any other alarm. Their own alarms rest meanwhile, so that
 * it is one alarm.
 */
export function concernedText(
  { code, active }: AlarmView,
  robots: readonly Pick<Robot, "quality">[],
): string {
  if (code !== "FLEET_LINK_DOWN" || !active) return "";
  const concerned = robots.filter(({ quality }) => quality !== "good").length;
  return `${concerned} of ${robots.length} robots are not good meanwhile`;
}
