import type { GoalView, MissionView } from "../../models/robot.ts";
import type { Expiry } from "../../northbound/web/api/gateway.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Tag } from "../../northbound/web/api/tag.ts";
import type { Emphasis } from "../floor/scene.ts";
import type { TagFilter } from "../route.ts";
import { inLanguage, isEnglish, numberText, say, word } from "../texts/texts.ts";
import { isResumed } from "./pauses.ts";

/** The state of a robot in few words, and whether somebody should look at it. */
export interface RobotWord {
  readonly word: string;
  readonly emphasis: Emphasis;
}

const reasonEmphasis: Readonly<Record<Robot["idle"]["reason"], Emphasis>> = {
  UNKNOWN: "abnormal",
  MOVING: "normal",
  HELD: "abnormal",
  EXCEPTION: "alarm",
  PAUSED: "abnormal",
  WAITS_FOR_CONFIRMATION: "abnormal",
  WAITS_AT_GOAL: "normal",
  CHARGING: "normal",
  CONVEYOR_ERROR: "abnormal",
  LEASED: "normal",
  IDLE: "normal",
  NO_REASON_KNOWN: "normal",
};

/**
 * The first that is true: out of service, alarm, quality, reason.
 *
 * @param isSilent nothing has come of the fleet service lately: what the robot does is not known
 */
export function wordOf(robot: Robot, isSilent = false): RobotWord {
  if (robot.out_of_service) return { word: say("reason.outOfService"), emphasis: "normal" };
  const active = robot.alarms.filter((alarm) => alarm.active);
  const [first] = active;
  const unlessSilent = (text: string) => (isSilent ? say("reason.last", { word: text }) : text);
  if (first !== undefined && (first.priority === "urgent" || first.priority === "high")) {
    return { word: unlessSilent(word(first.code)), emphasis: "alarm" };
  }
  if (robot.quality !== "good") return { word: word(robot.quality), emphasis: "abnormal" };
  const { reason } = robot.idle;
  const emphasis = reasonEmphasis[reason];
  if (emphasis === "normal" && first !== undefined)
    return { word: unlessSilent(word(first.code)), emphasis: "abnormal" };
  const shown = say(`reason.${reason}`);
  return { word: reason === "UNKNOWN" ? shown : unlessSilent(shown), emphasis };
}

/** Why it stands, as a sentence without its end; empty: it moves. The gateway's own is English. */
export function whyText(robot: Robot): string {
  const { reason, text } = robot.idle;
  if (isEnglish() || reason === "MOVING") return text;
  switch (reason) {
    case "UNKNOWN":
      return robot.quality === "good" ? text : say(`why.${robot.quality}`);
    case "HELD":
      return say("why.HELD", { by: robot.hold.by[0] ?? "–" });
    case "EXCEPTION":
      return say("why.EXCEPTION", { words: robot.exception?.texts[0] ?? robot.exception?.codes[0] ?? "–" });
    case "WAITS_AT_GOAL": {
      const goal = robot.mission?.state?.current_goal ?? null;
      return say("why.WAITS_AT_GOAL", { goal: goal === null ? "–" : goalText(goal) });
    }
    case "PAUSED":
      return say(isResumed(robot) ? "why.resumed" : "why.PAUSED");
    case "LEASED":
      return say("why.LEASED", { station: robot.lease?.station ?? "–" });
    default:
      return say(`why.${reason}`);
  }
}

/** An enum of the service without its prefix, or the number of an unnamed value. */
export function codeWord(code: string | number, prefix: string): string {
  if (typeof code === "number") return say("code", { code });
  return word(code.startsWith(prefix) ? code.slice(prefix.length) : code);
}

/** A goal for people. */
export function goalText(goal: GoalView): string {
  if ("destination_id" in goal) return goal.destination_id;
  if (!("pose" in goal)) return say("goal.none");
  const { x_meters: x, y_meters: y } = goal.pose;
  return say("place.xy", { x: metersText(x), y: metersText(y) });
}

export function xyText(x: number, y: number): string {
  return say("place.xy", { x: numberText(x, 1), y: numberText(y, 1) });
}

/** JSON has a text for a number that is not finite. */
function metersText(meters: number | string): string {
  return typeof meters === "number" ? numberText(meters, 1) : "?";
}

export function hasEnded({ state }: MissionView): boolean {
  return state === "STATE_CANCELED" || state === "STATE_SUCCEEDED" || state === "STATE_FAILED";
}

/** A value with its quality, unless that is good. */
export function doubted(text: string, quality: Robot["quality"]): string {
  return quality === "good" ? text : say("doubted", { text, quality: word(quality) });
}

/** The goal of a robot's current mission, reached or not. */
export function currentGoalText({ mission }: Robot): string {
  if (mission?.state == null) return say("mission.notKnown");
  const { current_mission: current, current_goal: goal } = mission.state;
  if (current === null) return doubted(say("mission.none"), mission.quality);
  const named = goal === null ? say("goal.none") : goalText(goal);
  // The service shows a mission as the current one until another begins.
  const shown = hasEnded(current)
    ? say("mission.last", { state: codeWord(current.state, "STATE_"), goal: named })
    : say("mission.to", { goal: named });
  return doubted(shown, mission.quality);
}

/** The figures of a queue in words, without those that are 0. */
export function figuresText(figures: Readonly<Record<string, number>>): string {
  const counted = Object.entries(figures).filter(([, value]) => value !== 0);
  return counted.length === 0
    ? say("connections.nothingWaits")
    : counted.map(([name, value]) => say("connections.figure", { name: word(name), value })).join(", ");
}

const DAY_S = 86_400;
const SOON_DAYS = 30;

/** The gateway renews its token by itself; people renew a certificate. */
export function leftWord({ kind, seconds_left: left }: Expiry): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  if (left === null) return { word: say("connections.unreadable"), emphasis: "abnormal" };
  if (left <= 0) return { word: word("expired"), emphasis: "alarm" };
  if (kind === "token")
    return { word: say("age.minutes", { count: Math.floor(left / 60) }), emphasis: "normal" };
  const days = Math.floor(left / DAY_S);
  return { word: say("age.days", { count: days }), emphasis: days < SOON_DAYS ? "abnormal" : "normal" };
}

type ShownValue = Pick<Tag, "value" | "clipped" | "unit" | "meaning">;

/** The value of a tag for people, with its unit, or with what its number means. */
export function valueText({ value, clipped, unit, meaning }: ShownValue): string {
  if (value === null) return say("tags.noValue");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (unit !== null) return say("tags.valueUnit", { value: text, unit });
  if (meaning !== null) return say("tags.valueMeaning", { value: text, meaning: inLanguage(meaning) });
  return clipped ? `${text}…` : text;
}

/** In a row of a list: a payload may be longer than a screen. */
const ROW_CHARACTERS = 120;

/** The beginning of a value. */
export function valueStart(tag: ShownValue): string {
  const text = valueText(tag);
  return text.length <= ROW_CHARACTERS ? text : `${text.slice(0, ROW_CHARACTERS)}…`;
}

/** The quality of a tag. If the value is not good, OPC UA's status is more precise. */
export function qualityWord({ quality, status }: Pick<Tag, "quality" | "status">): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  const isGood = quality === "good";
  const shown =
    isGood || status === null ? word(quality) : say("tags.qualityStatus", { quality: word(quality), status });
  return { word: shown, emphasis: isGood ? "normal" : "abnormal" };
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
