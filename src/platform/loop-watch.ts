import type { Clock } from "./clock.ts";
import type { Health } from "./component.ts";
import type { Log } from "./log.ts";
import { createWorstLately } from "./worst-lately.ts";

export interface LoopWatchParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Processor time of this process so far. */
  readonly processorMs: () => number;
}

/** How long the event loop has stood still. */
export interface LoopWatch {
  health(): Health;
}

/** The moments of other periodic work, so that an idle machine is not woken up for this. */
const LOOK_MS = 500;
const LONG_MS = 500;
/** With so much of the time used, the process was at work itself. */
const AT_WORK = 0.5;

/**
 * Watches until the signal is aborted. What comes from outside waits while the loop stands still. So the log
 * says for how long it has, and who did it: the gateway's own work, or the machine that gave it no processor.
 */
export function watchLoop({ clock, log, processorMs }: LoopWatchParts, signal: AbortSignal): LoopWatch {
  const delays = createWorstLately(clock);
  let cancel = () => {};

  function arm(): void {
    const nowMs = clock.monotonicMs();
    const waitMs = LOOK_MS - (nowMs % LOOK_MS);
    const usedMs = processorMs();
    cancel = clock.after(waitMs, () => {
      const delayMs = clock.monotonicMs() - nowMs - waitMs;
      delays.note(delayMs);
      if (delayMs >= LONG_MS) tell(delayMs, processorMs() - usedMs);
      arm();
    });
  }

  function tell(delayMs: number, usedMs: number): void {
    const fields = { delayMs: Math.round(delayMs), processorMs: Math.round(usedMs) };
    const cause =
      usedMs >= AT_WORK * delayMs
        ? "its own work took so long"
        : "the machine gave it no processor time (other programs, a paused virtual machine, swap), or the disk none";
    log.warn({ ...fields, cause }, "the gateway stood still");
  }

  if (!signal.aborted) arm();
  signal.addEventListener("abort", () => cancel(), { once: true });
  return {
    health: () => ({ state: "up", figures: { worstDelayMs: Math.max(0, Math.round(delays.worst())) } }),
  };
}

export function processorMsOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
