import { setTimeout } from "node:timers/promises";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { ClusterView } from "../../../contracts/cluster.ts";
import type { Readings } from "../../../contracts/metrics.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Health } from "../../../platform/component.ts";
import { publishedHealth } from "../../../platform/health-history.ts";
import { clusterRows } from "./cluster-rows.ts";
import { commandRows } from "./command-rows.ts";
import { fleetRows } from "./fleet-rows.ts";
import { gatewayRows } from "./gateway-rows.ts";
import type { PromMeter } from "./meter.ts";
import { northboundRows } from "./northbound-rows.ts";
import type { MetricRow, Scrape } from "./row.ts";

export interface MetricsParts {
  readonly version: string;
  readonly meter: Pick<PromMeter, "metrics">;
  readonly readings: Readings;
  /** The present health of every component, by name. */
  readonly health: () => Readonly<Record<string, Health>>;
  /** Absent or null: the gateway is no member of a cluster. */
  readonly cluster?: ClusterView | null;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
}

/** The metrics for a Prometheus server. */
export interface Metrics {
  readonly contentType: string;
  /** All metrics in Prometheus' text format, at most half a second old. */
  text(): Promise<string>;
}

/** Any number of scraping clients share one text of this age. */
const TEXT_LIFE_MS = 500;
/** How often the delay of the event loop is measured. */
const LAG_LOOK_MS = 10;
/** How long the first measurements take: without any, the smallest and the mean delay are absurd. */
const FIRST_LAG_MS = 50;

/**
 * The metrics of one gateway, in a registry of its own. Values are read at a scrape; only the meter counts at
 * other times. Before the first scrape nothing watches the event loop and the garbage collection.
 */
export function createMetrics({
  version,
  meter,
  readings,
  health,
  cluster = null,
  clock,
}: MetricsParts): Metrics {
  const registry = new Registry();
  let rows: readonly ReturnType<typeof registered>[] = [];
  let madeAtMs = Number.NEGATIVE_INFINITY;
  let text: Promise<string> | null = null;

  async function open(): Promise<void> {
    const ofCluster = cluster === null ? [] : clusterRows(cluster);
    const all = [
      ...gatewayRows(version, cluster !== null),
      ...ofCluster,
      ...fleetRows,
      ...commandRows,
      ...northboundRows,
    ];
    rows = all.map((row) => registered(row, registry));
    for (const metric of meter.metrics) registry.registerMetric(metric);
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_LOOK_MS });
    await setTimeout(FIRST_LAG_MS);
  }

  async function make(): Promise<string> {
    if (rows.length === 0) await open();
    const scrape = { nowMs: clock.nowMs(), readings, parts: publishedHealth(health()) };
    for (const update of rows) update(scrape);
    return withoutAbsentLag(await registry.metrics());
  }

  return {
    contentType: registry.contentType,
    text() {
      const nowMs = clock.monotonicMs();
      if (text === null || nowMs - madeAtMs >= TEXT_LIFE_MS) {
        madeAtMs = nowMs;
        const made = make();
        text = made;
        made.catch(() => {
          if (text === made) text = null;
        });
      }
      return text;
    },
  };
}

const LAG_SAMPLE = /^nodejs_eventloop_lag_\w+_seconds .*\n/gm;
const NO_LAG = /^nodejs_eventloop_lag_mean_seconds nan$/im;

/**
 * The delay of the event loop since the last scrape. Without a measurement, as in two scrapes in quick
 * succession, prom-client gives a mean that is no number and a smallest delay of 292 years.
 */
function withoutAbsentLag(text: string): string {
  return NO_LAG.test(text) ? text.replace(LAG_SAMPLE, "") : text;
}

/** @returns a function that sets the metric's values at a scrape */
function registered(row: MetricRow, registry: Registry): (scrape: Scrape) => void {
  const { type, name, help, labels, read } = row;
  const options = { name, help, labelNames: labels, registers: [registry] };
  // A counter can only be raised. The gateway keeps its value, so the metric begins anew with each scrape.
  const metric = type === "counter" ? new Counter(options) : new Gauge(options);
  return (scrape) => {
    metric.reset();
    // A metric without labels would be 0, which is wrong if its component is not configured.
    if (labels.length === 0) metric.remove();
    for (const [of, value] of read(scrape)) metric.inc(of, value);
  };
}
