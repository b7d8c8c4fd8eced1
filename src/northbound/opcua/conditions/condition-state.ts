import { type Alarm, type AlarmCode, type AlarmSource, alarmSourceKey } from "../../../domain/alarm.ts";
import { eventIdOf } from "./event-id.ts";

/** A condition at one moment: what its event says. */
export interface ConditionState {
  /** The ConditionName: a code, or BATTERY for low and critical. */
  readonly name: string;
  readonly source: AlarmSource;
  readonly eventId: string;
  /** The alarm that it shows: the active one, or of two the more severe. */
  readonly alarm: Alarm;
  /** Whether one of its alarms stands. */
  readonly isRetained: boolean;
  readonly isActive: boolean;
  readonly isAcknowledged: boolean;
  readonly changedAtMs: number;
  readonly comment: Alarm["comment"];
  /** The severity before the present one; 0: there was none. */
  readonly lastSeverity: number;
}

/** The condition of an alarm with this code. */
export function conditionName(code: AlarmCode): string {
  return code === "BATTERY_LOW" || code === "BATTERY_CRITICAL" ? "BATTERY" : code;
}

/** The condition of an alarm, as a key for maps. */
export function conditionKey({ code, source }: Pick<Alarm, "code" | "source">): string {
  return `${alarmSourceKey(source)} ${conditionName(code)}`;
}

/**
 * The next state of a condition.
 *
 * @param standing its alarms that stand
 * @param gone those that stood before, as they were last; shown if none stands
 * @param before null: the condition was not retained
 */
export function nextState(
  standing: readonly Alarm[],
  gone: readonly Alarm[],
  before: ConditionState | null,
): ConditionState {
  const isRetained = standing.length > 0;
  const shown = (isRetained ? standing : gone).toSorted(byActivity);
  const [alarm] = shown;
  if (alarm === undefined) throw new Error("a condition without an alarm");
  const { code, source, severity } = alarm;
  const newest = shown.flatMap(({ comment }) => comment ?? []).sort((a, b) => b.atMs - a.atMs);
  const isSame = before?.alarm.severity === severity;
  return {
    name: conditionName(code),
    source,
    eventId: eventIdOf([...standing, ...gone]),
    alarm,
    isRetained,
    // Where the condition itself has no end that the gateway could see, the alarm's end is its end.
    isActive: isRetained && alarm.isActive,
    // What is over wants no acknowledgement.
    isAcknowledged: shown.every(({ acknowledged }) => acknowledged !== null) || !isRetained,
    changedAtMs: Math.max(...[...standing, ...gone].map(({ changedAtMs }) => changedAtMs)),
    comment: newest[0] ?? null,
    lastSeverity: (isSame ? before.lastSeverity : before?.alarm.severity) ?? 0,
  };
}

function byActivity(a: Alarm, b: Alarm): number {
  return Number(b.isActive) - Number(a.isActive) || b.severity - a.severity;
}
