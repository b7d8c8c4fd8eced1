import { type Alarm, isAlarmCode } from "../../../domain/alarm.ts";
import { isAlarmSource } from "../../../domain/alarm-instance.ts";
import { BoundedMap } from "../../../platform/bounded-map.ts";
import { isJsonObject } from "../../../platform/json.ts";
import type { Codec } from "../../../platform/stores/table-store.ts";
import type { WriteBehind } from "../../../platform/stores/write-behind.ts";

/** An alarm that has ended, as far as an EventId names it. */
export interface EndedAlarm extends Pick<Alarm, "id" | "code" | "source" | "occurrences" | "revision"> {
  /** Null: it has ended without an acknowledgement. */
  readonly acknowledgedAtMs: number | null;
}

/** Alarms that were acknowledged before they ended, kept over a restart: clients still name them. */
export interface AcknowledgedAlarms {
  /** Those of earlier runs. */
  readonly before: readonly EndedAlarm[];
  note(alarm: EndedAlarm): void;
}

/** So many alarms are remembered after their end. */
export const MOST_ENDED = 1_000;

export function openAcknowledgedAlarms(tables: WriteBehind): AcknowledgedAlarms {
  const table = tables.table("acknowledged-alarms", endedCodec, "begin empty");
  const byTime = Array.from(table.entries(), ([, alarm]) => alarm).sort(
    (a, b) => (a.acknowledgedAtMs ?? 0) - (b.acknowledgedAtMs ?? 0),
  );
  const kept = new BoundedMap<string, EndedAlarm>(MOST_ENDED);
  for (const alarm of byTime) kept.set(alarm.id, alarm);
  return {
    before: [...kept.values()],
    note(alarm) {
      const [oldest] = kept.keys();
      kept.set(alarm.id, alarm);
      const isEvicted = oldest !== undefined && !kept.has(oldest);
      tables.keep([table.put(alarm.id, alarm), ...(isEvicted ? [table.remove(oldest)] : [])]);
    },
  };
}

const endedCodec: Codec<EndedAlarm> = {
  encode: (alarm) => alarm,
  decode(json) {
    if (!isJsonObject(json)) return null;
    const { id, code, source, occurrences, revision, acknowledgedAtMs } = json;
    if (typeof id !== "string" || typeof code !== "string" || !isAlarmCode(code)) return null;
    if (!isAlarmSource(source) || typeof occurrences !== "number") return null;
    if (typeof revision !== "number" || typeof acknowledgedAtMs !== "number") return null;
    return { id, code, source, occurrences, revision, acknowledgedAtMs };
  },
};
