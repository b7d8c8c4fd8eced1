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
export interface AlarmInstance {
  readonly code: AlarmCode;
  readonly source: AlarmSource;
  readonly condition: AlarmCondition;
  /** Monotonic: since when the condition has held, or has not. */
  readonly changedAtMs: number;
  /** False while the condition is known only from the file of an earlier run. */
  readonly isConfirmed: boolean;
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
  readonly instance: AlarmInstance | null;
  readonly transition: AlarmTransition | null;
}

/** One moment on both clocks. */
export interface AlarmMoment {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** A condition is set or cleared. A first alarm waits for `dueAlarm`. */
export function stateAlarm(
  before: AlarmInstance | null,
  { code, source }: Pick<AlarmInstance, "code" | "source">,
  condition: AlarmCondition,
  { nowMs, monotonicMs }: AlarmMoment,
): AlarmStep {
  if (before === null) {
    const instance = condition.holds ? begin(code, source, condition, monotonicMs) : null;
    return { instance, transition: null };
  }
  const isChanged = before.condition.holds !== condition.holds;
  if (before.isConfirmed && !isChanged && (!condition.holds || isSame(before.condition, condition)))
    return { instance: before, transition: null };
  const instance: AlarmInstance = {
    ...before,
    condition: condition.holds ? condition : { ...before.condition, holds: false },
    changedAtMs: isChanged ? monotonicMs : before.changedAtMs,
    isConfirmed: true,
  };
  return condition.holds ? sayAgain(instance, nowMs) : { instance, transition: null };
}

function isSame(a: AlarmCondition, b: AlarmCondition): boolean {
  return a.text === b.text && a.severity === b.severity;
}

function begin(
  code: AlarmCode,
  source: AlarmSource,
  condition: AlarmCondition,
  changedAtMs: number,
): AlarmInstance {
  return { code, source, condition, changedAtMs, isConfirmed: true, alarm: null, dismissed: null };
}

/** An active alarm with another text has occurred once more, and must be acknowledged again. */
function sayAgain(instance: AlarmInstance, nowMs: number): AlarmStep {
  const { alarm } = instance;
  if (alarm === null || !alarm.isActive || isSaid(instance, alarm)) return { instance, transition: null };
  return raised(instance, alarm, "active", nowMs);
}

function isSaid({ condition, code }: AlarmInstance, alarm: Alarm): boolean {
  return alarm.text === condition.text && alarm.severity === severityOf(code, condition);
}

function severityOf(code: AlarmCode, { severity }: AlarmCondition): number {
  return severity ?? alarmRule(code).severity;
}

/** The alarm with another state, as its next revision. */
function changed(alarm: Alarm, change: Partial<Alarm>, nowMs: number): Alarm {
  return { ...alarm, ...change, revision: alarm.revision + 1, changedAtMs: nowMs };
}

function raised(
  instance: AlarmInstance,
  before: Alarm,
  from: AlarmTransition["from"],
  nowMs: number,
): AlarmStep {
  const change = {
    severity: severityOf(instance.code, instance.condition),
    text: instance.condition.text,
    isActive: true,
    returnedAtMs: null,
    occurrences: before.occurrences + 1,
    acknowledged: null,
  };
  const alarm = changed(before, change, nowMs);
  return { instance: { ...instance, alarm, dismissed: null }, transition: { from, to: "active", alarm } };
}

/** When time alone changes the alarm, by the monotonic clock; null: never, while its condition stays. */
export function alarmDueAtMs({
  alarm,
  code,
  condition,
  changedAtMs,
  dismissed,
}: AlarmInstance): number | null {
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
  instance: AlarmInstance,
  { nowMs, monotonicMs }: AlarmMoment,
  isSuppressed: boolean,
  nextId: () => string,
): AlarmStep {
  const { alarm, code, source, condition } = instance;
  const dueAtMs = alarmDueAtMs(instance);
  if (dueAtMs === null || monotonicMs < dueAtMs) return { instance, transition: null };
  if (condition.holds) {
    if (isSuppressed) return { instance, transition: null };
    const first = { id: nextId(), code, source, severity: 0, text: "", isActive: false, sinceMs: nowMs };
    const untouched = { returnedAtMs: null, occurrences: 0, acknowledged: null, comment: null };
    const fresh: Alarm = { ...first, ...untouched, revision: 0, changedAtMs: nowMs };
    return raised(instance, alarm ?? fresh, "inactive", nowMs);
  }
  if (alarm === null) return { instance: null, transition: null };
  const returned = returnedAlarm(alarm, nowMs);
  return {
    instance: isOver(returned) ? null : { ...instance, alarm: returned },
    transition: { from: "active", to: "inactive", alarm: returned },
  };
}

function returnedAlarm(alarm: Alarm, nowMs: number): Alarm {
  return changed(alarm, { isActive: false, returnedAtMs: nowMs }, nowMs);
}

/** A user comments on the alarm; the newest comment counts. */
export function commentAlarm(
  instance: AlarmInstance,
  by: Source,
  text: string,
  { nowMs }: AlarmMoment,
): AlarmStep {
  const { alarm } = instance;
  if (alarm === null) return { instance, transition: null };
  const commented = changed(alarm, { comment: { text, by, atMs: nowMs } }, nowMs);
  return { instance: { ...instance, alarm: commented }, transition: null };
}

/**
 * A user acknowledges the alarm. A second acknowledgement changes nothing.
 *
 * @param comment undefined: the comment stays as it is
 */
export function acknowledgeAlarm(
  instance: AlarmInstance,
  by: Source,
  comment: string | undefined,
  { nowMs }: AlarmMoment,
): AlarmStep {
  const { alarm, code, condition, isConfirmed } = instance;
  if (alarm === null) return { instance, transition: null };
  // The condition is of an earlier run, and nothing sets it any more: its robot may have left the fleet for
  // good.
  if (alarm.acknowledged !== null) return { instance: isConfirmed ? instance : null, transition: null };
  const said = comment === undefined ? {} : { comment: { text: comment, by, atMs: nowMs } };
  const acknowledged = changed(alarm, { ...said, acknowledged: { by, atMs: nowMs } }, nowMs);
  const from = alarm.isActive ? "active" : "inactive";
  const transition: AlarmTransition = { from, to: "acknowledged", alarm: acknowledged };
  switch (alarmRule(code).ends) {
    case "acknowledgement":
      return { instance: null, transition };
    case "either":
      return {
        instance: condition.holds ? { ...instance, alarm: null, dismissed: condition.text } : null,
        transition,
      };
    case "return":
      return { instance: alarm.isActive ? { ...instance, alarm: acknowledged } : null, transition };
  }
}

/** Whether an alarm that has come to this state stands no more. */
export function isOver({ code, isActive, acknowledged }: Alarm): boolean {
  switch (alarmRule(code).ends) {
    case "acknowledgement":
      return acknowledged !== null;
    case "either":
      return acknowledged !== null || !isActive;
    case "return":
      return acknowledged !== null && !isActive;
  }
}

/** The robot is put out of service: the alarm rests, and its condition is still followed. */
export function restAlarm(instance: AlarmInstance, { nowMs, monotonicMs }: AlarmMoment): AlarmStep {
  const { alarm, condition } = instance;
  const resting = condition.holds
    ? { ...instance, alarm: null, dismissed: null, changedAtMs: monotonicMs }
    : null;
  if (alarm === null || !alarm.isActive) return { instance: resting, transition: null };
  const transition = { from: "active", to: "inactive", alarm: returnedAlarm(alarm, nowMs) } as const;
  return { instance: resting, transition };
}

/** Whether a value, such as one from a file, is the source of an alarm. */
export function isAlarmSource(value: unknown): value is AlarmSource {
  if (typeof value !== "object" || value === null || !("kind" in value)) return false;
  if (value.kind === "robot") return "robotId" in value && typeof value.robotId === "string";
  if (value.kind === "station") return "station" in value && typeof value.station === "string";
  return value.kind === "gateway";
}
