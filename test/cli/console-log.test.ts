import { afterEach, expect, it } from "vitest";
import { logConsole } from "../../src/cli/console-log.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";

let giveBack = () => {};
afterEach(() => giveBack());

function setUp() {
  const lines: unknown[] = [];
  const note = (level: string) => (fields: unknown) => void lines.push([level, fields]);
  const log = { ...silentLog, debug: note("debug"), info: note("info"), warn: note("warn") };
  const clock = createManualClock();
  giveBack = logConsole(log, clock, ["s3cret"]);
  return { lines, clock };
}

it("logs what a library writes to the console, without secrets and not without end", () => {
  const { lines } = setUp();
  console.error("E %s | key %s Bearer abcdef123", "resolver", "s3cret");
  console.log("x".repeat(5_000));
  console.trace("a trace");
  const place = expect.stringMatching(/^console-log\.test\.ts:\d+$/);
  expect(lines).toEqual([
    ["warn", { library: place, text: "E resolver | key (hidden) Bearer (hidden)" }],
    ["info", { library: place, text: "x".repeat(300) }],
    ["debug", { library: place, text: "a trace" }],
  ]);
});

it("logs a place once in ten seconds", () => {
  const { lines, clock } = setUp();
  const complain = () => console.error("again");
  for (let count = 0; count < 5; count += 1) complain();
  expect(lines).toHaveLength(1);
  clock.advance(10_000);
  complain();
  expect(lines).toHaveLength(2);
});

it("gives the console back", () => {
  const { error } = console;
  setUp();
  expect(console.error).not.toBe(error);
  giveBack();
  expect(console.error).toBe(error);
});
