import { expect, it } from "vitest";
import { cutForgivenMs, type DetectionTimes, detectionLimits } from "../../src/domain/detection.ts";

const times: DetectionTimes = {
  streamSilenceMs: 30_000,
  resyncMs: 60_000,
  holdMs: 300_000,
  keepaliveMs: null,
  keepaliveTimeoutMs: 10_000,
  connectMs: 5_000,
  rosterPollMs: 2_000,
  pollTimeoutMs: 4_000,
};

it("gives the limits of the product's own times", () => {
  expect(detectionLimits(times, "streams")).toEqual({
    streamCutMs: 2_500,
    silentMs: 31_000,
    notRenewedMs: 60_500,
    madeUpMs: 42_000,
    deliveries: null,
    roster: { absentMs: 2_000, absentSlowestMs: 8_000, unansweredMs: 4_000, silentMs: 30_500 },
    lostAfterMs: 300_500,
  });
});

it("gives what webhooks change: missions and batteries hang on the watch of their subscriptions", () => {
  const { deliveries, ...others } = detectionLimits(times, "webhook");
  expect(deliveries).toEqual({ goneMs: 31_000, linkGoneMs: 36_000, standInMs: 73_000 });
  expect(detectionLimits(times, "streams")).toEqual({ ...others, deliveries: null });
});

it("lets pings find a dead connection sooner, never later; they find no subscription that has gone", () => {
  const pinged = (keepaliveMs: number) => detectionLimits({ ...times, keepaliveMs }, "webhook");
  expect(pinged(10_000).silentMs).toBe(22_500);
  expect(pinged(300_000).silentMs).toBe(31_000);
  expect(pinged(10_000).deliveries?.goneMs).toBe(31_000);
});

it("looks at a short silence more often", () => {
  expect(detectionLimits({ ...times, streamSilenceMs: 2_000 }, "streams").silentMs).toBe(2_500);
});

it("forgives a cut for much less time than a silence", () => {
  expect(detectionLimits({ ...times, streamSilenceMs: 2_000 }, "streams").streamCutMs).toBe(1_000);
  for (const streamSilenceMs of [1_000, 4_000, 30_000, 3_600_000]) {
    expect(cutForgivenMs(streamSilenceMs)).toBeLessThanOrEqual(streamSilenceMs / 4);
    expect(cutForgivenMs(streamSilenceMs)).toBeLessThanOrEqual(2_000);
  }
});

it("promises nothing of the online list where it is not polled", () => {
  expect(detectionLimits({ ...times, rosterPollMs: null }, "streams").roster).toBeNull();
});

it("counts two slow answers where a poll is rarer than neither", () => {
  expect(detectionLimits({ ...times, rosterPollMs: 60_000 }, "streams").roster).toMatchObject({
    absentSlowestMs: 64_000,
    unansweredMs: 60_000,
  });
});
