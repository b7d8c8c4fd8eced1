import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import { startLoopTimer } from "../../platform/loop-timer.ts";
import { ChangedMeanwhile } from "../../platform/store.ts";
import type { Journal, JournalRecord } from "./journal.ts";

/**
 * A disk that takes longer for a record has failed (docs/opcua-reference.md, A full disk while a slot is
 * used).
 */
const RECORD_WITHIN_MS = 1_000;

/** A journal that knows whether its disk works. */
export interface WatchedJournal extends Journal {
  /**
   * Resolves with null when the record is on the disk, and with the reason if it was not within a second. A
   * journal that members share has no such limit: the reason is known when the record cannot come later.
   */
  writeInTime(entry: JournalRecord): Promise<string | typeof changedMeanwhile | null>;
  /** Whether the last write reached the disk in time. */
  isWritable(): boolean;
  /** Whether it is closed, or closing: then nothing can be read from it. */
  isClosed(): boolean;
}

/** What the record rested on has changed, and it was not written. */
export const changedMeanwhile = Symbol("changed meanwhile");

/**
 * Watches every write of a journal. All code must write through the result, or the health does not see its
 * failures.
 */
export function watchJournal(journal: Journal, clock: Clock, isShared = false): WatchedJournal {
  let isWritable = true;
  let isClosed = false;

  async function watch<T>(writing: Promise<T>, onLate?: () => void): Promise<T> {
    const timer = startLoopTimer(clock, RECORD_WITHIN_MS, () => {
      isWritable = false;
      onLate?.();
    });
    try {
      const result = await writing;
      // False: there was nothing to remove, or to write.
      if (result !== false) isWritable = true;
      return result;
    } catch (error) {
      isWritable = error instanceof ChangedMeanwhile;
      throw error;
    } finally {
      timer.stop();
    }
  }

  return {
    ...journal,
    isWritable: () => isWritable,
    isClosed: () => isClosed,
    write: (entry) => watch(journal.write(entry)),
    writeInTime: (entry) =>
      new Promise((resolve) => {
        const onLate = () => resolve(`the disk took more than ${RECORD_WITHIN_MS} ms`);
        watch(journal.write(entry), isShared ? undefined : onLate).then(
          () => resolve(null),
          (error: unknown) =>
            resolve(error instanceof ChangedMeanwhile ? changedMeanwhile : describeError(error)),
        );
      }),
    writeLease: (robotId, lease) => watch(journal.writeLease(robotId, lease)),
    writeRuns: (robotId, runs) => watch(journal.writeRuns(robotId, runs)),
    writeHold: (hold, isHeld) => watch(journal.writeHold(hold, isHeld)),
    prune: () => watch(journal.prune()),
    writeProbe: () => watch(journal.writeProbe()),
    writeMissed: () => watch(journal.writeMissed()),
    close() {
      isClosed = true;
      return journal.close();
    },
  };
}
