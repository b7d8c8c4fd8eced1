import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { lonePoints, type Series } from "../trends/series.ts";
import { timeOfDay } from "../trust/time-text.ts";

export interface ChartProps {
  readonly kind: ChartKind;
  readonly series: Series;
}

type ChartKind = "charge" | "duration";

const HEIGHT = 200;
/** Seconds between the labels of the time axis. They name minutes: closer ones would be equal. */
const wholeMinutes = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720].map((minutes) => 60 * minutes);
/** Dark and dashed beside light and solid: not by colour alone. */
const strokes = [{ stroke: "#0d47a1" }, { stroke: "#7a4f00", dash: [6, 4] }] as const;

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
export function Chart({ kind, series }: ChartProps) {
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
  }, [series]);
  return <div ref={place} class="chart" aria-hidden="true" />;
}

function optionsOf(kind: ChartKind, { lines }: Series, width: number): uPlot.Options {
  const range = ranges[kind];
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
        incrs: wholeMinutes,
        values: (_chart, splits) => splits.map((at) => timeOfDay(at * 1_000).slice(0, 5)),
      },
      { size: 60 },
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
