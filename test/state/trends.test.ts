import { afterEach, expect, test } from "vitest";
import {
  BATTERY_STEP_MS,
  BATTERY_STEPS,
  createBatteryTrends,
  createHourTrends,
  HOUR_STEP_MS,
  HOUR_STEPS,
} from "../../src/state/trends.ts";
import { createManualClock } from "../support/manual-clock.ts";

const NOON_MS = Date.UTC(2026, 0, 2, 12);
const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function createTrends() {
  const clock = createManualClock(NOON_MS);
  const charges = new Map<string, number>();
  const trends = createBatteryTrends(() => charges, clock);
  closers.push(trends.open());
  const steps = (count: number) => clock.advance(count * BATTERY_STEP_MS);
  return { clock, charges, trends, steps, valuesOf: (id = "r1") => trends.batteryOf(id).values };
}

test("each step has the charge that was known last in it", () => {
  const { charges, steps, trends, valuesOf } = createTrends();
  charges.set("r1", 80);
  steps(1);
  charges.set("r1", 79);
  steps(1);
  expect(valuesOf().slice(0, 2)).toEqual([80, 79]);
  expect(trends.batteryOf("r1")).toMatchObject({ sinceMs: NOON_MS, firstAtMs: NOON_MS, stepMs: 30_000 });
});

test("it is recorded until the last caller that needs it has ended", () => {
  const { charges, steps, trends, valuesOf } = createTrends();
  charges.set("r1", 80);
  const end = trends.open();
  steps(2);
  closers.pop()?.();
  steps(2);
  expect(valuesOf().slice(0, 4)).toEqual([80, 80, 80, 80]);
  end();
  steps(2);
  expect(valuesOf().at(-1)).toBeNull();
});

test("while no charge is known there is none, and the last one is not carried on", () => {
  const { charges, steps, valuesOf } = createTrends();
  charges.set("r1", 80);
  steps(2);
  charges.delete("r1");
  steps(3);
  charges.set("r1", 60);
  steps(2);
  const values = valuesOf();
  expect(values.filter((value) => value === null).length).toBeGreaterThanOrEqual(2);
  expect(values.slice(3, 5)).toEqual([null, null]);
  expect(values.slice(-2)).toEqual([60, 60]);
  expect(valuesOf("nobody").every((value) => value === null)).toBe(true);
});

test("a charge that can be none is no sample", () => {
  const { charges, steps, valuesOf } = createTrends();
  for (const [robotId, percent] of [
    ["over", 250],
    ["nothing", 255],
    ["below", -1],
    ["nan", Number.NaN],
  ] as const)
    charges.set(robotId, percent);
  steps(2);
  for (const robotId of charges.keys()) expect(valuesOf(robotId)).toEqual([null, null, null]);
});

test("twelve hours are kept, and no more", () => {
  const { charges, steps, trends, valuesOf } = createTrends();
  charges.set("r1", 10);
  steps(5);
  charges.set("r1", 50);
  steps(BATTERY_STEPS + 7);
  expect(valuesOf()).toHaveLength(BATTERY_STEPS);
  expect(valuesOf()).not.toContain(10);
  expect(valuesOf()).not.toContain(null);
  expect(trends.batteryOf("r1").firstAtMs).toBe(NOON_MS + 13 * BATTERY_STEP_MS);
});

test("a clock that is set forward, as by a sleep of the machine, leaves a gap", () => {
  const { clock, charges, steps, valuesOf } = createTrends();
  charges.set("r1", 80);
  steps(2);
  clock.jump(100 * BATTERY_STEP_MS);
  steps(2);
  const values = valuesOf();
  expect(values.length).toBeGreaterThan(100);
  expect(values.slice(5, 100).every((value) => value === null)).toBe(true);
  clock.jump(2 * BATTERY_STEPS * BATTERY_STEP_MS);
  expect(valuesOf()).toHaveLength(BATTERY_STEPS);
  expect(valuesOf().every((value) => value === null)).toBe(true);
});

test("a clock that is set back begins the trend anew", () => {
  const { clock, charges, steps, trends, valuesOf } = createTrends();
  charges.set("r1", 80);
  steps(5);
  clock.jump(-3_600_000);
  charges.set("r1", 70);
  steps(1);
  expect(valuesOf()).not.toContain(80);
  expect(valuesOf()).toContain(70);
  const { sinceMs, firstAtMs } = trends.batteryOf("r1");
  expect([sinceMs, firstAtMs].every((atMs) => atMs < NOON_MS)).toBe(true);
});

test("robots beyond the bound are left out", () => {
  const { charges, steps, valuesOf } = createTrends();
  for (let number = 0; number <= 10_000; number += 1) charges.set(`r${number}`, 50);
  steps(1);
  expect(valuesOf("r9999")).toContain(50);
  expect(valuesOf("r10000")).not.toContain(50);
});

test("an hour of missions and places is kept, each value by itself", () => {
  const clock = createManualClock(NOON_MS);
  const known = { missionState: 2, mapId: 70_000_001, x: -12.5, y: 0, heading: null as number | null };
  const { hourOf, open } = createHourTrends(() => [["r1", known]], clock);
  closers.push(open());
  clock.advance(HOUR_STEP_MS);
  known.heading = 0.5;
  clock.advance(2 * HOUR_STEP_MS);
  expect(hourOf("r1", "missionState").values.slice(0, 3)).toEqual([2, 2, 2]);
  expect(hourOf("r1", "mapId").values[0]).toBe(70_000_001);
  expect(hourOf("r1", "x").values[0]).toBe(-12.5);
  expect(hourOf("r1", "y").values[0]).toBe(0);
  expect(hourOf("r1", "heading").values.slice(0, 3)).toEqual([null, 0.5, 0.5]);
  clock.advance(2 * HOUR_STEPS * HOUR_STEP_MS);
  expect(hourOf("r1", "x")).toMatchObject({ stepMs: 10_000 });
  expect(hourOf("r1", "x").values).toHaveLength(3_600_000 / 10_000);
});
