import type { EvidenceRule } from "../../contracts/operation.ts";
import { codeText } from "../../domain/coded.ts";
import type { Goal, Mission, MissionQueue, MissionType } from "../../domain/mission.ts";
import type { Observed, Stamp } from "../../domain/observed.ts";
import type { Conveyor, RobotId } from "../../domain/robot.ts";

/** The rules whose evidence is in the messages of robots. `query` asks the service instead. */
export type WatchRule = Exclude<EvidenceRule, { kind: "none" | "query" }>;

export function isWatchRule(rule: EvidenceRule): rule is WatchRule {
  return rule.kind !== "none" && rule.kind !== "query";
}

/** The state of the robot when the call left. JSON: the journal keeps it with the command. */
export interface WatchBaseline {
  /** The missions in the robot's list; null: none was ever received. */
  readonly missionIds: readonly string[] | null;
  /** The state of the mission of the rule; null: it was not in the list. */
  readonly missionState: string | number | null;
}

/** The seen effects of one command since its call left. Immutable. */
export interface Watch {
  readonly rule: WatchRule;
  readonly robotId: RobotId;
  readonly baseline: WatchBaseline;
  /** When its call left. All times here are monotonic, so that setting the wall clock hides no evidence. */
  readonly sentMs: number;
  readonly findings: readonly Finding[];
}

interface Finding {
  /** The mission, or the conveyor's index. */
  readonly key: string;
  readonly missionId: string | null;
  readonly text: string;
  readonly seenMs: number;
}

/** The present use of a command's watch. */
export type WatchUse =
  /** The call is out, or its outcome is final and nothing waits for the watch. */
  | { readonly kind: "idle" }
  /** The outcome is sought: `look` decides again. */
  | { readonly kind: "seeking"; readonly look: () => void }
  /** The outcome is final, and a later finding is an event. Monotonic milliseconds. */
  | { readonly kind: "late"; readonly untilMs: number; readonly isPlanned: boolean };

/** The watch of one command. */
export interface OpenWatch {
  readonly commandId: string;
  watch: Watch;
  use: WatchUse;
}

/** The result of a watch at a moment. */
export type Verdict =
  | { readonly kind: "nothing" }
  /** More than one mission fits: later messages cannot change that. */
  | { readonly kind: "ambiguous"; readonly text: string }
  | { readonly kind: "found"; readonly text: string; readonly missionId: string | null };

/** The state of a robot before a call leaves, as far as `rule` needs it afterwards. */
export function watchBaseline(rule: WatchRule, queue: MissionQueue | undefined): WatchBaseline {
  if (queue === undefined) return { missionIds: null, missionState: null };
  const mission =
    rule.kind === "mission_state"
      ? queue.missions.find(({ missionId }) => missionId === rule.missionId)
      : undefined;
  return {
    missionIds: rule.kind === "new_mission" ? queue.missions.map(({ missionId }) => missionId) : null,
    missionState: mission === undefined ? null : codeText(mission.state),
  };
}

export function startWatch(
  rule: WatchRule,
  robotId: RobotId,
  baseline: WatchBaseline,
  sentMs: number,
): Watch {
  return { rule, robotId, baseline, sentMs, findings: [] };
}

/** When something was received, and when it is evaluated: both on the monotonic clock. */
export interface SeenTimes {
  readonly receivedMs: number;
  readonly nowMs: number;
}

/** Adds a robot's list of missions. Missions that other commands have made (`isOthers`) are not new. */
export function seeMissions(
  watch: Watch,
  { value: queue, stamp }: Observed<MissionQueue>,
  isOthers: (missionId: string) => boolean,
  times: SeenTimes,
): Watch {
  if (watch.rule.kind === "conveyor_state") return watch;
  if (isFromBefore(watch, times)) return learnBaseline(watch, queue);
  let next = watch;
  for (const mission of queue.missions) {
    if (!fits(watch, mission)) continue;
    if (watch.rule.kind === "new_mission" && isOthers(mission.missionId)) continue;
    next = addFinding(next, {
      key: mission.missionId,
      missionId: mission.missionId,
      text: describeMission(watch, mission, stamp),
      seenMs: times.nowMs,
    });
  }
  return next;
}

/** Adds a value of a conveyor. */
export function seeConveyor(watch: Watch, { value, stamp }: Observed<Conveyor>, times: SeenTimes): Watch {
  const { rule } = watch;
  if (rule.kind !== "conveyor_state" || isFromBefore(watch, times)) return watch;
  if (!rule.indexes.includes(value.index)) return watch;
  const key = String(value.index);
  if (value.operation !== rule.operation) {
    return { ...watch, findings: watch.findings.filter((finding) => finding.key !== key) };
  }
  const text = `conveyor status of ${watch.robotId} received ${time(stamp)}: conveyor ${key} is ${rule.operation}`;
  return addFinding(watch, { key, missionId: null, text, seenMs: times.nowMs });
}

