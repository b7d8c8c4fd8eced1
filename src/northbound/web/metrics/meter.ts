import { Counter, Histogram, type Metric } from "prom-client";
import type { EndedCommand, Meter } from "../../../contracts/metrics.ts";
import type { FleetEvent } from "../../../domain/event.ts";
import { missionStateNames } from "../../../domain/mission.ts";
import type { Stamp } from "../../../domain/observed.ts";
import type { OutcomeName } from "../../../domain/outcome.ts";
import type { FleetUpdate, StreamAspect } from "../../../domain/update.ts";
import { type Labels, missionStateLabel, OTHER, streamKinds, streamLabels } from "./row.ts";

/** A meter with its metrics. */
export interface PromMeter extends Meter {
  readonly metrics: readonly Metric[];
}

const SECOND_MS = 1_000;
const protocols = Object.keys({
  mqtt: 0,
  opcua: 0,
  web: 0,
  cli: 0,
  gateway: 0,
} satisfies Record<EndedCommand["protocol"], number>);
/** The outcomes of commands: `checked` is that of a dry run. */
const outcomes = Object.keys({
  succeeded: 0,
  probably_succeeded: 0,
  refused: 0,
  expired: 0,
  unknown: 0,
} satisfies Record<Exclude<OutcomeName, "checked">, number>);
const commandBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const ageBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * @param operations the operations of the catalogue; every other text is counted as `other`, because a sender
 * may write anything
 */
export function createMeter(operations: Iterable<string>): PromMeter {
  const commands = createCommandMetrics(new Set(operations));
  const messages = createMessageMetrics();
  const missionEvents = new Counter({
    name: "fleetgate_mission_events_total",
    help: "Transitions of missions that were seen, by the state that was reached.",
    labelNames: ["to"],
    registers: [],
  });
  for (const state of missionStateNames) missionEvents.inc({ to: missionStateLabel(state) }, 0);

  function countMission(event: FleetEvent): void {
    if (event.kind === "mission") missionEvents.inc({ to: missionStateLabel(event.to) });
  }

  return {
    metrics: [...commands.metrics, ...messages.metrics, missionEvents],
    commandEnded: commands.ended,
    received(update, events) {
      messages.received(update);
      for (const event of events) countMission(event);
    },
  };
}

function createCommandMetrics(operations: ReadonlySet<string>) {
  const total = new Counter({
    name: "fleetgate_commands_total",
    help: "Commands and requests with their final outcome. Operation other: none of the catalogue.",
    labelNames: ["protocol", "operation", "outcome"],
    registers: [],
  });
  const duration = new Histogram({
    name: "fleetgate_command_duration_seconds",
    help: "Time from the acceptance of a command to its outcome, of commands that were sent.",
    labelNames: ["operation"],
    buckets: commandBuckets,
    registers: [],
  });
  for (const operation of operations) {
    duration.zero({ operation });
    // Prometheus sees no increase in a series that begins with its first command.
    for (const protocol of protocols)
      for (const outcome of outcomes) total.inc({ protocol, operation, outcome }, 0);
  }
  return {
    metrics: [total, duration],
    ended({ protocol, operation: named, outcome, durationMs }: EndedCommand): void {
      const operation = operations.has(named) ? named : OTHER;
      total.inc({ protocol, operation, outcome });
      if (durationMs !== null && Number.isFinite(durationMs))
        duration.observe({ operation }, durationMs / SECOND_MS);
    },
  };
}

function createMessageMetrics() {
  const age = createQuickHistogram({
    name: "fleetgate_message_age_seconds",
    help: "Age of robots' messages when they came: the gateway's clock minus the robot's. 0: the robot's is ahead.",
    buckets: ageBuckets,
    series: streamKinds.map((kind) => streamLabels[kind]),
  });
  const ahead = new Counter({
    name: "fleetgate_messages_ahead_total",
    help: "Messages with a time ahead of the gateway's clock: their age is counted as 0.",
    labelNames: ["stream"],
    registers: [],
  });
  for (const kind of streamKinds) ahead.inc(streamLabels[kind], 0);

  function came(kind: StreamAspect, { sourceTimeMs, receivedAtMs, isClockWrong }: Stamp): void {
    // A wrong clock gives no age, and one robot would spoil the sum of all.
    if (isClockWrong === true) return;
    const ageMs = sourceTimeMs === null ? Number.NaN : receivedAtMs - sourceTimeMs;
    if (!Number.isFinite(ageMs)) return;
    // A sum that falls would look like a restart of the gateway.
    age.observe(streamKinds.indexOf(kind), Math.max(0, ageMs) / SECOND_MS);
    if (ageMs < 0) ahead.inc(streamLabels[kind]);
  }

  return {
    metrics: [age.metric, ahead],
    received(update: FleetUpdate): void {
      // A snapshot is as old as what it shows, and that tells nothing of its way.
      if (update.kind !== "mission" && update.kind !== "battery") return;
      if (update.isSnapshot !== true) came(update.kind, update.stamp);
    },
  };
}

/** A histogram for values that come with every message. */
export interface QuickHistogram {
  /** For the registry, which reads its values at a scrape. */
  readonly metric: Metric;
  /** @param series the index of its label set */
  observe(series: number, value: number): void;
}

export interface QuickHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** The upper bounds, ascending; the last bucket has none. */
  readonly buckets: readonly number[];
  /** The labels of all series that there will ever be. */
  readonly series: readonly Labels[];
}

/** A line of the text format. */
interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

interface Counts {
  /** Counts of each bucket alone; the last one is beyond all bounds. */
  readonly inBucket: Float64Array;
  sum: number;
}

/**
 * Counts in fixed arrays. prom-client's own histogram checks, sorts and hashes the labels at each value,
 * which takes ten times as long.
 */
function createQuickHistogram(options: QuickHistogramOptions): QuickHistogram {
  const { name, help, buckets, series } = options;
  const counts: readonly Counts[] = series.map(() => ({
    inBucket: new Float64Array(buckets.length + 1),
    sum: 0,
  }));

  function valuesOf(labels: Labels, { inBucket, sum }: Counts): Sample[] {
    let count = 0;
    const lines = Array.from(inBucket, (inThis, at) => {
      count += inThis;
      const le = buckets[at] ?? "+Inf";
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...lines,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }

  async function get() {
    const values = counts.flatMap((each, at) => valuesOf(series[at] ?? {}, each));
    return { name, help, type: "histogram", aggregator: "sum", values };
  }

  return {
    // The registry uses only these two members of a metric.
    metric: { name, get } as unknown as Metric,
    observe(at, value) {
      const of = counts[at];
      if (of === undefined) return;
      let bucket = 0;
      while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket += 1;
      of.inBucket[bucket] = (of.inBucket[bucket] ?? 0) + 1;
      of.sum += value;
    },
  };
}
