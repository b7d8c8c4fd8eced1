import { type Alarm, type AlarmCode, type AlarmSource, alarmRule } from "./alarm.ts";
import type { Source } from "./command.ts";

/** What is known of a condition: whether it holds now, and what was found. */
export interface AlarmCondition {
  readonly holds: boolean;
  /** One sentence. Another sentence while the alarm is active is another occurrence. */
  readonly text: string;
  /** Overrides the severity of the code. */
  readonly severity?: number;
}

/** One condition of one source, and its alarm. */
export interface AlarmLife {
  readonly code: AlarmCode;
  readonly source: AlarmSource;
  readonly condition: AlarmCondition;
  /** Monotonic: since when the condition has held, or has not. */
  readonly changedAtMs: number;
  /** False while the condition is known only from the file of an earlier run. */
  readonly isStated: boolean;
  readonly alarm: Alarm | null;
  /** The text that was acknowledged. It raises no alarm while the condition keeps that text. */
  readonly dismissed: string | null;
}

/** What became of an alarm, for its event. */
export interface AlarmTransition {
  readonly from: "active" | "inactive";
  readonly to: "active" | "inactive" | "acknowledged";
  readonly alarm: Alarm;
}

/** The result of an input. Null: nothing is left to remember, or nothing has happened. */
export interface AlarmStep {
  readonly life: AlarmLife | null;
  readonly transition: AlarmTransition | null;
}

/** One moment on both clocks. */
export interface AlarmMoment {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** A condition is set or cleared. A first alarm waits for `dueAlarm`. */
export function stateAlarm(
  before: AlarmLife | null,
  { code, source }: Pick<AlarmLife, "code" | "source">,
  condition: AlarmCondition,
  { monotonicMs }: AlarmMoment,
): AlarmStep {
  if (before === null) {
    const life = condition.holds ? begin(code, source, condition, monotonicMs) : null;
    return { life, transition: null };
  }
  const isChanged = before.condition.holds !== condition.holds;
  if (before.isStated && !isChanged && (!condition.holds || isSame(before.condition, condition)))
    return { life: before, transition: null };
  const life: AlarmLife = {
    ...before,
    condition: condition.holds ? condition : { ...before.condition, holds: false },
    changedAtMs: isChanged ? monotonicMs : before.changedAtMs,
    isStated: true,
  };
  return condition.holds ? sayAgain(life) : { life, transition: null };
}

function isSame(a: AlarmCondition, b: AlarmCondition): boolean {
  return a.text === b.text && a.severity === b.severity;
}

function begin(
  code: AlarmCode,
  source: AlarmSource,
  condition: AlarmCondition,
  changedAtMs: number,
): AlarmLife {
  return { code, source, condition, changedAtMs, isStated: true, alarm: null, dismissed: null };
}

/** An active alarm with another text has occurred once more, and must be acknowledged again. */
function sayAgain(life: AlarmLife): AlarmStep {
  const { alarm } = life;
  if (alarm === null || !alarm.isActive || isSaid(life, alarm)) return { life, transition: null };
  return raised(life, alarm, "active");
}

function isSaid({ condition, code }: AlarmLife, alarm: Alarm): boolean {
  return alarm.text === condition.text && alarm.severity === severityOf(code, condition);
}

function severityOf(code: AlarmCode, { severity }: AlarmCondition): number {
  return severity ?? alarmRule(code).severity;
}

function raised(life: AlarmLife, before: Alarm, from: AlarmTransition["from"]): AlarmStep {
  const alarm: Alarm = {
    ...before,
    severity: severityOf(life.code, life.condition),
    text: life.condition.text,
    isActive: true,
    returnedAtMs: null,
    occurrences: before.occurrences + 1,
    acknowledged: null,
  };
  return { life: { ...life, alarm, dismissed: null }, transition: { from, to: "active", alarm } };
}

/** When time alone changes the alarm, by the monotonic clock; null: never, while its condition stays. */
export function alarmDueAtMs({ alarm, code, condition, changedAtMs, dismissed }: AlarmLife): number | null {
  const { onDelayMs, offDelayMs, ends } = alarmRule(code);
  const isActive = alarm?.isActive === true;
  if (condition.holds) return isActive || condition.text === dismissed ? null : changedAtMs + onDelayMs;
  if (alarm === null) return changedAtMs;
  return isActive && ends !== "acknowledgement" ? changedAtMs + offDelayMs : null;
}

/**
 * What time alone does: a condition has held, or has been over, for long enough.
 *
 * @param isSuppressed something else is the cause: no alarm is raised
 * @param nextId names a new alarm
 */
export function dueAlarm(
  life: AlarmLife,
  { nowMs, monotonicMs }: AlarmMoment,
  isSuppressed: boolean,
  nextId: () => string,
): AlarmStep {
  const { alarm, code, source, condition } = life;
  const dueAtMs = alarmDueAtMs(life);
  if (dueAtMs === null || monotonicMs < dueAtMs) return { life, transition: null };
  if (condition.holds) {
    if (isSuppressed) return { life, transition: null };
    const first = { id: nextId(), code, source, severity: 0, text: "", isActive: false, sinceMs: nowMs };
    const fresh: Alarm = { ...first, returnedAtMs: null, occurrences: 0, acknowledged: null };
    return raised(life, alarm ?? fresh, "inactive");
  }
  if (alarm === null) return { life: null, transition: null };
  const returned: Alarm = { ...alarm, isActive: false, returnedAtMs: nowMs };
  const isOver = alarm.acknowledged !== null || alarmRule(code).ends === "either";
  return {
    life: isOver ? null : { ...life, alarm: returned },
    transition: { from: "active", to: "inactive", alarm: returned },
  };
}

/** A user acknowledges the alarm. A second acknowledgement changes nothing. */
export function acknowledgeAlarm(life: AlarmLife, by: Source, { nowMs }: AlarmMoment): AlarmStep {
  const { alarm, code, condition, isStated } = life;
  if (alarm === null) return { life, transition: null };
  // The condition is of an earlier run, and nothing sets it any more: its robot may have left the fleet for
  // good.
  if (alarm.acknowledged !== null) return { life: isStated ? life : null, transition: null };
  const acknowledged: Alarm = { ...alarm, acknowledged: { by, atMs: nowMs } };
  const from = alarm.isActive ? "active" : "inactive";
  const transition: AlarmTransition = { from, to: "acknowledged", alarm: acknowledged };
  switch (alarmRule(code).ends) {
    case "acknowledgement":
      return { life: null, transition };
    case "either":
      return {
        life: condition.holds ? { ...life, alarm: null, dismissed: condition.text } : null,
        transition,
      };
    case "return":
      return { life: alarm.isActive ? { ...life, alarm: acknowledged } : null, transition };
  }
}

/** The robot is put out of service: the alarm rests, and its condition is still followed. */
export function restAlarm(life: AlarmLife, { nowMs, monotonicMs }: AlarmMoment): AlarmStep {
  const { alarm, condition } = life;
  const resting = condition.holds
    ? { ...life, alarm: null, dismissed: null, changedAtMs: monotonicMs }
    : null;
  if (alarm === null || !alarm.isActive) return { life: resting, transition: null };
  const returned: Alarm = { ...alarm, isActive: false, returnedAtMs: nowMs };
  return { life: resting, transition: { from: "active", to: "inactive", alarm: returned } };
}
