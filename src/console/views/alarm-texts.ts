import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type AlarmTexts, type AlarmTextsByCode, isEnglish, readAlarmTexts } from "../texts/texts.ts";

/** Null: they are not loaded yet. */
const known = signal<AlarmTextsByCode | null>(null);
let isBegun = false;

/** Loads the texts of alarms once: they are a quarter of a language that nobody reads without an alarm. */
export async function loadAlarmTexts(): Promise<void> {
  if (isBegun) return;
  isBegun = true;
  try {
    known.value = await readAlarmTexts();
  } catch {
    // Advice in English is better than none. The next call tries again.
    known.value ??= {};
    isBegun = false;
  }
}

/** Cause and advice of an alarm, and what robots do meanwhile; null while they are loaded. */
export function useAlarmTexts(alarm: AlarmTexts & { readonly code: string }): AlarmTexts | null {
  useEffect(() => void loadAlarmTexts(), []);
  if (isEnglish()) return alarm;
  return known.value && (known.value[alarm.code.replace(/_-?\d+$/, "")] ?? alarm);
}
