import type { Clock } from "../../platform/clock.ts";
import type { Journal } from "./journal.ts";

/** A disk that takes longer for a record has failed (design, OPC UA: Command slots). */
export const RECORD_WITHIN_MS = 1_000;

/** A journal, and how it fares. */
export interface WatchedJournal extends Journal {
  /** Whether its last write came through in time. */
  isWritable(): boolean;
  /** Whether it is closed, or closing: then nothing can be read from it any more. */
  isClosed(): boolean;
}

/** The same journal, watched. */
export function watchJournal(journal: Journal, clock: Clock): WatchedJournal {
  let isWritable = true;
  let isClosed = false;
  return {
    ...journal,
    isWritable: () => isWritable,
    isClosed: () => isClosed,
    close() {
      isClosed = true;
      return journal.close();
    },
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
