import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { BatteryTrend, LatencyTrend } from "../../northbound/web/api/trend.ts";
import { get } from "../api.ts";
import { tokenColour } from "../floor/palette.ts";
import {
  batterySeries,
  latencySeries,
  lonePoints,
  type Series,
  summaryOf,
  type TrendPoint,
} from "../trends/series.ts";
import { dateAndTime, timeOfDay } from "../trust/time-text.ts";
import { usePage } from "./context.ts";
import { Time } from "./parts.tsx";
import "uplot/dist/uPlot.min.css";
import { numberText, say } from "../texts/texts.ts";
import { Says } from "./parts.tsx";

const LOOK_MS = 30_000;

/** The charge of a robot over hours. */
export function BatteryHours({ robotId }: { readonly robotId: string }) {
  const { trend, problem } = useTrend<BatteryTrend>(`/robots/${encodeURIComponent(robotId)}/battery-trend`);
  return (
    <section class="card" aria-label={say("trend.battery")}>
      <h2>{say("trend.battery")}</h2>
      {problem !== "" && <p class="warning">{say("polled.problem", { problem })}</p>}
      {trend !== null && <BatteryChart trend={trend} />}
    </section>
  );
}

function percentText(value: number): string {
  return say("trend.percent", { value });
}

function BatteryChart({ trend }: { readonly trend: BatteryTrend }) {
  const series = batterySeries(trend);
  return (
    <>
      <Summary series={series} line={0} name={say("trend.charge")} text={percentText} since={trend.since} />
      <Chart kind="charge" series={series} />
    </>
  );
}

/** How long commands took, over hours. */
export function LatencyHours() {
  const { trend, problem } = useTrend<LatencyTrend>("/command-latency");
  return (
    <section class="card" aria-label={say("trend.latency")}>
      <p>{say("trend.latencyText")}</p>
      {problem !== "" && <p class="warning">{say("polled.problem", { problem })}</p>}
      {trend !== null && <LatencyChart trend={trend} />}
    </section>
  );
}

function LatencyChart({ trend }: { readonly trend: LatencyTrend }) {
  const series = latencySeries(trend);
  const text = (seconds: number) => say("trend.seconds", { value: numberText(seconds, seconds < 1 ? 3 : 1) });
  const count = (of: "commands" | "unknown") =>
    trend.steps.reduce((sum, step) => sum + (step === null ? 0 : step[of]), 0);
  return (
    <>
      <p>{say("trend.counts", { known: count("commands"), unknown: count("unknown") })}</p>
      <Summary series={series} line={0} name={say("trend.half")} text={text} since={trend.since} />
      <Summary series={series} line={1} name={say("trend.most")} text={text} since={trend.since} />
      <Chart kind="duration" series={series} />
    </>
  );
}

/** The same as the chart, in words. */
function Summary(props: {
  readonly series: Series;
  readonly line: number;
  readonly name: string;
  readonly text: (value: number) => string;
  readonly since: string;
}) {
  const { series, line, name, text, since } = props;
  const found = summaryOf(series, series.lines[line] ?? []);
  if (found === null)
    return (
      <p>
        <Says of="trend.none" name={name} time={<Time iso={since} isDated />} />
      </p>
    );
  const at = ({ value, atMs }: TrendPoint) =>
    say("trend.at", { value: text(value), time: dateAndTime(atMs) });
  const shown = {
    name,
    latest: at(found.latest),
    lowest: at(found.lowest),
    highest: at(found.highest),
    first: dateAndTime(found.first.atMs),
  };
  return (
    <p>
      {found.gaps > 0
        ? say("trend.summaryGaps", { ...shown, count: found.gaps })
        : say("trend.summary", shown)}
    </p>
  );
}

/** Read again each half minute, and when another run of the gateway answers. */
function useTrend<T>(path: string): { readonly trend: T | null; readonly problem: string } {
  const { store } = usePage();
  const trend = useSignal<T | null>(null);
  const problem = useSignal("");
  const session = useComputed(() => store.fleet.value?.sessionId ?? "").value;
  useEffect(() => {
    trend.value = null;
    const over = new AbortController();
    const look = async () => {
      const answer = await get<T>(path, over.signal);
      if (over.signal.aborted) return;
      problem.value = "problem" in answer ? answer.problem : "";
      if ("value" in answer) trend.value = answer.value;
    };
    void look();
    const timer = setInterval(() => {
      if (!document.hidden) void look();
    }, LOOK_MS);
    return () => {
      clearInterval(timer);
      over.abort();
    };
  }, [path, session]);
  return { trend: trend.value, problem: problem.value };
}

export interface ChartProps {
  readonly kind: ChartKind;
  readonly series: Series;
}

type ChartKind = "charge" | "duration";

const HEIGHT = 200;
/** Seconds between the labels of the time axis. They name minutes: closer ones would be equal. */
const wholeMinutes = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720].map((minutes) => 60 * minutes);
/** Dark and dashed beside light and solid: not by colour alone. */
const strokes = [{ stroke: token("--accent") }, { stroke: token("--abnormal"), dash: [6, 4] }] as const;
const font = "12px Inter, system-ui, sans-serif";

/** The colour when it is drawn: it differs between light and dark. */
function token(name: string) {
  return (chart: uPlot) => tokenColour(chart.root, name);
}

/** The lowest and highest value of the axis; null: by the values. */
const ranges: Readonly<Record<ChartKind, readonly [number, number] | null>> = {
  charge: [0, 100],
  duration: null,
};

/**
 * The chart of each kind, reused with other values: the browser's engine may keep the elements of a removed
 * chart, because uPlot gives each a getter of its own.
 */
const drawn = new Map<ChartKind, uPlot>();

/**
 * Lines over local time; one chart of each kind on a page. It is only a picture: the sentence beside it says
 * the same.
 */
function Chart({ kind, series }: ChartProps) {
  const { themes } = usePage();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const chart = drawn.get(kind) ?? new uPlot(optionsOf(kind, series, element.clientWidth));
    drawn.set(kind, chart);
    element.append(chart.root);
    const fit = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    fit.observe(element);
    return () => {
      fit.disconnect();
      chart.root.remove();
    };
  }, []);
  useEffect(() => {
    drawn.get(kind)?.setData([series.at, ...series.lines] as unknown as uPlot.AlignedData);
  }, [series, themes.shown.value]);
  return <div ref={place} class="chart" aria-hidden="true" />;
}

function optionsOf(kind: ChartKind, { lines }: Series, width: number): uPlot.Options {
  const range = ranges[kind];
  const line = { stroke: token("--line"), width: 1 };
  const axis = { stroke: token("--muted"), font, grid: line, ticks: line };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      y: range === null ? { range: { min: { soft: 0, mode: 1 }, max: { pad: 0.1 } } } : { range: [...range] },
    },
    axes: [
      {
        ...axis,
        incrs: wholeMinutes,
        values: (_chart, splits) => splits.map((at) => timeOfDay(at * 1_000).slice(0, 5)),
      },
      { ...axis, size: 60 },
    ],
    series: [
      {},
      ...lines.map((_, index) => ({
        ...strokes[index],
        width: 2,
        // No line while nothing was known.
        spanGaps: false,
        points: {
          show: true,
          size: 5,
          filter: (chart: uPlot, at: number) => lonePoints([...(chart.data[at] ?? [])]),
        },
      })),
    ] as uPlot.Series[],
  };
}
