import type { BatteryTrend, LatencyTrend } from "../../northbound/web/api/trend.ts";

/** Points of a chart. A null is a gap: no line goes over it. */
export interface Series {
  /** Seconds since 1970, as the gateway's clock has them. */
  readonly at: readonly number[];
  readonly lines: ReadonlyArray<readonly (number | null)[]>;
}

export interface TrendPoint {
  readonly atMs: number;
  readonly value: number;
}

/** What a chart shows, for a reader who does not see it. */
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

/** The places of values with a gap on both sides: there is no line that would show them. */
export function lonePoints(line: readonly (number | null | undefined)[]): number[] {
  return line.flatMap((value, index) => {
    const isLone = value != null && line[index - 1] == null && line[index + 1] == null;
    return isLone ? [index] : [];
  });
}

/** Each value stands at the beginning of its step: the middle of the newest may not have come yet. */
function timesOf({ first_at: firstAt, step_ms: stepMs }: Times, count: number): readonly number[] {
  const firstMs = Date.parse(firstAt);
  return Array.from({ length: count }, (_, index) => (firstMs + index * stepMs) / 1_000);
}
