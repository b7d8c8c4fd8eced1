import { type Alarm, type AlarmCode, type AlarmSource, alarmSourceKey, byUrgency } from "../domain/alarm.ts";
import type { AlarmLife } from "../domain/alarm-life.ts";

/** Alarms with their conditions, by source and code. */
export interface AlarmPages {
  find(source: AlarmSource, code: AlarmCode): AlarmLife | null;
  put(life: AlarmLife): void;
  remove(life: AlarmLife): void;
  /** A copy: its entries may be put and removed meanwhile. */
  lives(source?: AlarmSource): readonly AlarmLife[];
  /** The alarms of one source or of all, the most urgent first. */
  active(source?: AlarmSource): readonly Alarm[];
}

export function createAlarmPages(): AlarmPages {
  const pages = new Map<string, Map<AlarmCode, AlarmLife>>();

  function lives(source?: AlarmSource): readonly AlarmLife[] {
    if (source !== undefined) return [...(pages.get(alarmSourceKey(source))?.values() ?? [])];
    return Array.from(pages.values(), (page) => [...page.values()]).flat();
  }

  return {
    // It runs for every message. Reading the size of an empty map is cheaper than making a key.
    find: (source, code) =>
      pages.size === 0 ? null : (pages.get(alarmSourceKey(source))?.get(code) ?? null),
    put(life) {
      const key = alarmSourceKey(life.source);
      const page = pages.get(key);
      if (page === undefined) pages.set(key, new Map([[life.code, life]]));
      else page.set(life.code, life);
    },
    remove({ source, code }) {
      const key = alarmSourceKey(source);
      const page = pages.get(key);
      page?.delete(code);
      if (page?.size === 0) pages.delete(key);
    },
    lives,
    active: (source) =>
      lives(source)
        .map(({ alarm }) => alarm)
        .filter((alarm) => alarm !== null)
        .sort(byUrgency),
  };
}
