import type { Clock } from "./clock.ts";
import type { Health } from "./component.ts";
import type { Log } from "./log.ts";
import { createWorstLately, type LongestWork } from "./work-times.ts";

export interface LoopWatchParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Processor time of this process so far. */
  readonly processorMs: () => number;
  /** The task that took the loop for longest since the last call. */
  readonly takeLongest: () => LongestWork | null;
}

/** How long the event loop has stood still. */
export interface LoopWatch {
  health(): Health;
  /** The start is over: from now on a long delay degrades the health. */
  started(): void;
}

/** The moments of other periodic work, so that an idle machine is not woken up for this alone. */
const LOOK_MS = 500;
const LONG_MS = 500;
/** Commands and values were late by this much: the health names it for a minute. */
const HARMFUL_MS = 2_000;
const SHOWN_MS = 60_000;
/** If the process used this share of the time, it was busy itself. */
const AT_WORK = 0.5;
const STARVED =
  "the machine gave it no processor time (other programs, a paused virtual machine, swap), or the disk none";

/**
 * Watches until the signal is aborted. Everything from outside waits while the loop stands still. So the log
 * says for how long it stood, and why: a component of the gateway was busy, or the machine gave it no
 * processor.
 */
export function watchLoop(parts: LoopWatchParts, signal: AbortSignal): LoopWatch {
  const { clock, log, processorMs, takeLongest } = parts;
  const delays = createWorstLately(clock);
  let harm: { readonly text: string; readonly delayMs: number; readonly atMs: number } | null = null;
  let hasStarted = false;
  let cancel = () => {};

  function arm(): void {
    const nowMs = clock.monotonicMs();
    const waitMs = LOOK_MS - (nowMs % LOOK_MS);
    const usedMs = processorMs();
    cancel = clock.after(waitMs, () => {
      const delayMs = clock.monotonicMs() - nowMs - waitMs;
      const longest = takeLongest();
      delays.note(delayMs);
      if (delayMs >= LONG_MS) report(delayMs, processorMs() - usedMs, longest);
      arm();
    });
  }

  function report(delayMs: number, usedMs: number, longest: LongestWork | null): void {
    const isStarved = usedMs < AT_WORK * delayMs;
    const named = longest !== null && longest.ms >= AT_WORK * delayMs ? longest : null;
    const cause = isStarved ? STARVED : ownWork(named);
    const part = named === null ? {} : { part: named.part, partMs: Math.round(named.ms) };
    const fields = { delayMs: Math.round(delayMs), processorMs: Math.round(usedMs), ...part };
    log.warn({ ...fields, cause }, "the gateway stood still");
    if (!hasStarted || delayMs < HARMFUL_MS || delayMs < (current()?.delayMs ?? 0)) return;
    const at = new Date(clock.nowMs()).toISOString();
    const text = `the gateway stood still for ${seconds(delayMs)} until ${at}: ${cause}`;
    harm = { text, delayMs, atMs: clock.monotonicMs() };
  }

  function current() {
    return harm !== null && clock.monotonicMs() - harm.atMs < SHOWN_MS ? harm : null;
  }

  if (!signal.aborted) arm();
  signal.addEventListener("abort", () => cancel(), { once: true });
  return {
    started() {
      hasStarted = true;
    },
    health() {
      const figures = { worstDelayMs: Math.max(0, Math.round(delays.worst())) };
      const shown = current();
      return shown === null ? { state: "up", figures } : { state: "degraded", detail: shown.text, figures };
    },
  };
}

function ownWork(named: LongestWork | null): string {
  return named === null
    ? "its own work took so long, of no part that is timed: a library, or the collection of memory"
    : `its own work took so long: ${named.part}, ${seconds(named.ms)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

export function processorMsOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
