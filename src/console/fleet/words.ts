import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Emphasis } from "../floor/scene.ts";

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

/** The first that is true: out of service, alarm, quality, reason. */
export function wordOf(robot: Robot): RobotWord {
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
  return { word, emphasis };
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
