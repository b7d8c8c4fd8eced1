import type { Clock } from "../../../platform/clock.ts";

/**
 * The recent ticks. A start names the last tick that its page had, so that a page that slept sends nothing
 * based on old values.
 */
export interface Ticks {
  /** The id of the tick that is due now. */
  next(): string;
  /** The id of the last tick; null: none was sent. */
  last(): string | null;
  /** What a start that names this tick lacks, as an instruction; null: nothing. */
  refused(id: string): string | null;
}

const LONGEST_MS = 10_000;
/** More than are sent within that time. */
const MOST_KEPT = 16;

export function createTicks(sessionId: string, clock: Pick<Clock, "monotonicMs">): Ticks {
  const sentAtMs = new Map<string, number>();
  let number = 0;
  return {
    next() {
      number += 1;
      const id = `${sessionId}.${number}`;
      sentAtMs.set(id, clock.monotonicMs());
      const [oldest] = sentAtMs.keys();
      if (sentAtMs.size > MOST_KEPT && oldest !== undefined) sentAtMs.delete(oldest);
      return id;
    },
    last: () => (number === 0 ? null : `${sessionId}.${number}`),
    refused(id) {
      const atMs = sentAtMs.get(id);
      if (atMs !== undefined && clock.monotonicMs() - atMs <= LONGEST_MS) return null;
      return `look at the robot again: the tick that it names is older than ${LONGEST_MS / 1_000} s`;
    },
  };
}
