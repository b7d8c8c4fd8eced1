import { expect, test } from "vitest";
import { every } from "../../src/platform/clock.ts";
import { createManualClock } from "../support/manual-clock.ts";

test("what has the same period runs at the same moments, whenever it began", () => {
  const clock = createManualClock();
  const over = new AbortController();
  const ran: string[] = [];
  const begin = (name: string) =>
    every(clock, 1_000, over.signal, () => ran.push(`${name} ${clock.monotonicMs()}`));
  begin("a");
  clock.advance(300);
  begin("b");
  clock.advance(400);
  begin("c");
  clock.advance(2_300);
  over.abort();
  clock.advance(5_000);
  // At 700 the moment at 1,000 is less than half a period away: too soon for a first run.
  expect(ran.sort()).toEqual([
    ...["a 1000", "a 2000", "a 3000", "b 1000", "b 2000", "b 3000"],
    ...["c 2000", "c 3000"],
  ]);
});

test("a timer that fires late or early stays in step, and runs once a period", () => {
  const clock = createManualClock();
  const over = new AbortController();
  const offsets = [3, -1, 40, -2, 0];
  const uneven = {
    ...clock,
    after: (delayMs: number, task: () => void) => clock.after(delayMs + (offsets.shift() ?? 0), task),
  };
  const ranAtMs: number[] = [];
  every(uneven, 1_000, over.signal, () => ranAtMs.push(clock.monotonicMs()));
  clock.advance(6_000);
  over.abort();
  expect(ranAtMs).toEqual([1003, 1999, 3040, 3998, 5000, 6000]);
});

test("a task whose turn was held up runs after what came meanwhile was read, once, and not after the end", () => {
  const clock = createManualClock();
  const over = new AbortController();
  const offsets = [0, 5_200];
  const held = {
    ...clock,
    after: (delayMs: number, task: () => void) => clock.after(delayMs + (offsets.shift() ?? 0), task),
  };
  const ranAtMs: number[] = [];
  every(held, 1_000, over.signal, () => ranAtMs.push(clock.monotonicMs()));
  clock.advance(7_100);
  expect(ranAtMs).toEqual([1_000]);
  clock.advance(1_000);
  over.abort();
  clock.advance(5_000);
  expect(ranAtMs).toEqual([1_000, 7_300, 8_000]);
});
