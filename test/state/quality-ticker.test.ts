import { expect, it } from "vitest";
import { createQualityTicker } from "../../src/state/quality-reader.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

async function run(clock: ManualClock) {
  let looks = 0;
  const tick = () => {
    looks += 1;
  };
  const ticker = createQualityTicker(clock, tick);
  const stop = new AbortController();
  let ended = Promise.resolve();
  await new Promise<void>((ready) => {
    ended = ticker.run(stop.signal, ready);
  });
  const end = () => {
    stop.abort();
    return ended;
  };
  return { ticker, looks: () => looks, stop: end };
}

it("looks twice a second, and lives until it is stopped and after", async () => {
  const clock = createManualClock();
  const { ticker, looks, stop } = await run(clock);
  clock.advance(60_000);
  expect(looks()).toBe(120);
  expect(ticker.hang?.()).toBeNull();
  await stop();
  clock.advance(60_000);
  expect(ticker.hang?.()).toBeNull();
});

it("hangs when its timer is lost: old values would stay good", async () => {
  const clock = createManualClock();
  const { ticker, stop } = await run({ ...clock, after: () => () => {} });
  clock.advance(31_000);
  expect(ticker.hang?.()).toBe("it has done nothing for 31 s");
  await stop();
});
