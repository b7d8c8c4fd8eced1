import { type AlarmCode, type AlarmSource, alarmSourceKey } from "../domain/alarm.ts";
import type { AlarmInstance } from "../domain/alarm-instance.ts";
import type { AlarmPages } from "./alarm-pages.ts";

/** Finds the alarms that time may change now, without a look at all of them for each message. */
export interface DueAlarms {
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
