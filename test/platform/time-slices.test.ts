import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createTimeSlices } from "../../src/platform/loop-time.ts";

/** A clock of which the machine's other work takes nothing. */
let nowMs: number;
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
});
afterEach(() => void vi.restoreAllMocks());

/** Holds the event loop up. */
function work(ms: number): void {
  nowMs += ms;
}

/** The turns that 400 ms of work take, and its longest slice, while other work takes so long in each turn. */
async function turnsBeside(otherMs: number): Promise<{ readonly turns: number; readonly longestMs: number }> {
  let turns = 0;
  let beganMs = 0;
  let longestMs = 0;
  let isOver = false;
  const other = () => {
    turns += 1;
    longestMs = Math.max(longestMs, nowMs - beganMs);
    work(otherMs);
    beganMs = nowMs;
    if (!isOver) void setImmediate().then(other);
  };
  void setImmediate().then(other);
  const slices = createTimeSlices();
  for (let step = 0; step < 400; step += 1) {
    work(1);
    await slices.next();
  }
  isOver = true;
  // The other work's last turn is not the next test's.
  await setImmediate();
  return { turns, longestMs };
}

it("work in slices leaves the event loop to others every 8 ms", async () => {
  expect((await turnsBeside(0)).turns).toBeGreaterThan(20);
});

it("work in slices gets a quarter of the time when the event loop is busy", async () => {
  // Slices of 8 ms would take 50 turns, and those of a third of the others' work 12.
  expect((await turnsBeside(100)).turns).toBeLessThan(40);
});

it("a slice and its last step stay below 50 ms, however busy the event loop is", async () => {
  expect((await turnsBeside(1_000)).longestMs).toBeLessThanOrEqual(31);
});
