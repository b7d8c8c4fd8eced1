import { expect, test } from "vitest";
import type { FleetTimes } from "../../src/fleet/options.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import type { FleetHarness } from "../support/fleet-harness.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type Pace, pass } from "../support/paced-time.ts";
import { eachWithItsHarness } from "./faults-harness.ts";

const { open, harness } = eachWithItsHarness();

/** An answer comes in time on a busy machine too; what gets none ends at its deadline. */
const [ANSWERED_MS, UNANSWERED_MS] = [10_000, 2_000];
const read = (fleet: FleetHarness, deadlineMs = ANSWERED_MS) =>
  fleet.port.call("GetConveyorIndex", '{"robotId":"cart-01"}', deadlineMs);
const well = (fleet: FleetHarness) => fleet.until("all is well", () => fleet.health().state === "up");

/** Times by which nothing but the token is due for a long while. */
const slow: Partial<FleetTimes> = {
  resyncMs: 3_000_000,
  streamSilenceMs: 3_000_000,
  connectMs: 3_000_000,
  refusedRetryMs: 3_000_000,
  rosterPollMs: null,
  taskChainPollMs: null,
};

/** Streams that were told to be cut since `from`. */
const cut = (fleet: FleetHarness, from: number) =>
  new Set(
    fleet.events
      .slice(from)
      .flatMap((event) => (event.kind === "stream" && event.state === "cut" ? [event.stream] : [])),
  ).size;

/** Steps of so much, one request to the service's HTTPS side after each. */
function steps(stepMs: number): Pace {
  return { stepMs, roundTrip: () => harness().simulator().rest("GET", "/", undefined, null) };
}

test("a token is renewed in the background, before it ends, and streams go on", async () => {
  const { start, settled } = await open({ tokenLifeMs: 2_000 });
  const fleet = await start({ times: { tokenRefreshMs: 900_000, tokenMarginMs: 500 } });
  const before = fleet.events.length;
  await fleet.until("it was renewed twice", () => fleet.figure("token_requests") >= 3);
  expect(await read(fleet)).toMatchObject({ kind: "ok" });
  expect(
    fleet.events.slice(before).filter((event) => event.kind === "stream" && event.state !== "live"),
  ).toEqual([]);
  await settled(fleet);
});

test("token expiry in mid-stream: a call that is refused is repeated once with a new one", async () => {
  const { start, settled, simulator } = await open();
  const clock = createManualClock(Date.now());
  const fleet = await start({ clock, times: slow });
  // A token that was only just made would not be blamed.
  clock.advance(5_100);
  simulator().control.apply({ kind: "expire-tokens" });
  expect(await read(fleet)).toMatchObject({ kind: "ok" });
  expect(fleet.figure("token_requests")).toBe(2);
  await settled(fleet);
  await well(fleet);
});

test("token expiry in mid-stream: streams that a service cuts for it come back with a new token, got once for all", async () => {
  const { start, settled, simulator } = await open();
  const clock = createManualClock(Date.now());
  const fleet = await start({ clock, times: slow });
  clock.advance(5_100);
  const before = fleet.events.length;
  simulator().control.apply({ kind: "expire-tokens" });
  simulator().control.apply({ kind: "end-streams", how: "unauthenticated" });
  await fleet.until("all streams were cut", () => cut(fleet, before) === fleet.figure("streams_wanted"));
  await pass(clock, 10_000, steps(100), () => fleet.figure("token_requests") > 1);
  await settled(fleet);
  await well(fleet);
  expect(fleet.figure("token_requests")).toBe(2);
});

test("tokens that stop to count before their time are replaced", async () => {
  const { start, settled, simulator } = await open();
  const clock = createManualClock(Date.now());
  const fleet = await start({ clock, times: slow });
  clock.advance(5_100);
  simulator().control.apply({ kind: "early-expiry", earlyMs: 3_600_000 });
  // No token counts at all now: one more is asked for, and it fares no better.
  expect(await read(fleet)).toMatchObject({ kind: "refused", code: "UNAUTHENTICATED" });
  expect(fleet.figure("token_requests")).toBe(2);
  simulator().control.clearFaults();
  expect(await read(fleet)).toMatchObject({ kind: "ok" });
  await settled(fleet);
});

test("429 on a refresh: the old token serves on, and the authentication server is spared", async () => {
  const { start, simulator } = await open();
  const clock = createManualClock(Date.now());
  const fleet = await start({ clock, times: { ...slow, tokenRefreshMs: 60_000 } });
  simulator().control.apply({ kind: "exchange", effect: "limit" });
  // By chance up to a third later than `tokenRefreshMs`.
  clock.advance(80_000);
  await fleet.until("a refresh was refused", () => fleet.figure("token_failures") > 0);
  expect(await read(fleet)).toMatchObject({ kind: "ok" });
  const failures = fleet.figure("token_failures");
  // At one attempt in 45 to 60 s.
  await pass(clock, 120_000, steps(1_000));
  expect(fleet.figure("token_failures") - failures).toBeGreaterThanOrEqual(1);
  expect(fleet.figure("token_failures") - failures).toBeLessThanOrEqual(3);
  simulator().control.clearFaults();
  await pass(clock, 70_000, steps(1_000), () => fleet.figure("token_age_seconds") < 30);
  await fleet.until("a refresh succeeded", () => fleet.figure("token_age_seconds") < 30);
  expect(fleet.health().state).not.toBe("down");
});

