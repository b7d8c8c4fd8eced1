import type { Alarm } from "../../../domain/alarm.ts";
import { type Observed, type Quality, sourceTimeOf } from "../../../domain/observed.ts";
import type { Device, DeviceMetric, DeviceParts } from "./device.ts";
import type { MetricModel, MetricQuality, MetricValue, Sample } from "./payload.ts";
import { alarmMetric, robotAlarmCodes } from "./robot-metrics.ts";

/** Metrics of one device that have one source, and so one quality. */
export interface MetricGroup<Key extends string> {
  /** Shows values of this moment. A value that is null does not exist. */
  show(values: Readonly<Record<Key, MetricValue | null>>, quality: Quality, atMs: number): void;
  /** Some of them as they were. */
  past(values: Readonly<Partial<Record<Key, MetricValue>>>, atMs: number): readonly Sample[];
}

export function addGroup<Key extends string>(
  device: Device,
  models: Readonly<Record<Key, MetricModel>>,
): MetricGroup<Key> {
  const metrics: readonly { readonly key: Key; readonly metric: DeviceMetric }[] =
    Object.entries<MetricModel>(models).map(([key, model]) => ({
      key: key as Key,
      metric: device.add(model),
    }));
  return {
    show(values, quality, atMs) {
      const known = metricQuality(quality);
      for (const { key, metric } of metrics) device.set(metric, values[key], known, atMs);
    },
    past: (values, atMs) =>
      metrics.flatMap(({ key, metric: { model, alias } }) => {
        const value = values[key];
        return value === undefined ? [] : [pastSample(model, alias, value, atMs)];
      }),
  };
}

/** A value of the past. */
function pastSample(model: MetricModel, alias: number | null, value: MetricValue, atMs: number): Sample {
  return { model, alias, value, quality: "good", atMs, isHistorical: true };
}

/** What was never known is bad; what is no longer known is stale. */
function metricQuality(quality: Quality): MetricQuality {
  if (quality === "good") return "good";
  return quality === "unknown" ? "bad" : "stale";
}

/** When a value was true: the robot's time, or that of its receipt. */
export function timeOf({ stamp }: Pick<Observed<unknown>, "stamp">): number {
  return sourceTimeOf(stamp) ?? stamp.receivedAtMs;
}

/** `Alarm/<code>` of a robot or station: whether the alarm is active. */
export interface AlarmMetrics {
  show(alarms: readonly Alarm[]): void;
  /** Adds the metric of an alarm that it may have. */
  add(code: string): void;
  /** Whether it was active at that moment. */
  past(code: string, isActive: boolean, atMs: number): readonly Sample[];
}

export function addAlarms(device: Device, { clock }: Pick<DeviceParts, "clock">): AlarmMetrics {
  const metrics = new Map<string, DeviceMetric>();

  function add(code: string): void {
    if (metrics.has(code)) return;
    const metric = device.add(alarmMetric(code));
    metrics.set(code, metric);
    device.set(metric, false, "good", clock.nowMs());
  }

  for (const code of robotAlarmCodes) add(code);
  return {
    add,
    past(code, isActive, atMs) {
      const metric = metrics.get(code);
      return metric === undefined ? [] : [pastSample(metric.model, metric.alias, isActive, atMs)];
    },
    show(alarms) {
      const active = new Set<string>(alarms.filter(({ isActive }) => isActive).map(({ code }) => code));
      for (const code of active) add(code);
      for (const [code, metric] of metrics) device.set(metric, active.has(code), "good", clock.nowMs());
    },
  };
}
