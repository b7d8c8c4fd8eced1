import type { EndedCommand, Meter } from "../../contracts/metrics.ts";
import type { LatencyStep, LatencyTrend } from "../../contracts/trends.ts";
import type { Clock } from "../../platform/clock.ts";

export const LATENCY_STEP_MS = 300_000;
/** Twelve hours. */
export const LATENCY_STEPS = 144;
/** Each bin ends at 1.09 times the end of the one before: its middle is at most 5 % off. */
const BINS_PER_DOUBLING = 8;
/** Up to 70 minutes: 144 steps of 177 numbers are 100 kB. */
const BINS = 22 * BINS_PER_DOUBLING + 1;

interface Counts {
  readonly bins: Uint32Array;
  commands: number;
  unknown: number;
}

/** Keeps the durations of the commands of this run, in steps of five minutes. */
export function createLatencyTrend(clock: Pick<Clock, "nowMs">): LatencyTrend & Pick<Meter, "commandEnded"> {
  const steps = new Map<number, Counts>();
  const stepNow = () => Math.floor(clock.nowMs() / LATENCY_STEP_MS);
  let sinceMs = clock.nowMs();
  let [first, last] = [stepNow(), stepNow()];

  /** A wall clock that is set back begins the trend anew. */
  function advance(): void {
    const step = stepNow();
    if (step < last) {
      steps.clear();
      sinceMs = clock.nowMs();
      first = step;
    }
    last = step;
    for (const known of steps.keys()) if (known <= step - LATENCY_STEPS) steps.delete(known);
  }

  return {
    commandEnded({ outcome, durationMs }: EndedCommand) {
      if (durationMs === null || !Number.isFinite(durationMs)) return;
      advance();
      const counts = steps.get(last) ?? { bins: new Uint32Array(BINS), commands: 0, unknown: 0 };
      steps.set(last, counts);
      if (outcome === "unknown") {
        counts.unknown += 1;
        return;
      }
      counts.commands += 1;
      const bin = binOf(durationMs);
      counts.bins[bin] = (counts.bins[bin] ?? 0) + 1;
    },
    latency() {
      advance();
      const from = Math.max(first, last - LATENCY_STEPS + 1);
      const values = Array.from({ length: last - from + 1 }, (_, at) => stepOf(steps.get(from + at)));
      return { sinceMs, stepMs: LATENCY_STEP_MS, firstAtMs: from * LATENCY_STEP_MS, values };
    },
  };
}

function stepOf(counts: Counts | undefined): LatencyStep | null {
  if (counts === undefined) return null;
  const { commands, unknown } = counts;
  return { commands, unknown, p50Ms: quantile(counts, 0.5), p95Ms: quantile(counts, 0.95) };
}

/** The duration that this share of the commands did not exceed. */
function quantile({ bins, commands }: Counts, part: number): number | null {
  if (commands === 0) return null;
  let left = Math.ceil(commands * part);
  const bin = bins.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return 2 ** ((bin - 0.5) / BINS_PER_DOUBLING);
}

function binOf(durationMs: number): number {
  const bin = Math.ceil(Math.log2(Math.max(1, durationMs)) * BINS_PER_DOUBLING);
  return Math.min(bin, BINS - 1);
}
