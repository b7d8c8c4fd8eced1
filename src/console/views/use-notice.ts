import { useSignal, useSignalEffect } from "@preact/signals";
import { elapsedMs, type Moment } from "../trust/time-text.ts";
import { usePage } from "./context.ts";

/** So long a notice stays at least. */
const NOTICE_MS = 30_000;

/**
 * A notice of what was not done. It goes with the next one, and by itself: what it speaks of may be over.
 *
 * @param isOf whether it still speaks of what is now; absent: nobody knows
 */
export function useNotice(isOf: () => boolean = () => false) {
  const { store, now } = usePage();
  const notice = useSignal<{ readonly text: string; readonly at: Moment } | null>(null);
  useSignalEffect(() => {
    const shown = notice.value;
    if (shown === null || elapsedMs(shown.at, store.now.value) < NOTICE_MS || isOf()) return;
    notice.value = null;
  });
  return {
    /** Empty: there is none. */
    text: notice.value?.text ?? "",
    show(text: string): void {
      notice.value = { text, at: now() };
    },
    clear(): void {
      notice.value = null;
    },
  };
}
