import type { Readings } from "../../../contracts/metrics.ts";
import type { Health } from "../../../platform/component.ts";
import type { Labels } from "./labels.ts";

/** What the rows of one scrape read. */
export interface Scrape {
  readonly nowMs: number;
  readonly readings: Readings;
  /** Every part's health by name, figures in snake_case. */
  readonly parts: Readonly<Record<string, Health>>;
}

/** One time series of a metric with its value. */
export type Sample = readonly [labels: Labels, value: number];

/** A metric that is read from what the gateway keeps, when it is scraped. */
export interface MetricRow {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly labels: readonly string[];
  /** Nothing, where a part is not configured or a value not known. */
  readonly read: (scrape: Scrape) => readonly Sample[];
}

type FigureOf = readonly [part: string, figure: string, labels?: Labels];

/** A metric whose values are figures of the health. */
export function figureRow(
  type: MetricRow["type"],
  name: string,
  help: string,
  ...figures: readonly FigureOf[]
): MetricRow {
  const labels = Object.keys(figures[0]?.[2] ?? {});
  return {
    type,
    name,
    help,
    labels,
    read: ({ parts }) =>
      figures.flatMap(([part, figure, of = {}]): Sample[] => {
        const value = parts[part]?.figures?.[figure];
        return value === undefined ? [] : [[of, value]];
      }),
  };
}

/** The whole number of seconds since 1970. */
export function timestampSeconds(ms: number): number {
  return Math.round(ms / 1_000);
}
