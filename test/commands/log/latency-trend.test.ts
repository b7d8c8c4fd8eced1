import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createLatencyTrend,
  LATENCY_STEP_MS,
  LATENCY_STEPS,
} from "../../../src/commands/log/latency-trend.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const NOON_MS = Date.UTC(2026, 0, 2, 12);
const ended = (durationMs: number | null, outcome: "succeeded" | "unknown" = "succeeded") =>
  ({ protocol: "mqtt", operation: "CreateMission", outcome, durationMs }) as const;

test("p50 and p95 are those of the commands of a step, at most 5 % off", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4_000_000 }), { minLength: 1, maxLength: 200 }),
      (durations) => {
        const trend = createLatencyTrend(createManualClock(NOON_MS));
        for (const durationMs of durations) trend.commandEnded(ended(durationMs));
        const [step] = trend.latency().values;
        const sorted = durations.toSorted((a, b) => a - b);
        for (const [part, found] of [
          [0.5, step?.p50Ms],
          [0.95, step?.p95Ms],
        ] as const) {
          const exact = sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
          expect(Math.abs((found ?? Number.NaN) / exact - 1)).toBeLessThanOrEqual(0.05);
        }
      },
    ),
  );
});

test("a step without commands has nothing, and one with unknown outcomes no duration", () => {
  const clock = createManualClock(NOON_MS);
  const trend = createLatencyTrend(clock);
  trend.commandEnded(ended(100));
  clock.advance(2 * LATENCY_STEP_MS);
  trend.commandEnded(ended(30_000, "unknown"));
  // Refused before it was sent.
  trend.commandEnded(ended(null));
  expect(trend.latency()).toMatchObject({
    sinceMs: NOON_MS,
    values: [{ commands: 1, unknown: 0 }, null, { commands: 0, unknown: 1, p50Ms: null, p95Ms: null }],
  });
});

test("twelve hours are kept, and a clock that is set back begins anew", () => {
  const clock = createManualClock(NOON_MS);
  const trend = createLatencyTrend(clock);
  trend.commandEnded(ended(100));
  clock.advance((LATENCY_STEPS - 1) * LATENCY_STEP_MS);
  expect(trend.latency().values).toHaveLength(LATENCY_STEPS);
  expect(trend.latency().values[0]).toMatchObject({ commands: 1 });
  clock.advance(LATENCY_STEP_MS);
  expect(trend.latency().values).toEqual(Array.from({ length: LATENCY_STEPS }, () => null));
  trend.commandEnded(ended(100));
  clock.jump(-3_600_000);
  expect(trend.latency()).toMatchObject({ sinceMs: clock.nowMs(), values: [null] });
});
