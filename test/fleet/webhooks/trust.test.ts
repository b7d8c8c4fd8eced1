import { beforeEach, expect, test } from "vitest";
import { createTrust, type Trust } from "../../../src/fleet/webhooks/trust.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

const SILENCE_MS = 30_000;
let clock: ManualClock;
let trust: Trust;

beforeEach(() => {
  clock = createManualClock();
  trust = createTrust(SILENCE_MS, clock);
});

/** Confirmed, and heard of. */
function rely(): void {
  trust.confirmed("mission");
  trust.delivered("mission", "r1");
  trust.look();
}

test("a confirmed subscription is not enough: a delivery must have come", () => {
  trust.confirmed("mission");
  expect(trust.provenAtMs("mission")).toBeNull();
  trust.delivered("mission", "r1");
  expect(trust.provenAtMs("mission")).toBe(0);
  expect(trust.provenAtMs("battery")).toBeNull();
  expect(trust.provenAtMs("conveyors")).toBeNull();
  expect(trust.problem("mission")).toBeNull();
});

test("a confirmation holds for the silence that is allowed, and then a delivery must come again", () => {
  rely();
  clock.advance(SILENCE_MS);
  expect(trust.look()).toEqual([]);
  clock.advance(1);
  expect(trust.provenAtMs("mission")).toBeNull();
  expect(trust.look()).toEqual(["mission"]);
  expect(trust.look()).toEqual([]);
  expect(trust.problem("mission")).toContain("does not say whether");
  trust.confirmed("mission");
  expect(trust.provenAtMs("mission")).toBeNull();
  trust.delivered("mission", "r1");
  expect(trust.provenAtMs("mission")).toBe(SILENCE_MS + 1);
});

test("news that only a stream brought is a doubt once the delivery is overdue", () => {
  rely();
  trust.streamHadNews("mission", "r1");
  clock.advance(SILENCE_MS / 2);
  trust.confirmed("mission");
  expect(trust.look()).toEqual([]);
  trust.delivered("mission", "r1");
  trust.streamHadNews("mission", "r2");
  clock.advance(SILENCE_MS / 2);
  trust.confirmed("mission");
  trust.streamHadNews("mission", "r2");
  clock.advance(SILENCE_MS / 2 + 1);
  trust.confirmed("mission");
  expect(trust.look()).toEqual(["mission"]);
  expect(trust.undelivered()).toBe(1);
  expect(trust.problem("mission")).toBe("events are not delivered");
});

test("a subscription that is gone is doubted at once, and named until there is a delivery again", () => {
  rely();
  trust.denied("mission", "disabled");
  expect(trust.look()).toEqual(["mission"]);
  trust.confirmed("mission");
  expect(trust.problem("mission")).toBe("disabled");
  trust.delivered("mission", "r1");
  expect(trust.problem("mission")).toBeNull();
});

test("before webhooks were relied on once, a subscription that is not made yet is no trouble for long", () => {
  trust.denied("mission", "the service has no subscription");
  expect(trust.problem("mission")).toBe("the service has no subscription");
  trust.confirmed("mission");
  expect(trust.problem("mission")).toBeNull();
});
