import type { Cancel, Clock } from "../../src/platform/clock.ts";
import { type Pace, realNowMs, realPace, simulatedAt } from "./pace.ts";

/** A clock that can be told to go faster than the machine's. */
export interface AcceleratedClock {
  readonly clock: Clock;
  /** What waits is due when the simulated clock shows its time, whatever the pace was when it began. */
  setPace(pace: Pace): void;
  /** What waits now. */
  waiting(): readonly (() => void)[];
}

interface Waiting {
  readonly dueMs: number;
  readonly task: () => void;
  cancel: Cancel;
}

/**
 * Time passes at the pace, but a wait is not made shorter than `shortestMs` of real time. Disk and network
 * are not faster than they are: a deadline of a second for a sync must stay one that a disk can meet.
 */
export function createAcceleratedClock(
  machine: Pick<Clock, "after">,
  shortestMs: number,
  realMs: () => number = realNowMs,
): AcceleratedClock {
  let pace = realPace;
  const originMs = realMs();
  let latestMs = 0;
  const all = new Set<Waiting>();

  function monotonicMs(): number {
    // A slower pace begins a moment before it is heard of.
    latestMs = Math.max(latestMs, simulatedAt(pace, realMs()) - originMs);
    return latestMs;
  }

  function realWait(waitMs: number): number {
    return pace.factor === 1 ? waitMs : Math.max(waitMs / pace.factor, Math.min(waitMs, shortestMs));
  }

  function arm(waiting: Waiting): void {
    const waitMs = Math.max(0, waiting.dueMs - monotonicMs());
    waiting.cancel = machine.after(realWait(waitMs), function simulatedTimer() {
      all.delete(waiting);
      waiting.task();
    });
  }

  return {
    clock: {
      nowMs: () => Math.floor(originMs + monotonicMs()),
      monotonicMs,
      after(delayMs, task) {
        const waiting = { dueMs: monotonicMs() + delayMs, task, cancel: () => {} };
        all.add(waiting);
        arm(waiting);
        return () => {
          all.delete(waiting);
          waiting.cancel();
        };
      },
    },
    setPace(next) {
      pace = next;
      for (const waiting of all) {
        waiting.cancel();
        arm(waiting);
      }
    },
    waiting: () => Array.from(all, ({ task }) => task),
  };
}
