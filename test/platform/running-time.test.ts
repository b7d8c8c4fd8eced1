import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { silentLog } from "../../src/platform/log.ts";
import { openRunningTime } from "../../src/platform/running-time.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let folder: string;
let clock: ManualClock;
let life: AbortController;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "running-time-"));
  clock = createManualClock();
});
afterEach(() => {
  life.abort();
  rmSync(folder, { recursive: true, force: true });
});

function start() {
  life = new AbortController();
  const time = openRunningTime(folder, clock, silentLog);
  time.begin(life.signal);
  return time;
}

it("counts what gateways have run, however the wall clock is set, and not the time in between", async () => {
  const first = start();
  expect(first.totalMs()).toBe(0);
  clock.jump(8 * DAY_MS);
  clock.advance(MINUTE_MS);
  life.abort();
  await first.end();
  clock.advance(DAY_MS);
  clock.jump(-20 * DAY_MS);
  const second = start();
  expect(second.totalMs()).toBe(MINUTE_MS);
  clock.advance(MINUTE_MS);
  expect(second.totalMs()).toBe(2 * MINUTE_MS);
  await second.end();
});

it("loses at most ten minutes to a crash, and never runs ahead", async () => {
  const first = start();
  for (const minute of [1, 2, 3]) {
    clock.advance(10 * MINUTE_MS);
    // The write is done once a later one is.
    await first.end();
    expect(first.totalMs(), `${minute}`).toBe(minute * 10 * MINUTE_MS);
  }
  clock.advance(9 * MINUTE_MS);
  life.abort();
  expect(start().totalMs()).toBe(30 * MINUTE_MS);
});

it("goes on from what a record of an earlier run shows, if the file says less", () => {
  const time = start();
  time.atLeast(5 * MINUTE_MS);
  clock.advance(MINUTE_MS);
  time.atLeast(2 * MINUTE_MS);
  expect(time.totalMs()).toBe(6 * MINUTE_MS);
});

it.each(["", "-5", "1e99", "x", "\0\0", "9e15\n", "99999999999999\n", "60001 15d5b29a\n"])(
  "begins at 0 with a file that says %j",
  (text) => {
    writeFileSync(join(folder, "running-time"), text);
    expect(start().totalMs()).toBe(0);
  },
);

it("is one line, which a person can read", async () => {
  const time = start();
  clock.advance(MINUTE_MS);
  await time.end();
  expect(readFileSync(join(folder, "running-time"), "utf8")).toMatch(/^60000 [0-9a-f]+\n$/);
  life.abort();
  expect(start().totalMs()).toBe(MINUTE_MS);
});
