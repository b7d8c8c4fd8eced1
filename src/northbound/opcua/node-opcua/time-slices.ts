import type { Clock } from "../../../platform/clock.ts";
import { pauseReceiving } from "./fence.ts";

/** Long work has the event loop for this long, plus the step that it began. */
const SLICE_MS = 8;

/** Long work awaits it between two steps. */
export type Pause = () => Promise<void>;

/** Shares the event loop among long requests. */
export interface TimeSlices {
  /** @param mostSteps steps in a slice, so that it is shorter if they are few; absent: as many as fit */
  begin(mostSteps?: number): Pause;
  /**
   * Executes a request's work after that of earlier ones of its channel. Meanwhile nothing more is read from
   * the connection, so that requests do not pile up. Call it when the request has come.
   */
  run(channel: object, work: (pause: Pause) => Promise<void>): Promise<void>;
}

/** A single request has a time slice before the event loop does other work. */
export function createTimeSlices(clock: Clock): TimeSlices {
  let last: Promise<unknown> = Promise.resolve();
  const running = new WeakMap<object, Promise<void>>();

  function next(): Promise<unknown> {
    last = last.then(() => new Promise(setImmediate));
    return last;
  }

  function slicesUntil(firstMs: number, mostSteps = Number.POSITIVE_INFINITY): Pause {
    let untilMs = firstMs;
    let steps = 0;
    return async () => {
      if (steps < mostSteps && clock.monotonicMs() < untilMs) {
        steps += 1;
        return;
      }
      await next();
      untilMs = clock.monotonicMs() + SLICE_MS;
      steps = 1;
    };
  }

  return {
    begin: (mostSteps) => slicesUntil(clock.monotonicMs() + SLICE_MS, mostSteps),
    async run(channel, work) {
      const before = running.get(channel);
      const resume = pauseReceiving();
      const done = (async () => {
        await before?.catch(() => {});
        // Decoding the request has taken a time slice.
        await work(slicesUntil(Number.NEGATIVE_INFINITY));
      })();
      running.set(channel, done);
      try {
        await done;
      } finally {
        if (running.get(channel) === done) running.delete(channel);
        resume();
      }
    },
  };
}
