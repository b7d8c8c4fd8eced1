import { expect, it } from "vitest";
import { type DetectionTimes, detectionLimits } from "../../src/domain/detection.ts";

const times: DetectionTimes = {
  streamSilenceMs: 30_000,
  resyncMs: 60_000,
  holdMs: 300_000,
  keepaliveMs: null,
  keepaliveTimeoutMs: 10_000,
  rosterPollMs: 2_000,
  callMs: 15_000,
};

it("gives the limits of the product's own times", () => {
  expect(detectionLimits(times)).toEqual({
    streamCutMs: 0,
    silentMs: 38_000,
    notRenewedMs: 60_500,
    absentMs: 2_000,
    absentSlowestMs: 30_000,
    rosterSilentMs: 30_500,
    lostAfterMs: 300_500,
  });
});

it("lets pings find a dead connection sooner, never later", () => {
  expect(detectionLimits({ ...times, keepaliveMs: 10_000 }).silentMs).toBe(20_000);
  expect(detectionLimits({ ...times, keepaliveMs: 300_000 }).silentMs).toBe(38_000);
});

it("promises nothing of the online list where it is not polled", () => {
  expect(detectionLimits({ ...times, rosterPollMs: null })).toMatchObject({
    absentMs: null,
    absentSlowestMs: null,
    rosterSilentMs: null,
  });
});

it("counts two slow answers where a poll is rarer than neither", () => {
  expect(detectionLimits({ ...times, rosterPollMs: 60_000 }).absentSlowestMs).toBe(75_000);
});
