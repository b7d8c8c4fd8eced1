import type { Readings } from "../../../contracts/metrics.ts";
import type { Coded } from "../../../domain/coded.ts";
import type { MissionStateName } from "../../../domain/mission.ts";
import type { StreamAspect } from "../../../domain/update.ts";
import type { Health } from "../../../platform/component.ts";

/** The inputs of the rows for one scrape. */
export interface Scrape {
  readonly nowMs: number;
  readonly readings: Readings;
  /** Every component's health by name, figures in snake_case. */
  readonly parts: Readonly<Record<string, Health>>;
}

/** One time series of a metric with its value. */
export type Sample = readonly [labels: Labels, value: number];

/** A metric whose values the gateway keeps anyway, and which are read at a scrape. */
export interface MetricRow {
  /** Of a counter it ends with `_total`, as Prometheus asks; the others are gauges. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Empty: the component is not configured, or the value is not known. */
  readonly read: (scrape: Scrape) => readonly Sample[];
}

type FigureOf = readonly [part: string, figure: string, labels?: Labels];

/** A metric with figures of the health as its values. */
export function figureRow(name: string, help: string, ...figures: readonly FigureOf[]): MetricRow {
  const labels = Object.keys(figures[0]?.[2] ?? {});
  return {
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

/** Metrics with a figure of one part as their value, by name. */
export function figureRows(
  part: string,
  rows: Readonly<Record<string, readonly [figure: string, help: string]>>,
): readonly MetricRow[] {
  return Object.entries(rows).map(([name, [figure, help]]) => figureRow(name, help, [part, figure]));
}

/** The whole number of seconds since 1970. */
export function timestampSeconds(ms: number): number {
  return Math.round(ms / 1_000);
}

/** Labels of one time series. */
export type Labels = Readonly<Record<string, string>>;

/** Replaces every value that is not in a list of ours: a label from outside would have no bound. */
export const OTHER = "other";

export const streamKinds: readonly StreamAspect[] = ["mission", "battery", "conveyors"];

/** One object for each kind: they are used for every message. */
export const streamLabels: Readonly<Record<StreamAspect, Labels>> = {
  mission: { stream: "mission" },
  battery: { stream: "battery" },
  conveyors: { stream: "conveyors" },
};

/** `STATE_RUNNING` → `running`. */
export function missionStateLabel(state: Coded<MissionStateName>): string {
  return typeof state === "string" ? state.slice("STATE_".length).toLowerCase() : OTHER;
}
