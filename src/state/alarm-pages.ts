import { type Alarm, type AlarmCode, type AlarmSource, alarmSourceKey, byUrgency } from "../domain/alarm.ts";
import type { AlarmInstance } from "../domain/alarm-instance.ts";

/** Alarms with their conditions, by source and code. */
export interface AlarmPages {
  find(source: AlarmSource, code: AlarmCode): AlarmInstance | null;
  put(instance: AlarmInstance): void;
  remove(instance: AlarmInstance): void;
  /** A copy: its entries may be put and removed meanwhile. */
  instances(source?: AlarmSource): readonly AlarmInstance[];
  /** The alarms of one source or of all, the most urgent first. */
  active(source?: AlarmSource): readonly Alarm[];
}

export function createAlarmPages(): AlarmPages {
  const pages = new Map<string, Map<AlarmCode, AlarmInstance>>();

  function instances(source?: AlarmSource): readonly AlarmInstance[] {
    if (source !== undefined) return [...(pages.get(alarmSourceKey(source))?.values() ?? [])];
    return Array.from(pages.values(), (page) => [...page.values()]).flat();
  }

  return {
    // It runs for every message. Reading the size of an empty map is cheaper than making a key.
    find: (source, code) =>
      pages.size === 0 ? null : (pages.get(alarmSourceKey(source))?.get(code) ?? null),
    put(instance) {
      const key = alarmSourceKey(instance.source);
      const page = pages.get(key);
      if (page === undefined) pages.set(key, new Map([[instance.code, instance]]));
      else page.set(instance.code, instance);
    },
    remove({ source, code }) {
      const key = alarmSourceKey(source);
      const page = pages.get(key);
      page?.delete(code);
      if (page?.size === 0) pages.delete(key);
    },
    instances,
    active: (source) =>
      instances(source)
        .map(({ alarm }) => alarm)
        .filter((alarm) => alarm !== null)
        .sort(byUrgency),
  };
}
