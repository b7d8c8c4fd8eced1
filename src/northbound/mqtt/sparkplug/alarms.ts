import type { Alarm } from "../../../domain/alarm.ts";
import type { Device, DeviceParts, Slot } from "./device.ts";
import type { Sample } from "./payload.ts";
import { alarmMetric, robotAlarmCodes } from "./robot-metrics.ts";
import { pastSample } from "./slot-group.ts";

/** `Alarm/<code>` of a robot or station: whether the alarm is active. */
export interface AlarmMetrics {
  show(alarms: readonly Alarm[]): void;
  /** Adds the metric of an alarm that it may have. */
  add(code: string): void;
  /** Whether it was active at that moment. */
  past(code: string, isActive: boolean, atMs: number): readonly Sample[];
}

export function addAlarms(device: Device, { clock }: Pick<DeviceParts, "clock">): AlarmMetrics {
  const slots = new Map<string, Slot>();

  function add(code: string): void {
    if (slots.has(code)) return;
    const slot = device.add(alarmMetric(code));
    slots.set(code, slot);
    device.set(slot, false, "good", clock.nowMs());
  }

  for (const code of robotAlarmCodes) add(code);
  return {
    add,
    past(code, isActive, atMs) {
      const slot = slots.get(code);
      return slot === undefined ? [] : [pastSample(slot.model, slot.alias, isActive, atMs)];
    },
    show(alarms) {
      const active = new Set<string>(alarms.filter(({ isActive }) => isActive).map(({ code }) => code));
      for (const code of active) add(code);
      for (const [code, slot] of slots) device.set(slot, active.has(code), "good", clock.nowMs());
    },
  };
}
