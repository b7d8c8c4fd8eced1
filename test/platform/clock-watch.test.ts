import { expect, it } from "vitest";
import { watchClock } from "../../src/platform/clock-watch.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("says once that the wall clock was set, in which direction and how far", () => {
  const clock = createManualClock();
  const lines: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown, text: string) => void lines.push([fields, text]) };
  const watch = watchClock({ clock, log, wrong: () => null }, new AbortController().signal);
  clock.advance(10_000);
  expect(watch.health()).toEqual({ state: "up", figures: { steps: 0 } });
  clock.jump(3_600_000);
  clock.advance(10_000);
  clock.jump(-7_200_000);
  clock.advance(10_000);
  expect(lines).toEqual([
    [
      { stepMs: 3_600_000 },
      expect.stringMatching(/^the wall clock was set forward, or the machine slept, by 3600\.0 s: ages, /),
    ],
    [{ stepMs: -7_200_000 }, expect.stringMatching(/^the wall clock was set back by 7200\.0 s: /)],
  ]);
  expect(watch.health()).toMatchObject({
    state: "up",
    detail: "the wall clock was set back by 7200.0 s",
    figures: { steps: 2 },
  });
  clock.advance(3_600_000);
  expect(watch.health()).toEqual({ state: "up", figures: { steps: 2 } });
});

it("takes what a time service corrects slowly, and a late look, for no step", () => {
  const clock = createManualClock();
  const watch = watchClock({ clock, log: silentLog, wrong: () => null }, new AbortController().signal);
  for (let look = 0; look < 100; look += 1) {
    clock.jump(100);
    clock.advance(1_000 + look);
  }
  clock.advance(5_000);
  clock.jump(499);
  clock.advance(5_000);
  expect(watch.health().figures).toEqual({ steps: 0 });
});
