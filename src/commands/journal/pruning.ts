import { type Clock, every } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { WatchedJournal } from "./watched-journal.ts";

const PRUNE_PERIOD_MS = 10_000;

export interface PruningParts {
  readonly journal: Pick<WatchedJournal, "prune" | "isWritable" | "writeProbe">;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Takes out of the journal, every few seconds until the signal is aborted, what need not be kept any longer.
 * A disk that has failed is tried first: else its health would wait for the next command.
 */
export function pruneJournal({ journal, clock, log, signal }: PruningParts): void {
  const startedAtMs = clock.nowMs() - clock.monotonicMs();
  let isPruning = false;

  /**
   * The earlier of the wall clock and what it would be had nobody set it since the start:
   * a clock that is set must not make the journal forget what it has just recorded.
   */
  function oldestNowMs(): number {
    return Math.min(clock.nowMs(), startedAtMs + clock.monotonicMs());
  }

  /** Step by step: commands go on in between. */
  async function prune(): Promise<void> {
    try {
      if (!journal.isWritable()) await journal.writeProbe();
      while (!signal.aborted) {
        if (!(await journal.prune(oldestNowMs()))) break;
      }
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
