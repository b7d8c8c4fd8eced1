import type { Clock } from "../../src/platform/clock.ts";

/** A clock that stands still until it is told. */
export interface ManualClock extends Clock {
  /** Lets so much time pass; what is due runs in order, at its own time. */
  advance(durationMs: number): void;
  /** Sets the wall clock by so much, as NTP or a person does; no time passes. */
  jump(byMs: number): void;
  /**
   * The same, with a turn of the event loop before and after each thing that is
   * due, so that promises settle as they would.
   */
  settle(durationMs: number): Promise<void>;
}

interface Timer {
  readonly atMs: number;
  readonly task: () => void;
}

/** A clock that starts at `startMs`, milliseconds since 1970. */
export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let nowMs = startMs;
  let jumpedMs = 0;
  const timers = new Set<Timer>();

  const nextDue = (untilMs: number) => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.atMs <= untilMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  };

  const run = (timer: Timer) => {
    timers.delete(timer);
    nowMs = Math.max(nowMs, timer.atMs);
    timer.task();
  };

  return {
    nowMs: () => nowMs + jumpedMs,
    monotonicMs: () => nowMs - startMs,
    after(delayMs, task) {
      const timer = { atMs: nowMs + Math.max(delayMs, 0), task };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    jump(byMs) {
      jumpedMs += byMs;
    },
    advance(durationMs) {
      const untilMs = nowMs + durationMs;
      for (let next = nextDue(untilMs); next !== undefined; next = nextDue(untilMs)) run(next);
      nowMs = untilMs;
    },
    async settle(durationMs) {
      const untilMs = nowMs + durationMs;
      await turn();
      for (let next = nextDue(untilMs); next !== undefined; next = nextDue(untilMs)) {
        run(next);
        await turn();
      }
      nowMs = untilMs;
      await turn();
    },
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
