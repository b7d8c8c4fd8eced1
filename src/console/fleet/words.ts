import type { AlarmView } from "../../models/alarm.ts";
import type { GoalView, MissionView } from "../../models/robot.ts";
import type { Expiry } from "../../northbound/web/api/connection.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { SessionFacts } from "../../northbound/web/api/session.ts";
import type { ListedAlarms } from "../../northbound/web/api/stream.ts";
import type { Tag } from "../../northbound/web/api/tag.ts";
import type { Emphasis } from "../floor/scene.ts";
import type { TagFilter } from "../route.ts";

/** The state of a robot in few words, and whether somebody should look at it. */
export interface RobotWord {
  readonly word: string;
  readonly emphasis: Emphasis;
}

const reasonWords: Readonly<Record<Robot["standing"]["reason"], RobotWord>> = {
  UNKNOWN: { word: "not known", emphasis: "abnormal" },
  MOVING: { word: "moves", emphasis: "normal" },
  HELD: { word: "held", emphasis: "abnormal" },
  EXCEPTION: { word: "exception", emphasis: "alarm" },
  PAUSED: { word: "paused", emphasis: "abnormal" },
  WAITS_FOR_CONFIRMATION: { word: "waits for confirmation", emphasis: "abnormal" },
  WAITS_AT_GOAL: { word: "waits at its goal", emphasis: "normal" },
  CHARGING: { word: "charging", emphasis: "normal" },
  CONVEYOR_ERROR: { word: "conveyor error", emphasis: "abnormal" },
  LEASED: { word: "leased", emphasis: "normal" },
  IDLE: { word: "idle", emphasis: "normal" },
  NO_REASON_KNOWN: { word: "stands", emphasis: "normal" },
};

/**
 * The first that is true: out of service, alarm, quality, reason.
 *
 * @param isSilent nothing has come of the fleet service lately: what the robot does is not known
 */
export function wordOf(robot: Robot, isSilent = false): RobotWord {
  if (robot.out_of_service) return { word: "out of service", emphasis: "normal" };
  const active = robot.alarms.filter((alarm) => alarm.active);
  const [first] = active;
  if (first !== undefined && (first.priority === "urgent" || first.priority === "high")) {
    return { word: sentence(first.code), emphasis: "alarm" };
  }
  if (robot.quality !== "good") return { word: robot.quality, emphasis: "abnormal" };
  const { word, emphasis } = reasonWords[robot.standing.reason];
  if (emphasis === "normal" && first !== undefined)
    return { word: sentence(first.code), emphasis: "abnormal" };
  return { word: isSilent && robot.standing.reason !== "UNKNOWN" ? `last: ${word}` : word, emphasis };
}

/** `BATTERY_LOW` in words. */
export function sentence(code: string): string {
  return code.toLowerCase().replaceAll("_", " ");
}

/** An enum of the service without its prefix, or the number of an unnamed value. */
export function codeWord(code: string | number, prefix: string): string {
  if (typeof code === "number") return `code ${code}`;
  return sentence(code.startsWith(prefix) ? code.slice(prefix.length) : code);
}

/** A goal for people. */
export function goalText(goal: GoalView): string {
  if ("destination_id" in goal) return goal.destination_id;
  if (!("pose" in goal)) return "no goal";
  const { x_meters: x, y_meters: y } = goal.pose;
  return `x ${metersText(x)}, y ${metersText(y)}`;
}

/** JSON has a text for a number that is not finite. */
function metersText(meters: number | string): string {
  return typeof meters === "number" ? meters.toFixed(1) : "?";
}

export function hasEnded({ state }: MissionView): boolean {
  return state === "STATE_CANCELED" || state === "STATE_SUCCEEDED" || state === "STATE_FAILED";
}

