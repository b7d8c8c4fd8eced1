import type { Config } from "../config/load.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Clock } from "../platform/clock.ts";
import { freeBytes } from "../platform/disk-health.ts";
import type { Log } from "../platform/log.ts";
import { createRecorder, type Recorder } from "../platform/recorder/recorder.ts";
import { noTap, type RecorderTap } from "../platform/recorder/tap.ts";
import type { RunningTime } from "../platform/running-time.ts";
import { version } from "../version.ts";

/** The recorder of a gateway, for the other modules. */
export interface Recordings {
  /** Null: switched off. */
  readonly recorder: Recorder | null;
  readonly tap: RecorderTap;
  /** Saves the last minutes soon if one of these events is an alarm that is severe enough. */
  look(events: readonly FleetEvent[]): void;
}

/** From the severity of a lost robot or a failed mission on: a low battery needs no recording. */
const LEAST_SEVERITY = 500;

export function createRecordings(
  { recorder: options }: Pick<Config, "recorder">,
  { clock, time, log }: { readonly clock: Clock; readonly time: RunningTime; readonly log: Log },
): Recordings {
  if (options === null) return { recorder: null, tap: noTap, look() {} };
  const parts = { clock, time, log: log.child({ part: "recorder" }), freeBytes, version };
  const recorder = createRecorder(options, parts);
  return {
    recorder,
    tap: recorder.tap,
    look(events) {
      for (const event of events) {
        if (event.kind !== "alarm" || event.to !== "active") continue;
        const { code, severity, text } = event.alarm;
        if (severity >= LEAST_SEVERITY) recorder.alarm(`${code}: ${text}`);
      }
    },
  };
}
