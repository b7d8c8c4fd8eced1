import { expect, test } from "vitest";
import { defaultFleetTimes } from "../../src/fleet/options.ts";
import type { FleetHarness } from "../support/fleet-harness.ts";
import { https } from "../support/https.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type Pace, pass } from "../support/paced-time.ts";
import { eachWithItsHarness } from "./faults-harness.ts";
import { startHttpProxy } from "./http-proxy.ts";
import { startImpostor } from "./impostor.ts";

const { open, harness } = eachWithItsHarness();

/** An answer comes in time on a busy machine too; what gets none ends at its deadline. */
const [ANSWERED_MS, UNANSWERED_MS] = [10_000, 2_000];
const read = (fleet: FleetHarness, deadlineMs = ANSWERED_MS) =>
  fleet.port.call("GetConveyorIndex", '{"robotId":"cart-01"}', deadlineMs);

/**
 * Steps of so much, after each a request to the service's HTTPS side: answered, or refused while it is away.
 */
function steps(stepMs: number): Pace {
  return {
    stepMs,
    async roundTrip() {
      const { endpoints, ca } = harness().simulator();
      await https({ url: endpoints.https, ca }).catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** The same, with a call on the connection for commands: cheaper, where that is not what the case cuts. */
function calls(fleet: FleetHarness, stepMs: number): Pace {
  return { stepMs, roundTrip: () => fleet.port.call("ListWebhooks", "{}", 10_000) };
}

/** Lets the time pass for which it is forgiven that all streams are cut. */
async function passUntilDown(fleet: FleetHarness, clock: ManualClock): Promise<void> {
  const isDown = () =>
    fleet.events.some(
      (event) => event.kind === "link" && event.state === "down" && event.cause !== "not connected yet",
    );
  await pass(clock, 10_000, steps(100), isDown);
  expect(isDown()).toBe(true);
}

const well = (fleet: FleetHarness) => fleet.until("all is well", () => fleet.health().state === "up");

test("connections that are cut are made again at once: no value and no link was lost", async () => {
  const { start, settled, wire } = await open();
  const clock = createManualClock(Date.now());
  const fleet = await start({ clock, times: defaultFleetTimes });
  const before = fleet.events.length;
  wire.cut();
  await fleet.next("stream", ({ state }) => state === "cut");
  await settled(fleet);
  await pass(clock, 2_000, steps(50));
  await well(fleet);
  const told = fleet.events.slice(before);
  expect(told.filter((event) => event.kind === "stream" && event.state === "lost")).toEqual([]);
  expect(told.filter((event) => event.kind === "link")).toEqual([]);
});

test("what happened while the connection was cut is known after it: missions, batteries, every conveyor", async () => {
  const { start, settled, good, wire, simulator } = await open();
  const fleet = await start();
  await wire.unplug();
  const down = await fleet.event(
    "link",
    ({ state, cause }) => state === "down" && cause !== "not connected yet",
  );
  expect(down.cause).not.toBe("");
  expect(good(fleet)).toEqual([]);
  const { control } = simulator();
  control.happen({ kind: "conveyor-payload", robotId: "cart-01", index: 1, loaded: true });
  control.happen({ kind: "conveyor-health", robotId: "cart-02", index: 2, ok: false });
  control.happen({ kind: "conveyor-payload", robotId: "cart-03", index: 2, loaded: true });
  control.happen({ kind: "battery", robotId: "serve-01", percent: 12.5 });
  await simulator().rest("POST", "/v1/mission/create", {
    robotId: "base-01",
    mission: { baseMission: { navigateMission: { goal: { destinationId: "Table 3" } } } },
  });
  await wire.plug();
  await settled(fleet);
  expect(good(fleet)).toHaveLength(6);
});

test.each([
  ["1 s", 1_000],
  ["30 s", 30_000],
  ["10 minutes", 600_000],
])(
  "%s away: every robot is good again within the backoff cap + 2 s of the port listening",
  { timeout: 60_000 },
  async (_, awayMs) => {
    const { start, good, wire, stopService, replaceService } = await open();
    const clock = createManualClock(Date.now());
    const fleet = await start({ clock, times: defaultFleetTimes });
    await wire.unplug();
    await passUntilDown(fleet, clock);
    await stopService();
    const { connect_failures: failuresBefore = 0, token_requests: tokensBefore = 0 } =
      fleet.health().figures ?? {};
    await pass(clock, awayMs, steps(1_000));
    expect(good(fleet)).toEqual([]);
    // Full jitter below 5 s is 2.5 s apart on the average, one attempt at a time; what comes back is another
    // world.
    expect(fleet.figure("connect_failures") - failuresBefore).toBeLessThan(2 * (awayMs / 2_500) + 10);
    expect(fleet.figure("connect_failures") - failuresBefore).toBeGreaterThan(awayMs / 2_500 / 4 - 2);
    await replaceService({ seed: 7 });
    await wire.plug();
    const goodAtMs = new Map<string, number>();
    const limitMs = defaultFleetTimes.backoffCapMs + 2_000;
    let passedMs = 0;
    await pass(clock, limitMs, steps(50), () => {
      passedMs += 50;
      for (const robotId of good(fleet)) if (!goodAtMs.has(robotId)) goodAtMs.set(robotId, passedMs);
      return goodAtMs.size === 6;
    });
    expect([...goodAtMs.keys()].sort(), fleet.health().detail).toHaveLength(6);
    expect(Math.max(...goodAtMs.values())).toBeLessThan(limitMs);
    // A token lives through it: a service that comes back is not met by an exchange of each gateway.
    expect(fleet.figure("token_requests")).toBe(tokensBefore);
  },
);

test("while there is no service, one connection at a time is tried", { timeout: 60_000 }, async () => {
  const { start, wire } = await open({ maxConcurrentStreams: 3 });
  const clock = createManualClock(Date.now());
  const fleet = await start({ clock, times: defaultFleetTimes });
  await wire.unplug();
  await passUntilDown(fleet, clock);
  const before = fleet.figure("connect_failures");
  await pass(clock, 60_000, steps(200));
  const attempts = fleet.figure("connect_failures") - before;
  // Full jitter below a cap of 5 s: 24 attempts a minute on the average, for nine streams on five
  // connections.
  expect(attempts).toBeGreaterThan(10);
  expect(attempts).toBeLessThan(48);
});

test("silent connection: half-open through a proxy that stops forwarding, it is noticed in the time allowed, and replaced", async () => {
  const { start, good, wire } = await open();
  const clock = createManualClock(Date.now());
  const times = { ...defaultFleetTimes, resyncMs: 600_000 };
  const fleet = await start({ clock, times });
  await pass(clock, 120_000, calls(fleet, 1_000));
  expect(good(fleet)).toHaveLength(6);
  let isLost = false;
  const lost = fleet
    .next("stream", ({ state }) => state === "lost")
    .then(() => {
      isLost = true;
    });
  wire.stall();
  const noticedMs = await pass(clock, 120_000, steps(500), () => isLost);
  await lost;
  const { streamSilenceMs } = times;
  expect(noticedMs).toBeGreaterThan(streamSilenceMs / 4);
  expect(noticedMs).toBeLessThanOrEqual(streamSilenceMs * 1.25 + 500);
});

test("a service that hangs behind its balancer, which answers pings, is noticed too", async () => {
  const { start, settled, simulator } = await open();
  const fleet = await start();
  const lost = fleet.next("stream", ({ state }) => state === "lost");
  simulator().control.apply({ kind: "silence" });
  await lost;
  simulator().control.clearFaults();
  await settled(fleet);
  await well(fleet);
});

test("a fleet at rest stays proven alive, though nothing is sent", async () => {
  const { start, good } = await open();
  const clock = createManualClock(Date.now());
  const times = { ...defaultFleetTimes, resyncMs: 3_600_000 };
  const fleet = await start({ clock, times });
  const before = fleet.events.length;
  await pass(clock, 10 * times.streamSilenceMs, calls(fleet, 1_000));
  const told = fleet.events.slice(before);
  expect(told.filter((event) => event.kind === "stream" && event.state !== "live")).toEqual([]);
  for (const stream of ["mission/plant-1", "battery/plant-1", "conveyors/cart-01"]) {
    const live = told.filter((event) => event.kind === "stream" && event.stream === stream);
    expect(live.length).toBeGreaterThanOrEqual(10);
  }
  expect(good(fleet)).toHaveLength(6);
});

test("a service that starts again begins its numbers again, and is believed", async () => {
  const { start, settled, replaceService } = await open();
  const fleet = await start();
  await replaceService({ seed: 7 });
  await settled(fleet);
  await well(fleet);
});

test("a service replaced by one that answers UNIMPLEMENTED is borne, and its return is noticed", async () => {
  const { start, settled, replaceService } = await open();
  const fleet = await start();
  await replaceService({ serviceNames: ["maker.api.Other"] });
  await fleet.until("it is said", () => fleet.health().detail?.includes("UNIMPLEMENTED") ?? false);
  expect(await read(fleet)).toMatchObject({ kind: "refused", code: "UNIMPLEMENTED" });
  await replaceService();
  await settled(fleet);
  await well(fleet);
});

test("DNS failure: a name that does not resolve is said, and nothing is sent", async () => {
  const { startElsewhere } = await open();
  const fleet = await startElsewhere({ grpcAddress: "fleet.invalid:443" });
  await fleet.until("it is said", () => /resol|ENOTFOUND|EAI_AGAIN/i.test(fleet.health().detail ?? ""));
  expect(await read(fleet, UNANSWERED_MS)).toMatchObject({ kind: "not_sent" });
});

test("DNS failure: a name that the proxy cannot resolve yet is found as soon as it can", async () => {
  const name = "fleet.plant.example";
  const { startUnsettled, settled, simulator } = await open({ certificateNames: [name] });
  const { grpc, https: url } = simulator().endpoints;
  const behind = new Map([
    [`${name}:443`, grpc],
    [`${name}:444`, new URL(url).host],
  ]);
  let isKnown = false;
  const proxy = await startHttpProxy("plant", "pa:ss", (target) =>
    isKnown ? behind.get(target) : undefined,
  );
  const fleet = await startUnsettled({
    grpcAddress: `${name}:443`,
    httpsUrl: `https://${name}:444`,
    authUrl: `https://${name}:444`,
    proxyUrl: `http://plant:pa%3Ass@localhost:${proxy.port}`,
  });
  await fleet.until("it is said", () => fleet.figure("token_failures") > 0);
  expect(await read(fleet, UNANSWERED_MS)).toMatchObject({ kind: "not_sent" });
  isKnown = true;
  await settled(fleet);
  await well(fleet);
  await fleet.stop();
  await proxy.close();
});

test("a port where nobody listens is said, and nothing is sent", async () => {
  const { startUnsettled, wire } = await open();
  await wire.unplug();
  const fleet = await startUnsettled();
  await fleet.until("it is said", () => fleet.health().detail?.includes("ECONNREFUSED") ?? false);
  expect(await read(fleet, UNANSWERED_MS)).toMatchObject({ kind: "not_sent" });
});

test.each([
  ["expired", /expired/],
  ["of another authority", /localhost:\d+\): .* not trusted; let fleet\.ca/],
  ["for another name", /is not for localhost; it is for/],
] as const)(
  "certificate %s: the service is not talked to until it shows a good one again",
  async (fault, message) => {
    const { start, good, settled, simulator, divert } = await open();
    const fleet = await start();
    const impostor = await startImpostor(fault, simulator().endpoints.ca);
    const down = fleet.next("link", ({ state }) => state === "down");
    divert(impostor.address);
    await down;
    await fleet.until("it is said", () => message.test(fleet.health().detail ?? ""));
    expect(good(fleet)).toEqual([]);
    expect(await read(fleet, UNANSWERED_MS)).toMatchObject({ kind: "not_sent" });
    divert(null);
    await settled(fleet);
    await well(fleet);
    expect(impostor.requests()).toBe(0);
    await impostor.close();
  },
);

test("everything goes through an HTTP proxy where configuration says so", async () => {
  const { start, simulator } = await open();
  const proxy = await startHttpProxy("plant", "pa:ss");
  const fleet = await start({
    grpcAddress: simulator().endpoints.grpc,
    proxyUrl: `http://plant:pa%3Ass@localhost:${proxy.port}`,
  });
  await well(fleet);
  expect(await read(fleet)).toMatchObject({ kind: "ok" });
  expect(new Set(proxy.tunnels())).toEqual(
    new Set([simulator().endpoints.grpc, new URL(simulator().endpoints.https).host]),
  );
  await fleet.stop();
  await proxy.close();
});