/** The goal of a robot's current mission, reached or not. */
export function currentGoalText({ mission }: Robot): string {
  if (mission?.state == null) return "mission not known";
  const { current_mission: current, current_goal: goal } = mission.state;
  const doubt = mission.quality === "good" ? "" : ` (${mission.quality})`;
  if (current === null) return `no mission${doubt}`;
  const named = goal === null ? "no goal" : goalText(goal);
  // The service shows a mission as the current one until another begins.
  if (hasEnded(current)) return `last mission ${codeWord(current.state, "STATE_")}: ${named}${doubt}`;
  return `→ ${named}${doubt}`;
}

/** The state of an alarm: whether it is active, and whether somebody has acknowledged it. */
export function alarmState({ active, acknowledged_by: by }: AlarmView): string {
  return `${active ? "active" : "returned"}, ${by === null ? "unacknowledged" : "acknowledged"}`;
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

/**
 * How many alarms nobody has acknowledged. Of those that are not listed nothing else is known, so they count.
 */
export function needsSomebody({ count, alarms }: ListedAlarms): number {
  return count - alarms.filter(({ acknowledged_by: by }) => by !== null).length;
}

/** Colour is for what stands: an alarm that has returned only waits to be seen. */
export function alarmEmphasis({ active, priority }: AlarmView): Emphasis {
  if (!active) return "normal";
  return priority === "urgent" || priority === "high" ? "alarm" : "abnormal";
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

/** The figures of a queue in words, without those that are 0. */
export function figuresText(figures: Readonly<Record<string, number>>): string {
  const counted = Object.entries(figures).filter(([, value]) => value !== 0);
  return counted.length === 0
    ? "nothing waits"
    : counted.map(([name, value]) => `${sentence(name)} ${value}`).join(", ");
}

const DAY_S = 86_400;
const SOON_DAYS = 30;

/** The gateway renews its token by itself; people renew a certificate. */
export function leftWord({ kind, seconds_left: left }: Expiry): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  if (left === null) return { word: "cannot be read", emphasis: "abnormal" };
  if (left <= 0) return { word: "expired", emphasis: "alarm" };
  if (kind === "token") return { word: `${Math.floor(left / 60)} min`, emphasis: "normal" };
  const days = Math.floor(left / DAY_S);
  return { word: `${days} days`, emphasis: days < SOON_DAYS ? "abnormal" : "normal" };
}

/** The value of a tag for people. */
export function valueText({ value, clipped }: Pick<Tag, "value" | "clipped">): string {
  if (value === null) return "no value";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return clipped ? `${text}…` : text;
}

/** In a row of a list: a payload may be longer than a screen. */
const ROW_CHARACTERS = 120;

/** The beginning of a value. */
export function valueStart(tag: Pick<Tag, "value" | "clipped">): string {
  const text = valueText(tag);
  return text.length <= ROW_CHARACTERS ? text : `${text.slice(0, ROW_CHARACTERS)}…`;
}

/** The quality of a tag. If the value is not good, OPC UA's status is more precise. */
export function qualityWord({ quality, status }: Pick<Tag, "quality" | "status">): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  const isGood = quality === "good";
  const word = isGood || status === null ? quality : `${quality} (${status})`;
  return { word, emphasis: isGood ? "normal" : "abnormal" };
}

/** The conditions for the list. Empty texts match all. */
export interface TagQuery extends TagFilter {
  /** Exactly this address. */
  readonly address: string;
  /** Of the page; empty: the first. */
  readonly cursor: string;
}

/** Of one page: a screenful, and little enough for a request every other second. */
const PAGE_TAGS = 50;

/** The address of a page of tags, under `/api/v1`. */
export function tagsRequest({ text, robot, protocol, address, cursor }: TagQuery): string {
  const named = { text: text.trim(), protocol, robot: robot.trim(), address, cursor };
  const given = Object.entries(named).filter(([, value]) => value !== "");
  return `/tags?${new URLSearchParams([...given, ["limit", `${PAGE_TAGS}`]])}`;
}
