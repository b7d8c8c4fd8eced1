import type { BatteryTrend, LatencyTrend } from "../../northbound/web/api/trend.ts";

/** Points of a chart. A null is a gap in the line. */
export interface Series {
  /** Seconds since 1970, by the gateway's clock. */
  readonly at: readonly number[];
  readonly lines: ReadonlyArray<readonly (number | null)[]>;
}

export interface TrendPoint {
  readonly atMs: number;
  readonly value: number;
}

/** A chart in figures, for readers who do not see it. */
export interface TrendSummary {
  readonly latest: TrendPoint;
  readonly lowest: TrendPoint;
  readonly highest: TrendPoint;
  readonly first: TrendPoint;
  /** Times without a known value between the first and the latest. */
  readonly gaps: number;
}

type Times = Pick<BatteryTrend, "first_at" | "step_ms">;

export function batterySeries(trend: BatteryTrend): Series {
  return { at: timesOf(trend, trend.charge_percent.length), lines: [trend.charge_percent] };
}

/** p50 and p95, in seconds. */
export function latencySeries({ steps, ...trend }: LatencyTrend): Series {
  const seconds = (ms: number | null | undefined) => (ms == null ? null : ms / 1_000);
  return {
    at: timesOf(trend, steps.length),
    lines: [steps.map((step) => seconds(step?.p50_ms)), steps.map((step) => seconds(step?.p95_ms))],
  };
}

/** Null: no value is known. */
export function summaryOf({ at }: Series, line: readonly (number | null)[]): TrendSummary | null {
  const points = line.flatMap((value, index) =>
    value === null ? [] : [{ atMs: (at[index] ?? 0) * 1_000, value }],
  );
  const [first] = points;
  const latest = points.at(-1);
  if (first === undefined || latest === undefined) return null;
  const lowest = points.reduce((found, point) => (point.value < found.value ? point : found));
  const highest = points.reduce((found, point) => (point.value > found.value ? point : found));
  const from = line.findIndex((value) => value !== null);
  const to = line.findLastIndex((value) => value !== null);
  const gaps = line
    .slice(from, to)
    .filter((value, index) => value === null && line[from + index - 1] !== null);
  return { first, latest, lowest, highest, gaps: gaps.length };
}

/** The indexes of values with a gap on both sides, which no line would show. */
export function lonePoints(line: readonly (number | null | undefined)[]): number[] {
  return line.flatMap((value, index) => {
    const isLone = value != null && line[index - 1] == null && line[index + 1] == null;
    return isLone ? [index] : [];
  });
}

/** Each value is at the beginning of its step, because the middle of the newest step may still be to come. */
function timesOf({ first_at: firstAt, step_ms: stepMs }: Times, count: number): readonly number[] {
  const firstMs = Date.parse(firstAt);
  return Array.from({ length: count }, (_, index) => (firstMs + index * stepMs) / 1_000);
}
