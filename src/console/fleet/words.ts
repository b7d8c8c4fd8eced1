import type { GoalView, MissionView } from "../../models/robot.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Emphasis } from "../floor/scene.ts";
import { isEnglish, numberText, say, word } from "../texts/texts.ts";
import { hasPausedMission, isResumed } from "./pauses.ts";

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
      if (isResumed(robot)) return say("why.resumed");
      return say(hasPausedMission(robot) ? "why.missionPaused" : "why.PAUSED");
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

/**
 * The state of a mission, and what a robot of any family reports of it. After its end, and while it is
 * paused, only its arrival is still true.
 */
export function missionStateText(mission: MissionView): string {
  const rests = mission.state === "STATE_PAUSED" || hasEnded(mission);
  const reported = Object.values(mission.mission_feedback ?? {})
    .filter((each) => !rests || each?.status === "STATUS_ARRIVED")
    .map((each) => codeWord(each?.status ?? "", "STATUS_"));
  return [codeWord(mission.state, "STATE_"), ...reported].join(", ");
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
