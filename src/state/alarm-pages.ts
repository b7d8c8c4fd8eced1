import {
  type Alarm,
  type AlarmCode,
  type AlarmSource,
  alarmRule,
  alarmSourceKey,
  byUrgency,
  isOfBox,
} from "../domain/alarm.ts";
import type { AlarmInstance, AlarmTransition } from "../domain/alarm-instance.ts";
import type { Clock } from "../platform/clock.ts";

/** Alarms with their conditions, by source and code. */
export interface AlarmPages {
  find(source: AlarmSource, code: AlarmCode): AlarmInstance | null;
  put(instance: AlarmInstance): void;
  remove(instance: AlarmInstance): void;
  /** A copy: its entries may be put and removed meanwhile. */
  instances(source?: AlarmSource): readonly AlarmInstance[];
  /** The one whose alarm has this id. */
  withId(id: string): AlarmInstance | undefined;
  /** The alarms of one source or of all, the most urgent first. */
  active(source?: AlarmSource): readonly Alarm[];
  /** The alarms that have changed since the last call, by their ids. Null: it stands no more. */
  takeChanges(): ReadonlyMap<string, Alarm | null>;
}

export function createAlarmPages(): AlarmPages {
  const pages = new Map<string, Map<AlarmCode, AlarmInstance>>();
  const byId = new Map<string, AlarmInstance>();
  let changes = new Map<string, Alarm | null>();
  /** All alarms, the most urgent first. Null: they have changed, and nobody has read them since. */
  let sorted: readonly Alarm[] | null = null;

  function instances(source?: AlarmSource): readonly AlarmInstance[] {
    if (source !== undefined) return [...(pages.get(alarmSourceKey(source))?.values() ?? [])];
    return Array.from(pages.values(), (page) => [...page.values()]).flat();
  }

  function replace(before: AlarmInstance | undefined, instance: AlarmInstance | null): void {
    const [old, alarm] = [before?.alarm ?? null, instance?.alarm ?? null];
    if (old !== null && old.id !== alarm?.id) {
      byId.delete(old.id);
      changes.set(old.id, null);
    }
    if (instance !== null && alarm !== null) byId.set(alarm.id, instance);
    if (alarm === old) return;
    if (alarm !== null) changes.set(alarm.id, alarm);
    sorted = null;
  }

  function activeOf(source?: AlarmSource): readonly Alarm[] {
    return instances(source)
      .map(({ alarm }) => alarm)
      .filter((alarm) => alarm !== null)
      .sort(byUrgency);
  }

  return {
    // It runs for every message. Reading the size of an empty map is cheaper than making a key.
    find: (source, code) =>
      pages.size === 0 ? null : (pages.get(alarmSourceKey(source))?.get(code) ?? null),
    put(instance) {
      const key = alarmSourceKey(instance.source);
      const page = pages.get(key);
      replace(page?.get(instance.code), instance);
      if (page === undefined) pages.set(key, new Map([[instance.code, instance]]));
      else page.set(instance.code, instance);
    },
    remove({ source, code }) {
      const key = alarmSourceKey(source);
      const page = pages.get(key);
      replace(page?.get(code), null);
      page?.delete(code);
      if (page?.size === 0) pages.delete(key);
    },
    instances,
    withId: (id) => byId.get(id),
    active(source) {
      if (source !== undefined) return activeOf(source);
      sorted ??= activeOf();
      return sorted;
    },
    takeChanges() {
      const taken = changes;
      changes = new Map();
      return taken;
    },
  };
}

/** Finds the alarms that time may change now, without a look at all of them for each message. */
interface DueAlarms {
  /** This one was set. */
  touch(instance: Pick<AlarmInstance, "code" | "source">): void;
  /** Something has changed that any alarm may depend on. */
  touchAll(): void;
  /** Time alone changes an alarm then, by the monotonic clock. */
  waitUntil(dueAtMs: number): void;
  /** Those to look at now: of the sources that were touched since the last call, or all. */
  take(monotonicMs: number): readonly AlarmInstance[];
}

const none: readonly AlarmInstance[] = [];

/** @param forAll alarms of any source depend on the one with this code */
export function createDueAlarms(pages: Pick<AlarmPages, "instances">, forAll: AlarmCode): DueAlarms {
  const touched = new Map<string, AlarmSource>();
  let isAllTouched = true;
  /** When time alone next changes an alarm. */
  let nextDueMs = Number.POSITIVE_INFINITY;

  return {
    touch({ code, source }) {
      if (code === forAll) isAllTouched = true;
      else touched.set(alarmSourceKey(source), source);
    },
    touchAll() {
      isAllTouched = true;
    },
    waitUntil(dueAtMs) {
      nextDueMs = Math.min(nextDueMs, dueAtMs);
    },
    take(monotonicMs) {
      const isAll = isAllTouched || monotonicMs >= nextDueMs;
      if (!isAll && touched.size === 0) return none;
      const found = isAll ? pages.instances() : [...touched.values()].flatMap(pages.instances);
      if (isAll) nextDueMs = Number.POSITIVE_INFINITY;
      isAllTouched = false;
      touched.clear();
      return found;
    },
  };
}

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
