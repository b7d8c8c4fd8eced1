import { expect, test } from "vitest";
import {
  faultsOf,
  leaked,
  lookAgain,
  looksOf,
  type Period,
  reachOf,
  slope,
} from "../../../bench/soak/judge.ts";
import type { Census, Count } from "../../../bench/soak/protocol.ts";
import { incidents, scheduleOf } from "../../../bench/soak/schedule.ts";

function census(held: Partial<Record<"listeners" | "timers" | "descriptors", Count>>): Census {
  const memory = { rssAnonMb: 200, collectedMb: 180, heapMb: 100 };
  return { soak: "census", listeners: {}, timers: {}, descriptors: {}, ...memory, ...held };
}

function period(endsAt: number, changed: Partial<Period> = {}): Period {
  return {
    endsAt,
    looks: looksOf(census({})),
    memory: census({}),
    latency: { messages: 100, disturbed: 10, p50: 5, p99: 20 },
    happened: Object.fromEntries(incidents.map((incident) => [incident, 1])),
    tokens: 1,
    plc: { changes: 1, commands: 1 },
    replies: 1,
    ...changed,
  };
}

function week(last: Partial<Period>): Period[] {
  return [1, 2, 3, 4, 5, 6].map((day) => period(day)).concat(period(7, last));
}

const missed = (periods: readonly Period[]) =>
  reachOf(periods)
    .filter(({ met }) => !met)
    .map(({ what }) => what);

test("what comes and goes is not left behind, what stays is", () => {
  const before = lookAgain(looksOf(census({ timers: { retry: 1 } })), census({ timers: { poll: 1 } }));
  const passing = lookAgain(looksOf(census({ timers: { retry: 2 } })), census({ timers: { poll: 2 } }));
  expect(leaked(before, passing).timers).toEqual({});
  const staying = lookAgain(looksOf(census({ timers: { retry: 2 } })), census({ timers: { retry: 3 } }));
  expect(leaked(before, staying).timers).toEqual({ retry: 1 });
});

test("a kind that goes does not make up for one that comes", () => {
  const before = looksOf(census({ listeners: { "Socket close": 5 } }));
  const after = looksOf(census({ listeners: { "AbortSignal abort": 5 } }));
  expect(leaked(before, after).listeners).toEqual({ "AbortSignal abort": 5 });
});

test("a week in which nothing grew has its reach", () => {
  expect(missed(week({}))).toEqual([]);
});

test.each(["listeners", "timers", "descriptors"] as const)("one of the %s that stays misses it", (what) => {
  const looks = looksOf(census({ [what]: { one: 1 } }));
  expect(missed(week({ looks }))).toEqual([expect.stringContaining(what)]);
});

test("memory that grows, and latency that grows, miss it", () => {
  const growing = week({}).map((day, at) => ({
    ...day,
    memory: { ...day.memory, collectedMb: 180 + 1.1 * at },
  }));
  expect(missed(growing)).toEqual([expect.stringContaining("RssAnon")]);
  const latency = { messages: 100, disturbed: 0, p50: 5, p99: 24.1 };
  expect(missed(week({ latency }))).toEqual([expect.stringContaining("p99")]);
});

test("the first day's memory does not count", () => {
  const [first, ...others] = week({});
  if (first === undefined) throw new Error("no day");
  expect(missed([{ ...first, memory: { ...first.memory, collectedMb: 100 } }, ...others])).toEqual([]);
});

test("half a day has no slope, and times no message", () => {
  const latency = { messages: 3, disturbed: 3, p50: Number.NaN, p99: Number.NaN };
  const periods = [period(0.05), period(0.1, { latency })];
  expect(reachOf(periods)).toHaveLength(3);
  expect(faultsOf(periods)).toEqual([]);
});

test("a slope is that of the line", () => {
  expect(slope([1, 2, 3].map((x) => [x, 2 * x + 1] as const))).toBeCloseTo(2);
});

test("what did not happen is a fault", () => {
  expect(faultsOf(week({}))).toEqual([]);
  const { "PLC crash": _crash, ...happened } = period(1).happened;
  expect(faultsOf([period(1), period(2, { happened, tokens: 0 })])).toEqual([
    "period 2 had no PLC crash",
    "period 2 had no token refresh",
  ]);
  const latency = { messages: 3, disturbed: 3, p50: Number.NaN, p99: Number.NaN };
  expect(faultsOf(week({ latency }))).toEqual(["period 7 had no message to time"]);
  expect(faultsOf([period(1, { latency: { ...latency, messages: 0 } })])).toEqual([
    "period 1 had no message",
  ]);
});

test("every kind of incident is in every schedule, in order, and the same with the same chance", () => {
  const schedule = (days: number) => scheduleOf(days, () => 0.5);
  for (const days of [0.05, 1]) {
    const drawn = schedule(days);
    expect(new Set(drawn.map(({ incident }) => incident))).toEqual(new Set(incidents));
    expect(drawn.map(({ at }) => at)).toEqual(drawn.map(({ at }) => at).sort((a, b) => a - b));
    expect(schedule(days)).toEqual(drawn);
  }
});
