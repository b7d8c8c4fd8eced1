import type { Clock } from "./clock.ts";

/** Divides long work into time slices, so that everything else goes on beside it. */
export interface TimeSlices {
  /** Ends the time slice if it was long enough. Await it between two small steps of the work. */
  next(): Promise<void> | undefined;
}

/** A following step may take some milliseconds itself, and the machine may be slow. */
const SLICE_MS = 8;
/**
 * Of the time. A busy event loop comes back late: slices of the same length would make the work last for
 * ever.
 */
const SHARE = 1 / 4;
const LONGEST_MS = 30;

/** Begins with a time slice. Times are real ones: work blocks the loop by the processor's clock. */
export function createTimeSlices(sliceMs = SLICE_MS): TimeSlices {
  let beganMs = performance.now();
  let lengthMs = sliceMs;
  return {
    next() {
      const endedMs = performance.now();
      if (endedMs - beganMs < lengthMs) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          beganMs = performance.now();
          lengthMs = fairSliceMs(beganMs - endedMs, sliceMs);
          resolve();
        });
      });
    },
  };
}

/** How long work may go on after it has waited. */
function fairSliceMs(waitedMs: number, sliceMs: number): number {
  return Math.max(sliceMs, Math.min((waitedMs * SHARE) / (1 - SHARE), LONGEST_MS));
}

/** Counts the time in which the event loop ran. */
export interface LoopTimer {
  elapsedMs(): number;
  /** Counts no further. */
  stop(): void;
}

/** Longer than a turn of the event loop. Beyond it, the loop stood still. */
const STEP_MS = 100;

/**
 * Times what a disk or another process does. An answer that is there can only be read when the event loop
 * runs: the time in which it stood still is not theirs (docs/internals/decisions.md, A loop that stands still
 * is no slow disk).
 *
 * @param onLimit is called once if it takes `limitMs`
 */
export function startLoopTimer(
  clock: Pick<Clock, "monotonicMs" | "after">,
  limitMs = Number.POSITIVE_INFINITY,
  onLimit: () => void = () => {},
): LoopTimer {
  let countedMs = 0;
  let stepMs = 0;
  let stepBeganAtMs = 0;
  let cancel = () => {};

  const ofStepMs = () => Math.min(clock.monotonicMs() - stepBeganAtMs, stepMs);

  function arm(): void {
    stepBeganAtMs = clock.monotonicMs();
    stepMs = Math.min(STEP_MS, limitMs - countedMs);
    cancel = clock.after(stepMs, () => {
      countedMs += stepMs;
      stepMs = 0;
      if (countedMs >= limitMs) onLimit();
      else arm();
    });
  }

  arm();
  return {
    elapsedMs: () => countedMs + ofStepMs(),
    stop() {
      countedMs += ofStepMs();
      stepMs = 0;
      cancel();
    },
  };
}

/** The time that pieces of work may take in one turn of the event loop, all of them together. */
export interface TurnTime {
  /** Whether it is used up. The first question of a turn begins it. */
  isOver(): boolean;
  /** Calls `task` in the next turn. */
  inNextTurn(task: () => void): void;
}

/** Times are real ones: work blocks the loop by the processor's clock. */
export function createTurnTime(turnMs = SLICE_MS): TurnTime {
  let lengthMs = turnMs;
  let endsAtMs: number | null = null;
  let tasks: (() => void)[] = [];

  function next(): void {
    const due = tasks;
    tasks = [];
    lengthMs = due.length === 0 ? turnMs : fairSliceMs(performance.now() - (endsAtMs ?? 0), turnMs);
    endsAtMs = null;
    for (const task of due) task();
  }

  return {
    isOver() {
      const nowMs = performance.now();
      if (endsAtMs !== null) return nowMs >= endsAtMs;
      endsAtMs = nowMs + lengthMs;
      setImmediate(next);
      return false;
    },
    inNextTurn: (task) => void tasks.push(task),
  };
}
