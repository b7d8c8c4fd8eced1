import { type Alarm, type AlarmCode, type AlarmSource, alarmRule, isOfBox } from "../domain/alarm.ts";
import type { AlarmInstance, AlarmTransition } from "../domain/alarm-instance.ts";
import type { Clock } from "../platform/clock.ts";
import type { AlarmPages } from "./alarm-pages.ts";

/** Makes the alarms of a member of a cluster those of the leader. */
export interface AlarmFollower {
  /** The leader's alarm with this id; null: it has none. */
  alarm(id: string, alarm: Alarm | null): void;
  /** The condition has changed on this box: the leader says what follows from it. */
  condition(before: AlarmInstance, next: AlarmInstance): void;
  /** Ends the conditions of these codes that only the leader has found. */
  end(isOver: (code: AlarmCode) => boolean): void;
}

/**
 * @param changed the alarms of this source are others
 * @param report publishes what has become of an alarm
 */
export function createAlarmFollower(
  pages: AlarmPages,
  clock: Pick<Clock, "monotonicMs">,
  changed: (source: AlarmSource) => void,
  report: (transition: AlarmTransition) => void,
): AlarmFollower {
  /** It is over, or was acknowledged so that it rests. */
  function gone(instance: AlarmInstance): void {
    const { code, source, condition, isConfirmed } = instance;
    const dismissed = alarmRule(code).ends === "either" ? condition.text : null;
    if (condition.holds && isConfirmed) pages.put({ ...instance, alarm: null, dismissed });
    else pages.remove(instance);
    changed(source);
  }

  function found(alarm: Alarm): void {
    const { code, source, isActive, text, severity } = alarm;
    const before = pages.find(source, code);
    const shown = before?.alarm ?? null;
    if (isOfBox(alarm) || JSON.stringify(shown) === JSON.stringify(alarm)) return;
    const own = before?.isConfirmed === true ? before : null;
    pages.put({
      ...{ code, source, alarm, dismissed: null, isConfirmed: own !== null },
      condition: own?.condition ?? { holds: isActive, text, severity },
      changedAtMs: own?.changedAtMs ?? clock.monotonicMs(),
    });
    changed(source);
    for (const transition of transitionsBetween(shown, alarm)) report(transition);
  }

  return {
    alarm(id, alarm) {
      if (alarm !== null) return found(alarm);
      const instance = pages.withId(id);
      if (instance !== undefined && !isOfBox(instance)) gone(instance);
    },
    condition({ alarm, dismissed }, next) {
      if (alarm === null && !next.condition.holds) pages.remove(next);
      else pages.put({ ...next, alarm, dismissed });
    },
    end(isOver) {
      for (const instance of pages.instances()) {
        const { code, condition, isConfirmed } = instance;
        if (!isConfirmed && isOver(code))
          pages.put({ ...instance, condition: { ...condition, holds: false }, isConfirmed: true });
      }
    },
  };
}

/** What has become of an alarm between two of its values. */
function transitionsBetween(before: Alarm | null, alarm: Alarm): readonly AlarmTransition[] {
  const from = before?.isActive === true ? "active" : "inactive";
  const to = alarm.isActive ? "active" : "inactive";
  const hasRecurred = before?.id !== alarm.id || before.occurrences !== alarm.occurrences;
  const isMoved = from !== to || (alarm.isActive && hasRecurred);
  const isAcknowledged = before !== null && before.acknowledged === null && alarm.acknowledged !== null;
  return [
    ...(isMoved ? [{ from, to, alarm } as const] : []),
    ...(isAcknowledged ? [{ from: to, to: "acknowledged", alarm } as const] : []),
  ];
}