/**
 * The present result of the watch. A new mission must stand alone for `settleMs`: a second one that fits
 * would make it ambiguous.
 */
export function verdict(watch: Watch, nowMs: number, settleMs: number): Verdict {
  const { rule, findings } = watch;
  const [first] = findings;
  if (first === undefined) return { kind: "nothing" };
  const text = findings.map((finding) => finding.text).join("; ");
  switch (rule.kind) {
    case "new_mission":
      if (findings.length > 1) {
        return { kind: "ambiguous", text: `${findings.length} missions fit, so none is known to be its own` };
      }
      if (nowMs - first.seenMs < settleMs) return { kind: "nothing" };
      return { kind: "found", text, missionId: first.missionId };
    case "mission_state":
      return { kind: "found", text, missionId: first.missionId };
    case "conveyor_state":
      return findings.length < new Set(rule.indexes).size
        ? { kind: "nothing" }
        : { kind: "found", text, missionId: null };
  }
}

/** Wall times have whole milliseconds: less than one before the call counts as after it. */
function isFromBefore({ sentMs }: Watch, { receivedMs }: SeenTimes): boolean {
  return receivedMs <= sentMs - 1;
}

/** A message from before the call that is read after it belongs to the baseline. */
function learnBaseline(watch: Watch, queue: MissionQueue): Watch {
  const known = watchBaseline(watch.rule, queue);
  if (known.missionIds === null) {
    return { ...watch, baseline: { ...watch.baseline, missionState: known.missionState } };
  }
  const missionIds = [...new Set([...(watch.baseline.missionIds ?? []), ...known.missionIds])];
  return { ...watch, baseline: { ...watch.baseline, missionIds } };
}

function fits({ rule, baseline }: Watch, mission: Mission): boolean {
  switch (rule.kind) {
    case "new_mission":
      // Without a list from before the call, no mission is known to be new.
      if (baseline.missionIds === null || baseline.missionIds.includes(mission.missionId)) return false;
      return (
        mission.owner === "api" &&
        rule.types.some((type) => sameType(type, mission.type)) &&
        (rule.goals === null || sameGoals(rule.goals, mission.goals))
      );
    case "mission_state":
      return (
        mission.missionId === rule.missionId &&
        mission.state === rule.state &&
        baseline.missionState !== null &&
        baseline.missionState !== rule.state
      );
    case "conveyor_state":
      return false;
  }
}

function addFinding(watch: Watch, finding: Finding): Watch {
  if (watch.findings.some(({ key }) => key === finding.key)) return watch;
  return { ...watch, findings: [...watch.findings, finding] };
}

function sameType(wanted: MissionType, seen: MissionType | null): boolean {
  if (wanted.family === "none" || seen === null || seen.family === "none") {
    return wanted.family === "none" && (seen === null || seen.family === "none");
  }
  return wanted.family === seen.family && wanted.type === seen.type;
}

function sameGoals(wanted: readonly Goal[], seen: readonly Goal[]): boolean {
  return wanted.length === seen.length && wanted.every((goal, index) => sameGoal(goal, seen[index]));
}

/** Poses travel as 32-bit floats, so they are compared as floats. */
function sameGoal(wanted: Goal, seen: Goal | undefined): boolean {
  if (seen === undefined) return false;
  if (wanted.kind === "destination") {
    return seen.kind === "destination" && wanted.destinationId === seen.destinationId;
  }
  if (wanted.kind === "none" || seen.kind !== "pose") return false;
  return (
    Math.fround(wanted.pose.xMeters) === Math.fround(seen.pose.xMeters) &&
    Math.fround(wanted.pose.yMeters) === Math.fround(seen.pose.yMeters) &&
    Math.fround(wanted.pose.headingRadians) === Math.fround(seen.pose.headingRadians)
  );
}

function describeMission(watch: Watch, mission: Mission, stamp: Stamp): string {
  const state = codeText(mission.state);
  const source = `mission status of ${watch.robotId} received ${time(stamp)}`;
  if (watch.rule.kind === "mission_state") {
    return `${source}: mission ${mission.missionId} is ${state}, and was ${watch.baseline.missionState} when the call left`;
  }
  const type =
    mission.type === null || mission.type.family === "none"
      ? "of no type"
      : String(codeText(mission.type.type));
  const goals = mission.goals.map(goalText).join(", ");
  return `${source}: mission ${mission.missionId} (${type}, owner ${mission.owner}, goals [${goals}], ${state}) is new since the call left`;
}

function goalText(goal: Goal): string {
  switch (goal.kind) {
    case "destination":
      return goal.destinationId;
    case "pose":
      return `(${goal.pose.xMeters}, ${goal.pose.yMeters}, ${goal.pose.headingRadians})`;
    case "none":
      return "?";
  }
}

function time(stamp: Stamp): string {
  return new Date(stamp.receivedAtMs).toISOString();
}
