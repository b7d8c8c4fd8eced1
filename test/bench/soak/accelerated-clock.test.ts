import { expect, test } from "vitest";
import { createAcceleratedClock } from "../../../bench/soak/accelerated-clock.ts";
import { paceFrom, realAt, realPace, simulatedAt } from "../../../bench/soak/pace.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const MINUTE_MS = 60_000;

function open(shortestMs = 0) {
  const machine = createManualClock();
  const accelerated = createAcceleratedClock(machine, shortestMs, machine.nowMs);
  const go = (factor: number) => accelerated.setPace(paceFrom(realPace, machine.nowMs(), factor));
  return { machine, ...accelerated, go };
}

test("time passes at the pace, on both clocks", () => {
  const { machine, clock, go } = open();
  const beforeMs = clock.nowMs();
  go(60);
  machine.advance(1_000);
  expect(clock.nowMs() - beforeMs).toBe(MINUTE_MS);
  expect(clock.monotonicMs()).toBe(MINUTE_MS);
});

test("what waits is due at its simulated time, also if it began to wait at another pace", () => {
  const { machine, clock, go, waiting } = open();
  const due: string[] = [];
  clock.after(MINUTE_MS, () => due.push("before"));
  go(60);
  clock.after(2 * MINUTE_MS, () => due.push("after"));
  clock.after(MINUTE_MS, () => due.push("cancelled"))();
  expect(waiting()).toHaveLength(2);
  machine.advance(1_000);
  expect(due).toEqual(["before"]);
  machine.advance(1_000);
  expect(due).toEqual(["before", "after"]);
  expect(waiting()).toHaveLength(0);
});

test("a wait is not made shorter than a disk needs", () => {
  const { machine, clock, go } = open(100);
  go(60);
  const due: number[] = [];
  for (const delayMs of [50, 1_000, MINUTE_MS]) clock.after(delayMs, () => due.push(delayMs));
  machine.advance(50);
  expect(due).toEqual([50]);
  machine.advance(50);
  expect(due).toEqual([50, 1_000]);
  machine.advance(900);
  expect(due).toEqual([50, 1_000, MINUTE_MS]);
});

test("the monotonic clock stands still until a slower pace has caught up with it", () => {
  const { machine, clock, go, setPace } = open();
  go(60);
  machine.advance(1_000);
  const slowedAtMs = machine.nowMs();
  const slow = paceFrom({ ...realPace, atMs: slowedAtMs, simulatedMs: clock.nowMs() }, slowedAtMs, 1);
  machine.advance(10);
  const beforeMs = clock.monotonicMs();
  setPace(slow);
  expect(clock.monotonicMs()).toBe(beforeMs);
});

test("a simulated moment has a real one", () => {
  const pace = paceFrom(realPace, 5_000, 168);
  expect(realAt(pace, simulatedAt(pace, 7_000))).toBe(7_000);
});
