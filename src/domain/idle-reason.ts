import { clip } from "./foreign-text.ts";
import {
  currentGoal,
  currentMission,
  currentTask,
  isArrived,
  isTerminal,
  type Mission,
  type TaskChain,
  waitsForConfirmation,
} from "./mission.ts";
import type { Observed, Quality } from "./observed.ts";
import type { Battery, Conveyor, Presence } from "./robot.ts";
import { isPaused, type RobotSight } from "./stops.ts";

/** Why a robot stands, by number. `idleReasonOf` has the order in which they are evaluated. */
export const idleReasonNames = [
  "UNKNOWN",
  "MOVING",
  "HELD",
  "EXCEPTION",
  "PAUSED",
  "WAITS_FOR_CONFIRMATION",
  "WAITS_AT_GOAL",
  "CHARGING",
  "IDLE",
  "CONVEYOR_ERROR",
  "LEASED",
  "NO_REASON_KNOWN",
] as const;
export type IdleReasonName = (typeof idleReasonNames)[number];

/** What is known of one robot; undefined: nothing was received. */
export interface IdleFacts extends Pick<RobotSight, "missions" | "presence"> {
  readonly quality: Quality;
  /** The users that hold the robot, the longest first. */
  readonly heldBy: readonly string[];
  readonly battery: Observed<Battery> | undefined;
  /** The chain that the online list names. */
  readonly chain: Observed<TaskChain> | undefined;
  /** By index. */
  readonly conveyors: ReadonlyMap<number, Observed<Conveyor>>;
  /** The station that leases it; null: none does. */
  readonly leasedBy: string | null;
}

export interface IdleReason {
  readonly reason: IdleReasonName;
  /** The reason for people; empty for a robot that moves. */
  readonly text: string;
  /** Whether the robot takes no command for that reason, which the text gives. */
  readonly isNotReady: boolean;
}

/** Of a user's name in a reason, in characters. */
const LONGEST_HOLDER = 70;
/** Of a station's name, in characters. */
const LONGEST_STATION = 70;
/** Of a robot's own words, in characters. */
const LONGEST_REPORT = 160;

const notKnown: Readonly<Record<Exclude<Quality, "good">, string>> = {
  stale: "the robot's values are stale: its stream is silent or cut",
  offline: "the robot is offline, or the fleet service is not reached",
  lost: "nothing has been known of the robot for longer than values are held",
  unknown: "no message of the robot has been received yet",
};

/**
 * Why a robot stands: the first of these that is true. Only the first two keep a command from it. If a
 * mission is paused or waits, the fleet service decides about another one.
 */
export function idleReasonOf(facts: IdleFacts): IdleReason {
  const { quality, heldBy } = facts;
  if (quality !== "good") return { reason: "UNKNOWN", text: notKnown[quality], isNotReady: true };
  const [holder] = heldBy;
  if (holder !== undefined) {
    return { reason: "HELD", text: `held by ${clip(holder, LONGEST_HOLDER)}`, isNotReady: true };
  }
  const [reason, text] =
    exceptionOf(facts) ??
    pauseOf(facts) ??
    waitOf(facts) ??
    moveOf(facts) ??
    conveyorErrorOf(facts) ??
    leaseOf(facts) ??
    restOf(facts);
  return { reason, text, isNotReady: false };
}

type Reason = readonly [IdleReasonName, string];

function exceptionOf({ presence }: IdleFacts): Reason | null {
  if (presence?.quality !== "good") return null;
  const found = amrExceptionOf(presence.value);
  if (!isException(found)) return null;
  const words = found.exception[0] ?? `code ${found.exceptionCodes[0] ?? ""}, level ${found.level}`;
  return ["EXCEPTION", `the robot reports: ${clip(words, LONGEST_REPORT)}`];
}

function pauseOf({ missions, presence }: IdleFacts): Reason | null {
  const mission = missionOf(missions);
  if (mission?.state === "STATE_PAUSED") return ["PAUSED", "its mission is paused"];
  if (presence?.quality !== "good" || !isPaused(presence.value)) return null;
  // After a resume the list is the older one, until the next answer.
  if (mission?.state === "STATE_RUNNING")
    return ["PAUSED", "its mission runs, and the newest online list has it paused"];
  return ["PAUSED", "the robot is paused"];
}

