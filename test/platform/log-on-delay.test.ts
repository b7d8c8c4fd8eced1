import { expect, it } from "vitest";
import { createLogOnDelays, createLogOnHold, createLogOnReports } from "../../src/platform/log-on-delay.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("delays grow from half a second to four seconds, and end with a right log-on", () => {
  const clock = createManualClock();
  const delays = createLogOnDelays(clock);
  const seen = [];
  for (let count = 0; count < 9; count += 1) {
    seen.push(delays.failed("line1", "10.0.0.5").delayMs);
    clock.advance(delays.waitMs("line1", "10.0.0.5"));
    expect(delays.waitMs("line1", "10.0.0.5")).toBe(0);
  }
  expect(seen).toEqual([500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000]);
  delays.succeeded("line1", "10.0.0.5");
  expect(delays.failed("line1", "10.0.0.5")).toEqual({ count: 1, delayMs: 500 });
});

it("another user, and the same user from another address, do not wait", () => {
  const delays = createLogOnDelays(createManualClock());
  for (let count = 0; count < 20; count += 1) delays.failed("line1", "10.0.0.5");
  expect(delays.waitMs("line1", "10.0.0.5")).toBe(4_000);
  expect(delays.waitMs("line1", "10.0.0.6")).toBe(0);
  expect(delays.waitMs("line2", "10.0.0.5")).toBe(0);
  expect(delays.waitMs("line1,10.0.0.5")).toBe(0);
});

it("is forgotten after ten minutes, whatever the wall clock does", () => {
  const clock = createManualClock();
  const delays = createLogOnDelays(clock);
  for (let count = 0; count < 20; count += 1) delays.failed("line1", "10.0.0.5");
  clock.jump(3_600_000);
  expect(delays.waitMs("line1", "10.0.0.5")).toBe(4_000);
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

it("each of 32 waits by itself, one more is refused, and one whose connection is gone is left out", () => {
  const clock = createManualClock();
  const delays = createLogOnDelays(clock);
  const hold = createLogOnHold(delays, clock);
  for (let count = 0; count < 20; count += 1) delays.failed("line1", "10.0.0.5");
  let passed = 0;
  let refused = 0;
  const attempt = () => {
    passed += 1;
  };
  const refuse = () => {
    refused += 1;
  };
  const come = (isThere = true, address = "10.0.0.5") =>
    hold.pass({ who: ["line1", address], isThere: () => isThere }, attempt, refuse);
  for (let count = 0; count < 31; count += 1) come();
  come(false);
  come();
  expect([passed, refused]).toEqual([0, 1]);
  come(true, "10.0.0.6");
  expect(passed).toBe(1);
  clock.advance(4_000);
  expect([passed, refused]).toEqual([32, 1]);
  come();
  expect(passed).toBe(33);
});

it("a failure is reported under the name of a user, and never under a name that no user has", () => {
  const clock = createManualClock();
  const leftOut: number[] = [];
  const reports = createLogOnReports(
    clock,
    (name) => name === "line1",
    (count) => leftOut.push(count),
  );
  expect(reports.nameOf("line1")).toBe("line1");
  expect(reports.nameOf("")).toBe("");
  const unknown = Array.from({ length: 12 }, (_each, number) => reports.nameOf(`password ${number}`));
  expect(unknown).toEqual([...Array<string>(9).fill("(unknown name)"), null, null, null]);
  // Invented names hide no attempt on a user.
  expect(reports.nameOf("line1")).toBe("line1");
  clock.advance(60_000);
  expect(leftOut).toEqual([3]);
});
