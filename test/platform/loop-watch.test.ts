import { expect, it } from "vitest";
import { createFanOut } from "../../src/delivery/fan-out.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type LogFields, silentLog } from "../../src/platform/log.ts";
import { processorMsOfProcess, watchLoop } from "../../src/platform/loop-watch.ts";
import { createWorkTimes, type LongestWork } from "../../src/platform/work-times.ts";
import { createFakeState, roomy } from "../delivery/fake-state.ts";

/** A clock whose one timer runs when the test says, as late as it likes. */
function harness() {
  let nowMs = 1_234;
  let usedMs = 0;
  let longest: LongestWork | null = null;
  let due: { readonly atMs: number; readonly task: () => void } | null = null;
  const lines: unknown[] = [];
  const stopping = new AbortController();
  const watch = watchLoop(
    {
      clock: {
        nowMs: () => nowMs,
        monotonicMs: () => nowMs,
        after(delayMs, task) {
          due = { atMs: nowMs + delayMs, task };
          return () => {
            due = null;
          };
        },
      },
      log: { ...silentLog, warn: (fields) => void lines.push(fields) },
      processorMs: () => usedMs,
      takeLongest: () => longest,
    },
    stopping.signal,
  );
  return {
    watch,
    lines,
    stop: () => stopping.abort(),
    isArmed: () => due !== null,
    /** The timer runs so much too late, while the process used so much of its processor. */
    late(delayMs: number, ofProcessorMs: number, work: LongestWork | null = null) {
      longest = work;
      if (due === null) throw new Error("nothing is due");
      nowMs = due.atMs + delayMs;
      usedMs += ofProcessorMs;
      due.task();
    },
  };
}

it("says for how long the loop stood still, and whether it was the gateway's own work", () => {
  const { watch, lines, late, stop, isArmed } = harness();
  late(3, 0);
  late(499, 400);
  expect(lines).toEqual([]);
  expect(watch.health()).toEqual({ state: "up", figures: { worstDelayMs: 499 } });
  late(2_000, 1_900);
  late(1_500, 20);
  expect(lines).toEqual([
    {
      delayMs: 2_000,
      processorMs: 1_900,
      cause: expect.stringMatching(/^its own work .* of no part that is timed/),
    },
    { delayMs: 1_500, processorMs: 20, cause: expect.stringContaining("gave it no processor time") },
  ]);
  for (let minute = 0; minute < 130; minute += 1) late(1, 0);
  expect(watch.health().figures?.worstDelayMs).toBe(1);
  stop();
  expect(isArmed()).toBe(false);
});

it("names the part whose work took most of the time", () => {
  const { lines, late } = harness();
  late(2_000, 1_900, { part: "opcua", ms: 1_800.4 });
  late(2_000, 1_900, { part: "opcua", ms: 900 });
  expect(lines).toEqual([
    expect.objectContaining({
      part: "opcua",
      partMs: 1_800,
      cause: "its own work took so long: opcua, 1.8 s",
    }),
    { delayMs: 2_000, processorMs: 1_900, cause: expect.stringContaining("of no part that is timed") },
  ]);
});

it("degrades the health for a minute, once the start is over", () => {
  const { watch, late } = harness();
  late(9_000, 8_000);
  expect(watch.health().state).toBe("up");
  watch.started();
  late(1_900, 1_800);
  expect(watch.health().state).toBe("up");
  late(2_100, 2_000, { part: "opcua", ms: 2_000 });
  late(2_000, 2_000, { part: "fleet", ms: 2_000 });
  expect(watch.health()).toMatchObject({
    state: "degraded",
    detail: expect.stringMatching(
      /^the gateway stood still for 2\.1 s until 1970-.*Z: its own work took so long: opcua, 2\.0 s$/,
    ),
  });
  for (let minute = 0; minute < 130; minute += 1) late(1, 0);
  expect(watch.health().state).toBe("up");
});

it("names a northbound that blocks the real event loop", async () => {
  const lines: Array<Readonly<Record<string, unknown>>> = [];
  const stopping = new AbortController();
  const work = createWorkTimes(systemClock);
  const { takeLongest } = work;
  const log = { ...silentLog, warn: (fields: LogFields) => void lines.push(fields) };
  watchLoop({ clock: systemClock, log, processorMs: processorMsOfProcess, takeLongest }, stopping.signal);
  const state = createFakeState();
  state.set("r1", 1);
  const fanOut = createFanOut({ state, clock: systemClock, log: silentLog, work });
  const write = () => {
    for (const endMs = performance.now() + 1_100; performance.now() < endMs; );
  };
  fanOut.attachSink("opcua", { write }, roomy);
  await expect.poll(() => lines).toContainEqual(expect.objectContaining({ part: "opcua" }));
  stopping.abort();
});
