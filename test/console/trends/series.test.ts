import { expect, test } from "vitest";
import { batterySeries, latencySeries, lonePoints, summaryOf } from "../../../src/console/trends/series.ts";

const times = { since: "2026-01-02T03:04:05.000Z", step_ms: 60_000, first_at: "2026-01-02T03:00:00.000Z" };
/** Beginnings of steps: the middle of the newest may lie in the future. */
const firstMs = Date.parse(times.first_at);

test("a gap stays a gap", () => {
  const series = batterySeries({ robot_id: "r1", ...times, charge_percent: [80, null, 60] });
  expect(series.lines).toEqual([[80, null, 60]]);
  expect(series.at).toEqual([0, 1, 2].map((step) => (firstMs + step * 60_000) / 1_000));
  const step = { commands: 1, unknown: 0, p50_ms: 250, p95_ms: 500 };
  const unknown = { commands: 0, unknown: 1, p50_ms: null, p95_ms: null };
  expect(latencySeries({ ...times, steps: [step, null, unknown] }).lines).toEqual([
    [0.25, null, null],
    [0.5, null, null],
  ]);
});

test("the sentence says latest, lowest, highest and how many gaps there are between", () => {
  const series = batterySeries({
    robot_id: "r1",
    ...times,
    charge_percent: [null, 80, null, null, 60, 60, null, 90, null],
  });
  const point = (step: number, value: number) => ({ atMs: firstMs + step * 60_000, value });
  expect(summaryOf(series, series.lines[0] ?? [])).toEqual({
    first: point(1, 80),
    latest: point(7, 90),
    lowest: point(4, 60),
    highest: point(7, 90),
    gaps: 2,
  });
  expect(summaryOf(series, [null, null])).toBeNull();
});

test("a value with gaps on both sides is drawn as a point", () => {
  expect(lonePoints([1, null, 2, 3, null, 4])).toEqual([0, 5]);
  expect(lonePoints([null, 1, null])).toEqual([1]);
  expect(lonePoints([])).toEqual([]);
});
