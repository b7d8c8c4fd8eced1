import { expect, it } from "vitest";
import { createLogOnDelays } from "../../src/platform/log-on-delay.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("delays grow from half a second to half a minute, and end with a right log-on", () => {
  const clock = createManualClock();
  const delays = createLogOnDelays(clock);
  const seen = [];
  for (let count = 0; count < 9; count += 1) {
    seen.push(delays.failed("line1", "10.0.0.5").delayMs);
    clock.advance(delays.waitMs("line1", "10.0.0.5"));
    expect(delays.waitMs("line1", "10.0.0.5")).toBe(0);
  }
  expect(seen).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  delays.succeeded("line1", "10.0.0.5");
  expect(delays.failed("line1", "10.0.0.5")).toEqual({ count: 1, delayMs: 500 });
});

it("another user, and the same user from another address, do not wait", () => {
  const delays = createLogOnDelays(createManualClock());
  for (let count = 0; count < 20; count += 1) delays.failed("line1", "10.0.0.5");
  expect(delays.waitMs("line1", "10.0.0.5")).toBe(30_000);
  expect(delays.waitMs("line1", "10.0.0.6")).toBe(0);
  expect(delays.waitMs("line2", "10.0.0.5")).toBe(0);
  expect(delays.waitMs("line1,10.0.0.5")).toBe(0);
});

it("is forgotten after ten minutes, whatever the wall clock does", () => {
  const clock = createManualClock();
  const delays = createLogOnDelays(clock);
  for (let count = 0; count < 20; count += 1) delays.failed("line1", "10.0.0.5");
  clock.jump(3_600_000);
  expect(delays.waitMs("line1", "10.0.0.5")).toBe(30_000);
  clock.advance(600_001);
  expect(delays.failed("line1", "10.0.0.5").count).toBe(1);
});

it("keeps a thousand of them: ever new names fill no memory", () => {
  const delays = createLogOnDelays(createManualClock());
  delays.failed("first", "10.0.0.5");
  for (let each = 0; each < 1_000; each += 1) delays.failed(`${each}`.repeat(1_000), "10.0.0.5");
  expect(delays.waitMs("first", "10.0.0.5")).toBe(0);
  expect(delays.waitMs("999".repeat(1_000), "10.0.0.5")).toBe(500);
});
