import type { Journal } from "./journal.ts";

/** The same journal, and whether its last write came through. */
export function watchJournal(journal: Journal): Journal & { isWritable(): boolean } {
  let isWritable = true;
  return {
    ...journal,
    isWritable: () => isWritable,
    async write(entry) {
      try {
        await journal.write(entry);
        isWritable = true;
      } catch (error) {
        isWritable = false;
        throw error;
      }
    },
  };
}
