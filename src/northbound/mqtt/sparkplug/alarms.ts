import type { Alarm } from "../../../domain/alarm.ts";
import type { Device, DeviceMetric, DeviceParts } from "./device.ts";
import { pastSample } from "./metric-group.ts";
import type { Sample } from "./payload.ts";
import { alarmMetric, robotAlarmCodes } from "./robot-metrics.ts";

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
