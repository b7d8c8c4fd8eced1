import { type Clock, every } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { WatchedJournal } from "./watched-journal.ts";

const PRUNE_PERIOD_MS = 10_000;

export interface PruningParts {
  readonly journal: Pick<WatchedJournal, "prune" | "isWritable" | "writeProbe" | "writeMissed">;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Removes records from the journal that need no longer be kept, every few seconds until the signal is
 * aborted. A disk that has failed is tried first: otherwise its health would wait for the next command.
 * Outcomes that it refused are written as soon as it takes them.
 */
export function pruneJournal({ journal, clock, log, signal }: PruningParts): void {
  let isPruning = false;

  /** Step by step: commands go on in between. */
  async function prune(): Promise<void> {
    try {
      if (!journal.isWritable()) await journal.writeProbe();
      while (!signal.aborted && (await journal.writeMissed()));
      while (!signal.aborted && (await journal.prune()));
    } catch (error) {
      log.warn({ err: error }, "the journal could not be pruned");
    }
    isPruning = false;
  }

  every(clock, PRUNE_PERIOD_MS, signal, () => {
    if (isPruning) return;
    isPruning = true;
    void prune();
  });
}
