// Stands in the place of the gateway's recorder, which gets nothing while the switch is off.
import type { Clock } from "../../../src/platform/clock.ts";
import type * as Original from "../../../src/platform/recorder/recorder.ts";
import type { RecorderTap } from "../../../src/platform/recorder/recording.ts";
import { originalOf } from "./original.ts";
import { isHandedOver, putOff, watching } from "./switch.ts";

const original = await originalOf<typeof Original>(import.meta.url);

export const createRecorder: typeof Original.createRecorder = (options, parts) => {
  const recorder = original.createRecorder(options, { ...parts, clock: hastened(parts.clock) });
  return { ...recorder, tap: switched(recorder.tap) };
};

function switched(tap: RecorderTap): RecorderTap {
  return {
    get isOn() {
      return watching.isOn && tap.isOn;
    },
    get segment() {
      return tap.segment;
    },
    write(kind, parts) {
      if (isHandedOver()) tap.write(kind, parts);
    },
  };
}

/** What is put off on this clock can be done at once: what a block costs is not to fall into the next. */
function hastened(clock: Clock): Clock {
  return {
    ...clock,
    after(delayMs, task) {
      const once = () => {
        cancel();
        task();
      };
      const cancelTimer = clock.after(delayMs, once);
      const cancel = () => {
        putOff.delete(once);
        cancelTimer();
      };
      putOff.add(once);
      return cancel;
    },
  };
}
