import { expect, test } from "vitest";
import { sourceTimeOf } from "../../src/domain/observed.ts";
import { createRobotClocks } from "../../src/fleet/robot-clocks.ts";
import { createLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";

const NOW_MS = Date.UTC(2026, 5, 1);
const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 86_400_000;

function start(serviceAheadMs: number | null = 0) {
  const lines: string[] = [];
  const clocks = createRobotClocks({
    clock: createManualClock(NOW_MS),
    serviceAheadMs: () => serviceAheadMs,
    log: createLog("info", { write: (line) => void lines.push(line) }),
  });
  /** The source time that is shown of a message. */
  const shown = (aheadMs: number, isChange: boolean, robotId = "r1") => {
    const stamp = { sourceTimeMs: NOW_MS + aheadMs, sequence: 1, receivedAtMs: NOW_MS };
    return (sourceTimeOf(clocks.evaluate(robotId, stamp, isChange)) ?? Number.NaN) - NOW_MS;
  };
  return { clocks, lines, shown };
}

test.each([
  ["1970", -NOW_MS, true],
  ["1970, in a snapshot", -NOW_MS, false],
  ["a year ahead", YEAR_MS, true],
  ["a year ahead, in a snapshot", YEAR_MS, false],
  ["2185", Date.UTC(2185, 0, 1) - NOW_MS, false],
  ["eleven minutes ahead", 11 * MINUTE_MS, true],
  ["eleven minutes behind, when something changed", -11 * MINUTE_MS, true],
])("a time of %s is replaced by that of receipt", (_name, aheadMs, isChange) => {
  const { clocks, shown } = start();
  expect(shown(aheadMs, isChange)).toBe(0);
  expect(clocks.wrong()).toBe(1);
});

test.each([
  ["nine minutes ahead", 9 * MINUTE_MS, true],
  ["nine minutes behind", -9 * MINUTE_MS, true],
  ["a year ago, in the snapshot of a robot that stands", -YEAR_MS, false],
])("a time of %s is the robot's own", (_name, aheadMs, isChange) => {
  const { clocks, shown } = start();
  expect(shown(aheadMs, isChange)).toBe(aheadMs);
  expect(clocks.wrong()).toBe(0);
});

test("a robot that is known to be behind is so in its snapshots too, until a time of it is right", () => {
  const { shown } = start();
  expect(shown(-YEAR_MS, true)).toBe(0);
  expect(shown(-YEAR_MS, false)).toBe(0);
  expect(shown(-YEAR_MS, false, "other")).toBe(-YEAR_MS);
  expect(shown(-1_000, true)).toBe(-1_000);
  expect(shown(-YEAR_MS, false)).toBe(-YEAR_MS);
});

test("while this machine's own clock is wrong, robots are judged by the service's", () => {
  const { shown } = start(YEAR_MS);
  expect(shown(YEAR_MS - 1_000, true)).toBe(YEAR_MS - 1_000);
  expect(shown(-1_000, true)).toBe(-1_000);
  expect(shown(2 * YEAR_MS, true)).toBe(0);
});

test("the log names a robot once", () => {
  const { lines, shown } = start();
  for (const aheadMs of [YEAR_MS, 0, YEAR_MS]) shown(aheadMs, true);
  shown(-YEAR_MS, true, "r2");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { robotId: "r1", aheadSeconds: YEAR_MS / 1_000 },
    { robotId: "r2", aheadSeconds: -YEAR_MS / 1_000 },
  ]);
});