test("a key that is refused while its token still counts: the gateway works, and health says for how long", async () => {
  const { start, settled, simulator } = await open();
  const startMs = Date.now();
  const clock = createManualClock(startMs);
  const fleet = await start({ clock, times: { ...slow, tokenRefreshMs: 60_000 } });
  await well(fleet);
  simulator().control.apply({ kind: "exchange", effect: "refuse" });
  // By chance up to a third later than `tokenRefreshMs`.
  clock.advance(80_000);
  const detail = () => fleet.health().detail ?? "";
  await fleet.until("it is said", () => detail().includes("cannot be renewed"));
  expect(fleet.health().state).toBe("degraded");
  const said =
    /the token cannot be renewed: .* refuses the API key \(401\); the one in use ends at (\S+Z)(;|$)/;
  const [, end = ""] = said.exec(detail()) ?? [];
  expect(Math.abs(Date.parse(end) - startMs - 3_600_000)).toBeLessThan(60_000);
  expect(await read(fleet)).toMatchObject({ kind: "ok" });
  simulator().control.clearFaults();
  await pass(clock, 70_000, steps(1_000), () => !detail().includes("cannot be renewed"));
  await settled(fleet);
  expect(detail()).not.toContain("cannot be renewed");
});

test("auth server down at start: it is waited for", async () => {
  const { startUnsettled, settled, simulator } = await open();
  simulator().control.apply({ kind: "exchange", effect: "unavailable" });
  const fleet = await startUnsettled();
  await fleet.until("it is said", () => fleet.health().detail?.includes("answers 503") ?? false);
  expect(await read(fleet, UNANSWERED_MS)).toMatchObject({ kind: "not_sent" });
  simulator().control.clearFaults();
  await settled(fleet);
  await well(fleet);
});

test("auth server down at start for longer than a token lives: it is asked no more often than documented", async () => {
  const { startUnsettled, settled, simulator } = await open();
  simulator().control.apply({ kind: "exchange", effect: "unavailable" });
  const clock = createManualClock(Date.now());
  const fleet = await startUnsettled({ clock, times: slow });
  const minutes = (await pass(clock, 3_700_000, steps(10_000))) / 60_000;
  expect(fleet.figure("token_requests")).toBeGreaterThan(minutes);
  expect(fleet.figure("token_requests")).toBeLessThanOrEqual((minutes / 5 + 1) * 20);
  simulator().control.clearFaults();
  await pass(clock, 60_000, steps(1_000), () => fleet.figure("streams_open") > 0);
  await settled(fleet);
});

test("a key that is refused is said, and tried again later", async () => {
  const { startUnsettled, settled, simulator } = await open();
  simulator().control.apply({ kind: "exchange", effect: "refuse" });
  const clock = createManualClock(Date.now());
  const fleet = await startUnsettled({ clock, times: slow });
  await fleet.until(
    "it is said",
    () => fleet.health().detail?.includes("refuses the API key (401)") ?? false,
  );
  simulator().control.clearFaults();
  await pass(clock, 30_000, steps(5_000));
  expect(fleet.figure("token_requests")).toBe(1);
  await pass(clock, 60_000, steps(1_000), () => fleet.figure("streams_open") > 0);
  await settled(fleet);
});

test.each([
  ["behind", -3_600_000],
  ["ahead", 3_600_000],
])(
  "a clock that is an hour %s is noticed from the server's Date, and hinders nothing",
  async (where, offsetMs) => {
    const { start } = await open();
    const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + offsetMs };
    const fleet = await start({ clock });
    const said = new RegExp(`clock is 3[56]\\d\\d(\\.\\d)? s ${where}`);
    await fleet.until("it is said", () => said.test(fleet.health().detail ?? ""));
    expect(await read(fleet)).toMatchObject({ kind: "ok" });
    expect(fleet.figure("token_seconds_left")).toBeGreaterThan(3_000);
  },
);

test("the clock that waits is the one that is injected", async () => {
  const { startUnsettled, simulator } = await open();
  simulator().control.apply({ kind: "exchange", effect: "unavailable" });
  const clock: ManualClock = createManualClock(Date.now());
  const fleet = await startUnsettled({ clock, times: { rosterPollMs: null, taskChainPollMs: null } });
  await fleet.until("the first exchange failed", () => fleet.figure("token_failures") === 1);
  // The second is due after 750 to 1,000 ms.
  await pass(clock, 745, steps(5));
  expect(fleet.figure("token_requests")).toBe(1);
  expect(await pass(clock, 300, steps(5), () => fleet.figure("token_requests") === 2)).toBeLessThanOrEqual(
    260,
  );
});
