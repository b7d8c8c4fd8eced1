import { expect, test } from "vitest";
import { createQuietLimit } from "../../../src/fleet/streams/renewal-wait.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function start(configuredMs = 60_000) {
  const clock = createManualClock();
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const limit = createQuietLimit(configuredMs, clock, log);
  /** Each is cut as long after the one before as it was quiet. */
  const cut = (...quietMs: number[]) => {
    for (const each of quietMs) {
      clock.advance(each);
      limit.cut(each);
    }
  };
  return { limit, lines, cut };
}

test("three cuts at the same age show a limit: streams are renewed before it, and a line names the key", () => {
  const { limit, lines, cut } = start();
  cut(30_000, 30_400);
  expect(limit.resyncMs()).toBe(60_000);
  cut(30_100);
  expect(limit.foundMs()).toBe(30_000);
  expect(limit.resyncMs()).toBe(34_000);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("quality.resyncMs");
  cut(30_000, 30_000, 30_000);
  expect(lines).toHaveLength(1);
});

test("streams that are cut together are one cut", () => {
  const { limit, cut } = start();
  cut(30_000);
  for (let stream = 0; stream < 20; stream += 1) limit.cut(30_000);
  expect(limit.resyncMs()).toBe(60_000);
});

test.each([
  ["of different ages", [30_000, 12_000, 40_000, 21_000, 35_000, 8_000]],
  ["of streams that were not quiet", [100, 100, 100, 1_900, 1_900, 1_900]],
])("cuts %s show none", (_, quietMs) => {
  const { limit, lines, cut } = start();
  cut(...quietMs);
  expect(limit.resyncMs()).toBe(60_000);
  expect(lines).toEqual([]);
});

test("cuts show none if another stream was quiet for longer meanwhile", () => {
  const { limit, cut } = start();
  cut(20_000, 20_000);
  limit.survived(40_000);
  cut(20_000);
  expect(limit.foundMs()).toBeNull();
  limit.survived(20_000);
  cut(20_000, 20_000);
  expect(limit.foundMs()).toBe(20_000);
});

test("a limit that became shorter is found again, down to a least time between renewals", () => {
  const { limit, lines, cut } = start();
  cut(30_000, 30_000, 30_000);
  cut(15_000, 15_000, 15_000);
  expect(limit.resyncMs()).toBe(17_000);
  for (let time = 0; time < 9; time += 1) cut(3_000);
  expect(limit.resyncMs()).toBe(10_000);
  expect(lines).toHaveLength(3);
});

test("a limit that the configured renewal keeps changes nothing", () => {
  const { limit, lines, cut } = start(25_000);
  cut(30_000, 30_000, 30_000);
  expect(limit.resyncMs()).toBe(25_000);
  expect(lines).toEqual([]);
});
