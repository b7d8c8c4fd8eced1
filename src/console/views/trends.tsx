import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { BatteryTrend, LatencyTrend } from "../../northbound/web/api/trend.ts";
import { get } from "../api.ts";
import { batterySeries, latencySeries, type Series, summaryOf, type TrendPoint } from "../trends/series.ts";
import { dateAndTime } from "../trust/time-text.ts";
import { Chart } from "./chart.tsx";
import { usePage } from "./context.ts";
import { Time } from "./parts.tsx";

const LOOK_MS = 30_000;

/** The charge of a robot over hours. */
export function BatteryHours({ robotId }: { readonly robotId: string }) {
  const { trend, problem } = useTrend<BatteryTrend>(`/robots/${encodeURIComponent(robotId)}/battery-trend`);
  return (
    <section aria-label="Battery over hours">
      <h2>Battery over hours</h2>
      {problem !== "" && <p class="warning">◆ It could not be read: {problem}.</p>}
      {trend !== null && <BatteryChart trend={trend} />}
    </section>
  );
}

function BatteryChart({ trend }: { readonly trend: BatteryTrend }) {
  const series = batterySeries(trend);
  return (
    <>
      <Summary series={series} line={0} name="Charge" text={(value) => `${value} %`} since={trend.since} />
      <Chart kind="charge" series={series} />
    </>
  );
}

/** How long commands took, over hours. */
export function LatencyHours() {
  const { trend, problem } = useTrend<LatencyTrend>("/command-latency");
  return (
    <section aria-label="Duration of commands over hours">
      <p>
        From acceptance to outcome, of commands of all protocols that were sent, in steps of five minutes. A
        command with the outcome unknown has no duration.
      </p>
      {problem !== "" && <p class="warning">◆ It could not be read: {problem}.</p>}
      {trend !== null && <LatencyChart trend={trend} />}
    </section>
  );
}

function LatencyChart({ trend }: { readonly trend: LatencyTrend }) {
  const series = latencySeries(trend);
  const text = (seconds: number) => `${seconds.toFixed(seconds < 1 ? 3 : 1)} s`;
  const count = (of: "commands" | "unknown") =>
    trend.steps.reduce((sum, step) => sum + (step === null ? 0 : step[of]), 0);
  return (
    <>
      <p>
        {count("commands")} commands with a known outcome, {count("unknown")} with the outcome unknown.
      </p>
      <Summary
        series={series}
        line={0}
        name="Half took at most (p50, whole line)"
        text={text}
        since={trend.since}
      />
      <Summary series={series} line={1} name="95 of 100 (p95, dashed line)" text={text} since={trend.since} />
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
        {name}: no value is known since <Time iso={since} isDated />.
      </p>
    );
  const at = ({ value, atMs }: TrendPoint) => `${text(value)} at ${dateAndTime(atMs)}`;
  return (
    <p>
      {name}: latest known {at(found.latest)}, lowest {at(found.lowest)}, highest {at(found.highest)}. Values
      since {dateAndTime(found.first.atMs)}
      {found.gaps > 0 && `, with ${found.gaps} ${found.gaps === 1 ? "gap" : "gaps"} where none was known`}.
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
