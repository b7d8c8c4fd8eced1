import type { Clock } from "../../../platform/clock.ts";
import type { Journal } from "./journal.ts";

/** A disk that takes longer for a record has failed (design, OPC UA: Command slots). */
export const RECORD_WITHIN_MS = 1_000;

/** The same journal, and whether its last write came through in time. */
export function watchJournal(journal: Journal, clock: Clock): Journal & { isWritable(): boolean } {
  let isWritable = true;
  return {
    ...journal,
    isWritable: () => isWritable,
    async write(entry) {
      const inTime = clock.after(RECORD_WITHIN_MS, () => {
        isWritable = false;
      });
      try {
        await journal.write(entry);
        isWritable = true;
      } catch (error) {
        isWritable = false;
        throw error;
      } finally {
        inTime();
      }
    },
  };
}