function waitOf({ missions, presence, chain }: IdleFacts): Reason | null {
  const task = chain?.quality === "good" ? currentTask(chain.value) : null;
  if (presence?.quality === "good" && waitsForConfirmation(task, presence.value.position)) {
    const where = task?.point === "" ? "" : ` at ${task?.point}`;
    return ["WAITS_FOR_CONFIRMATION", `its task chain waits for a confirmation${where}`];
  }
  const mission = missionOf(missions);
  if (mission?.state !== "STATE_RUNNING" || !isArrived(mission)) return null;
  const goal = currentGoal(mission);
  const where = goal?.kind === "destination" ? ` at ${goal.destinationId}` : " at its goal";
  return ["WAITS_AT_GOAL", `its mission waits${where}: until its time is over, or the goal is skipped`];
}

/** A robot that charges may still have a mission: the one that brought it to its dock. */
function moveOf({ missions, presence, battery }: IdleFacts): Reason | null {
  const mission = missionOf(missions);
  const onMission = mission?.state === "STATE_RUNNING";
  const onChain = presence?.quality === "good" && presence.value.taskChainId !== 0;
  if ((onMission && hasFeedback(mission)) || onChain) return ["MOVING", ""];
  const isCharging = battery?.quality === "good" && battery.value.state === "STATE_CHARGING";
  if (isCharging) return ["CHARGING", "the robot is charging"];
  return onMission ? ["MOVING", ""] : null;
}

function conveyorErrorOf({ conveyors }: IdleFacts): Reason | null {
  for (const { value, quality } of conveyors.values()) {
    const { index, health } = value;
    if (quality === "good" && health === "HEALTH_STATE_ERROR")
      return ["CONVEYOR_ERROR", `conveyor ${index} reports an error`];
  }
  return null;
}

function leaseOf({ leasedBy }: IdleFacts): Reason | null {
  return leasedBy === null ? null : ["LEASED", `leased by station ${clip(leasedBy, LONGEST_STATION)}`];
}

/** Without a message about its missions, nobody knows that it has none. */
function restOf({ missions, presence }: IdleFacts): Reason {
  const mission = missionOf(missions);
  const isAtRest = missions?.quality === "good" && (mission === undefined || isTerminal(mission.state));
  if (!isAtRest) return ["NO_REASON_KNOWN", "no reason known"];
  return presence?.quality === "good"
    ? ["IDLE", "the robot has neither a mission nor a task chain under way"]
    : ["IDLE", "the robot has no mission under way"];
}

function missionOf(missions: IdleFacts["missions"]): Mission | undefined {
  return missions?.quality === "good" ? currentMission(missions.value) : undefined;
}

/** A mission that charges has none (docs/internals/service.md, TRN-39). */
function hasFeedback({ feedback }: Mission): boolean {
  return feedback !== null && feedback.family !== "none" && feedback.status !== "STATUS_UNKNOWN";
}

/** What a robot reports of itself (`amrException` of the online list), as texts. */
interface AmrException {
  readonly exception: readonly string[];
  readonly exceptionCodes: readonly string[];
  readonly level: number;
}

const none: AmrException = { exception: [], exceptionCodes: [], level: 0 };

/** The exceptions in a record of the online list. The shape of its elements is not documented. */
export function amrExceptionOf({ info }: Presence): AmrException {
  const found = info.amr_exception;
  if (!isRecord(found)) return none;
  return {
    exception: textsOf(found.exception),
    exceptionCodes: textsOf(found.exception_codes),
    level: Number.isInteger(found.level) ? Number(found.level) : 0,
  };
}

/** Whether the robot reports any exception. */
export function isException({ exception, exceptionCodes, level }: AmrException): boolean {
  return exception.length > 0 || exceptionCodes.length > 0 || level !== 0;
}

/** In one line for people, as `the robot's way is blocked (code 1001, level 1)`. */
export function exceptionText({ exception, exceptionCodes, level }: AmrException): string {
  const said = exception.length === 0 ? "the robot reports an exception" : exception.join("; ");
  const codes = exceptionCodes.map((code) => `code ${code}`);
  const details = [...codes, ...(level === 0 ? [] : [`level ${level}`])];
  return details.length === 0 ? said : `${said} (${details.join(", ")})`;
}

function textsOf(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.map((element: unknown) => (typeof element === "string" ? element : JSON.stringify(element)));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
