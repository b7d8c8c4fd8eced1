import { expect, it } from "vitest";
import { silentLog } from "../../src/platform/log.ts";
import { watchLoop } from "../../src/platform/loop-watch.ts";

/** A clock whose one timer runs when the test says, as late as it likes. */
function harness() {
  let nowMs = 1_234;
  let usedMs = 0;
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
    },
    stopping.signal,
  );
  return {
    watch,
    lines,
    stop: () => stopping.abort(),
    isArmed: () => due !== null,
    /** The timer runs so much too late, while the process used so much of its processor. */
    late(delayMs: number, ofProcessorMs: number) {
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
    { delayMs: 2_000, processorMs: 1_900, cause: "its own work took so long" },
    { delayMs: 1_500, processorMs: 20, cause: expect.stringContaining("gave it no processor time") },
  ]);
  for (let minute = 0; minute < 130; minute += 1) late(1, 0);
  expect(watch.health().figures?.worstDelayMs).toBe(1);
  stop();
  expect(isArmed()).toBe(false);
});
