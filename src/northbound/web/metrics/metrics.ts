import { setTimeout } from "node:timers/promises";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { ClusterView } from "../../../contracts/cluster.ts";
import type { Readings } from "../../../contracts/metrics.ts";
import type { Clock } from "../../../platform/clock.ts";
import { type Health, publishedHealth } from "../../../platform/component.ts";
import { fleetRows } from "./fleet-rows.ts";
import { clusterRows, gatewayRows } from "./gateway-rows.ts";
import type { PromMeter } from "./meter.ts";
import { northboundRows } from "./northbound-rows.ts";
import { figureRow, figureRows, type MetricRow, type Scrape } from "./row.ts";

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
  const { name, help, labels, read } = row;
  const options = { name, help, labelNames: labels, registers: [registry] };
  // A counter can only be raised. The gateway keeps its value, so the metric begins anew with each scrape.
  const metric = name.endsWith("_total") ? new Counter(options) : new Gauge(options);
  return (scrape) => {
    metric.reset();
    // A metric without labels would be 0, which is wrong if its component is not configured.
    if (labels.length === 0) metric.remove();
    for (const [of, value] of read(scrape)) metric.inc(of, value);
  };
}

/** Commands under way, what delays them, and their records. */
const commandRows: readonly MetricRow[] = [
  ...figureRows("commands", {
    fleetgate_commands_in_flight: ["in_hand", "Commands that have no outcome yet."],
    fleetgate_commands_queued: ["waiting", "Commands that wait behind another one of their robot."],
    fleetgate_commands_rate_limited_total: ["rate_limited", "Commands beyond the rate of their source."],
    fleetgate_leases: ["leases", "Leases of robots by stations."],
    fleetgate_holds: ["holds", "Holds of users."],
    fleetgate_robots_held: ["robots_held", "Robots with a hold of their own."],
    fleetgate_all_robots_held: ["all_robots_held", "1 while a user holds all robots, otherwise 0."],
    fleetgate_permits_missing: ["permits_missing", "Permits of stations that are not given."],
    fleetgate_foreign_missions_total: [
      "foreign_missions",
      "Missions that no command of this gateway has made.",
    ],
    fleetgate_journal_entries: ["journal_entries", "Commands of which the journal has a record."],
  }),
  figureRow(
    "fleetgate_store_records_total",
    "Records that were written to a store.",
    ["commands", "journal_records", { store: "journal" }],
    ["outbox", "store_records", { store: "outbox" }],
  ),
  figureRow(
    "fleetgate_store_syncs_total",
    "Times that a store was synced to the disk.",
    ["commands", "journal_syncs", { store: "journal" }],
    ["outbox", "store_syncs", { store: "outbox" }],
  ),
  figureRow(
    "fleetgate_store_failures_total",
    "Writes to a store that the disk refused.",
    ["commands", "journal_failures", { store: "journal" }],
    ["outbox", "store_failures", { store: "outbox" }],
  ),
  ...figureRows("audit", {
    fleetgate_audit_lines_total: ["lines", "Lines of the audit log."],
    fleetgate_audit_lines_lost_total: ["lines_lost", "Lines of the audit log that the disk refused."],
  }),
  ...figureRows("journald", {
    fleetgate_journald_lines_total: ["sent", "Lines of the audit log that were sent to journald."],
    fleetgate_journald_lines_lost_total: [
      "lost",
      "Lines of the audit log that were not sent to journald, because too many waited.",
    ],
  }),
];
