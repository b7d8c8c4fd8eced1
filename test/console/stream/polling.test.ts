import { expect, it } from "vitest";
import type { Answer } from "../../../src/console/api.ts";
import { nothingPolled, POLL_MS, type Polled, poll, SETTLE_MS } from "../../../src/console/stream/stream.ts";

/** A page whose time passes when the test says so, and a gateway that answers when it says so. */
function open() {
  const over = new AbortController();
  let nowMs = 0;
  let isHidden = false;
  let polled: Polled<number> = nothingPolled;
  const sleepers: Array<{ readonly ms: number; readonly wake: () => void }> = [];
  const watchers: Array<() => void> = [];
  const questions: Array<(answer: Answer<number>) => void> = [];
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const ended = poll<number>(
    {
      ask: () => new Promise((resolve) => questions.push(resolve)),
      onAnswer(change) {
        polled = change(polled);
      },
      isHidden: () => isHidden,
      visibilityChange: () => new Promise((resolve) => watchers.push(resolve)),
      sleep: (ms) => new Promise((wake) => sleepers.push({ ms, wake })),
      now: () => ({ monotonicMs: nowMs, wallMs: nowMs }),
    },
    over.signal,
  );
  return {
    over,
    ended,
    polled: () => polled,
    asked: () => questions.length,
    async answer(answer: Answer<number>, afterMs = 0) {
      nowMs += afterMs;
      questions.shift()?.(answer);
      await turn();
    },
    async wake(): Promise<number> {
      const sleeper = sleepers.shift();
      nowMs += sleeper?.ms ?? 0;
      sleeper?.wake();
      await turn();
      return sleeper?.ms ?? Number.NaN;
    },
    async hide(isNow: boolean) {
      isHidden = isNow;
      for (const look of watchers.splice(0)) look();
      await turn();
    },
  };
}

it("asks again and again, and dates each answer by its question", async () => {
  const page = open();
  expect([page.asked(), await page.wake(), page.asked()]).toEqual([0, SETTLE_MS, 1]);
  await page.answer({ value: 1 });
  expect(page.polled()).toEqual({
    value: 1,
    askedAt: { monotonicMs: SETTLE_MS, wallMs: SETTLE_MS },
    problem: "",
  });
  expect([await page.wake(), page.asked()]).toEqual([POLL_MS, 1]);
  await page.answer({ value: 2 });
  expect(page.polled()).toMatchObject({ value: 2, askedAt: { monotonicMs: SETTLE_MS + POLL_MS } });
});

it("asks less often for what takes the gateway long", async () => {
  const page = open();
  await page.wake();
  await page.answer({ value: 1 }, 300);
  expect(await page.wake()).toBe(3_000);
  await page.answer({ value: 1 }, 3_000);
  expect(await page.wake()).toBe(5_000);
});

it("keeps the last answer with its date when a question fails, and says why", async () => {
  const page = open();
  await page.wake();
  await page.answer({ value: 1 });
  await page.wake();
  await page.answer({ problem: "the gateway is not reached" });
  expect(page.polled()).toMatchObject({
    value: 1,
    askedAt: { monotonicMs: SETTLE_MS },
    problem: "the gateway is not reached",
  });
  await page.wake();
  await page.answer({ value: 3 });
  expect(page.polled()).toMatchObject({ value: 3, problem: "" });
});

it("asks nothing while the page is hidden, and at once when it is shown", async () => {
  const page = open();
  await page.hide(true);
  await page.wake();
  expect(page.asked()).toBe(0);
  await page.hide(false);
  expect(page.asked()).toBe(1);
});

it("takes no answer after its end", async () => {
  const page = open();
  await page.wake();
  page.over.abort();
  await page.answer({ value: 1 });
  expect(page.polled()).toBe(nothingPolled);
  await page.ended;
});
