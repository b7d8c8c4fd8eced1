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

/** The turns of the event loop that 400 ms of work take, while other work takes so long in each turn. */
async function turnsBeside(otherMs: number): Promise<number> {
  let turns = 0;
  let isOver = false;
  const other = () => {
    turns += 1;
    work(otherMs);
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  const slices = createTimeSlices();
  for (let step = 0; step < 400; step += 1) {
    work(1);
    await slices.next();
  }
  isOver = true;
  return turns;
}

it("work in slices leaves the event loop to others every 8 ms", async () => {
  expect(await turnsBeside(0)).toBeGreaterThan(20);
});

it("work in slices gets a quarter of the time when the event loop is busy", async () => {
  // Slices of 8 ms would take 50 turns, and those of a third of the others' work 12.
  expect(await turnsBeside(100)).toBeLessThan(40);
});
