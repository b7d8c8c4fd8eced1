import type { Clock } from "../../../platform/clock.ts";
import type { MetricModel, MetricQuality, MetricValue, Sample } from "./payload.ts";

/** A metric with its present value. */
export interface DeviceMetric extends Sample {
  value: MetricValue | null;
  quality: MetricQuality;
  atMs: number;
  /** It has changed since it was published. It may be as it was then. */
  isDirty: boolean;
  /** As it was published last. */
  saidValue: MetricValue | null;
  /** Null: never, or it is published whatever it is. */
  saidQuality: MetricQuality | null;
}

/** Gives each metric a number of its own, over the whole node. */
export type TakeAlias = () => number;

export function createAliases(): TakeAlias {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

/** The metrics of the node, or of one of its devices, with their present values. */
export interface Device {
  readonly id: string;
  /** Adds a metric without a value. `isNamed`: it has no alias. */
  add(model: MetricModel, isNamed?: boolean): DeviceMetric;
  /** The value is this now; nothing happens if it was so before. */
  set(metric: DeviceMetric, value: MetricValue | null, quality: MetricQuality, atMs: number): void;
  /** Publishes a value, also if it was so before. */
  publish(metric: DeviceMetric, value: MetricValue, atMs: number): void;
  /** All metrics, as a birth would have them now. */
  all(): readonly Sample[];
  /** All metrics; they count as published. */
  birth(): readonly Sample[];
  /** Those that differ from what was published; they count as published. */
  takeChanged(): readonly Sample[];
  /** Whether it has a metric that no birth has had. */
  hasNew(): boolean;
}

/** What all devices of a node share. */
export interface DeviceParts {
  readonly takeAlias: TakeAlias;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  /** There is something of it to publish. */
  readonly onChange: (device: Device) => void;
}

export function createDevice(id: string, { takeAlias, clock, onChange }: DeviceParts): Device {
  const metrics: DeviceMetric[] = [];
  let changed: DeviceMetric[] = [];
  let isNew = true;

  function change(metric: DeviceMetric): void {
    onChange(device);
    if (metric.isDirty) return;
    metric.isDirty = true;
    changed.push(metric);
  }

  const device: Device = {
    id,
    add(model, isNamed = false) {
      const alias = isNamed ? null : takeAlias();
      const metric: DeviceMetric = {
        model,
        alias,
        value: null,
        quality: "bad",
        atMs: clock.nowMs(),
        isDirty: false,
        saidValue: null,
        saidQuality: null,
      };
      metrics.push(metric);
      if (!isNew) onChange(device);
      isNew = true;
      return metric;
    },
    set(metric, value, quality, atMs) {
      // What is not known to be true is not published.
      const published = quality === "good" ? value : null;
      const publishedQuality = quality === "good" && value === null ? "bad" : quality;
      if (metric.value === published && metric.quality === publishedQuality) return;
      metric.value = published;
      metric.quality = publishedQuality;
      metric.atMs = atMs;
      change(metric);
    },
    publish(metric, value, atMs) {
      metric.value = value;
      metric.quality = "good";
      metric.atMs = atMs;
      metric.saidQuality = null;
      change(metric);
    },
    all: () => metrics,
    birth() {
      isNew = false;
      changed = [];
      for (const metric of metrics) say(metric);
      return metrics;
    },
    takeChanged() {
      // A value may have changed, and changed back, before it was published.
      const taken = changed.filter(say);
      changed = [];
      return taken;
    },
    hasNew: () => isNew,
  };
  return device;
}

/** It counts as published now. Returns whether it was not so before. */
function say(metric: DeviceMetric): boolean {
  const { value, quality } = metric;
  const differs = metric.saidQuality !== quality || metric.saidValue !== value;
  metric.isDirty = false;
  metric.saidValue = value;
  metric.saidQuality = quality;
  return differs;
}
