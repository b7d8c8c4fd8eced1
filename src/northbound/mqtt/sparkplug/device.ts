import type { Clock } from "../../../platform/clock.ts";
import type { MetricModel, MetricQuality, MetricValue, Sample } from "./payload.ts";

/** A metric with its present value. */
export interface Slot extends Sample {
  value: MetricValue | null;
  quality: MetricQuality;
  atMs: number;
  /** It has changed since it was published. */
  isDirty: boolean;
}

/** Gives each metric a number of its own, over the whole node. */
export type TakeAlias = () => bigint;

export function createAliases(): TakeAlias {
  let last = 0n;
  return () => {
    last += 1n;
    return last;
  };
}

/** The metrics of the node, or of one of its devices, with their present values. */
export interface Device {
  readonly id: string;
  /** Adds a metric without a value. `isNamed`: it has no alias. */
  add(model: MetricModel, isNamed?: boolean): Slot;
  /** The value is this now; nothing happens if it was so before. */
  set(slot: Slot, value: MetricValue | null, quality: MetricQuality, atMs: number): void;
  /** Publishes a value, also if it was so before. */
  tell(slot: Slot, value: MetricValue, atMs: number): void;
  /** All metrics; they count as published. */
  birth(): readonly Sample[];
  /** Those that have changed since; they count as published. */
  takeChanged(): readonly Sample[];
  /** Whether it has a metric that no birth has had. */
  hasNew(): boolean;
  hasChanged(): boolean;
}

/** What all devices of a node share. */
export interface DeviceParts {
  readonly takeAlias: TakeAlias;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  /** There is something of it to publish. */
  readonly onChange: (device: Device) => void;
}

export function createDevice(id: string, { takeAlias, clock, onChange }: DeviceParts): Device {
  const slots: Slot[] = [];
  let changed: Slot[] = [];
  let isNew = true;

  function change(slot: Slot): void {
    onChange(device);
    if (slot.isDirty) return;
    slot.isDirty = true;
    changed.push(slot);
  }

  const device: Device = {
    id,
    add(model, isNamed = false) {
      const alias = isNamed ? null : takeAlias();
      const slot: Slot = { model, alias, value: null, quality: "bad", atMs: clock.nowMs(), isDirty: false };
      slots.push(slot);
      if (!isNew) onChange(device);
      isNew = true;
      return slot;
    },
    set(slot, value, quality, atMs) {
      // What is not known to be true is not shown.
      const shown = quality === "good" ? value : null;
      const told = quality === "good" && value === null ? "bad" : quality;
      if (slot.value === shown && slot.quality === told) return;
      slot.value = shown;
      slot.quality = told;
      slot.atMs = atMs;
      change(slot);
    },
    tell(slot, value, atMs) {
      slot.value = value;
      slot.quality = "good";
      slot.atMs = atMs;
      change(slot);
    },
    birth() {
      isNew = false;
      for (const slot of changed) slot.isDirty = false;
      changed = [];
      return slots;
    },
    takeChanged() {
      const taken = changed;
      changed = [];
      for (const slot of taken) slot.isDirty = false;
      return taken;
    },
    hasNew: () => isNew,
    hasChanged: () => changed.length > 0,
  };
  return device;
}
