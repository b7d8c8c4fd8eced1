import { afterEach, expect, test } from "vitest";
import { type FleetHarness, type FleetOverrides, startFleetSession } from "../../support/fleet-harness.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { startSimulator } from "../../support/simulator.ts";
import { openHungWire } from "../hung-wire.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open() {
  const simulator = await startSimulator();
  closers.push(() => simulator.stop());
  const { endpoints } = simulator;
  const grpc = await openHungWire(endpoints.grpc);
  closers.push(() => grpc.close());
  const https = await openHungWire(new URL(endpoints.https).host);
  closers.push(() => https.close());
  const start = async (overrides: FleetOverrides = {}) => {
    const harness = await startFleetSession(
      { ...endpoints, grpc: grpc.address, https: `https://${https.address}` },
      overrides,
    );
    closers.push(() => harness.stop());
    return harness;
  };
  return { simulator, grpc, https, start };
}

const DEADLINE_MS = 10_000;
const LEAVE_MS = 300;
/** How it ended, and how long that took. */
async function create(harness: FleetHarness, leaveMs = LEAVE_MS) {
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } };
  const request = JSON.stringify({ robotId: "base-01", mission });
  const startedMs = performance.now();
  const ending = await harness.port.call("CreateMission", request, DEADLINE_MS, leaveMs);
  return { ending, tookMs: performance.now() - startedMs };
}

test.each(["grpc", "rest"] as const)(
  "a command that cannot leave in time over %s does not leave later",
  async (transport) => {
    const { simulator, grpc, https, start } = await open();
    if (transport === "grpc") grpc.hang("kept");
    const harness = await start({ transport, times: { rosterPollMs: null } });
    await harness.until("there is a token", () => harness.figure("token_seconds_left") > 0);
    https.hang("kept");
    const { ending, tookMs } = await create(harness);
    expect(ending).toMatchObject({ kind: "not_sent" });
    expect(tookMs).toBeGreaterThan(LEAVE_MS / 2);
    expect(tookMs).toBeLessThan(DEADLINE_MS / 2);
    grpc.goOn();
    https.goOn();
    await harness.until("the service is reached", () => harness.health().state === "up");
    const received = simulator.control.record(0).filter(({ fact }) => fact.what === "received");
    expect(received).toEqual([]);
    expect((await create(harness, DEADLINE_MS)).ending).toMatchObject({ kind: "ok" });
  },
);

test("a command whose token was refused waits for another only as long as it may leave", async () => {
  const { simulator, https, start } = await open();
  const clock = createManualClock(Date.now());
  const harness = await start({ clock, times: { rosterPollMs: null, taskChainPollMs: null } });
  await harness.event("mission");
  // A token that was only just made would not be blamed.
  clock.advance(5_100);
  simulator.control.apply({ kind: "expire-tokens" });
  https.hang("kept");
  const { ending, tookMs } = await create(harness);
  expect(ending).toMatchObject({ kind: "refused", code: "UNAUTHENTICATED" });
  expect(tookMs).toBeLessThan(DEADLINE_MS / 2);
  https.goOn();
  await harness.until("there is another token", () => harness.figure("token_requests") === 2);
  expect((await create(harness, DEADLINE_MS)).ending).toMatchObject({ kind: "ok" });
  const received = simulator.control.record(0).filter(({ fact }) => fact.what === "received");
  expect(received).toHaveLength(1);
});

test("a start that waits for its connection over HTTPS does not leave after a stop of its robot", async () => {
  const { simulator, https, start } = await open();
  const harness = await start({ transport: "rest", times: { rosterPollMs: null } });
  await harness.until("there is a token", () => harness.figure("token_seconds_left") > 0);
  https.hang("kept");
  const accepted = https.accepted();
  let mayLeave = true;
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } };
  const request = JSON.stringify({ robotId: "base-01", mission });
  const ending = harness.port.call("CreateMission", request, DEADLINE_MS, DEADLINE_MS, {
    isStop: false,
    mayLeave: () => mayLeave,
  });
  await harness.until("its connection is being made", () => https.accepted() > accepted);
  mayLeave = false;
  https.goOn();
  expect(await ending).toEqual({
    kind: "not_sent",
    message: "a stop of the same robot overtook it before it left",
    byStop: true,
  });
  expect(simulator.control.record(0).filter(({ fact }) => fact.what === "received")).toEqual([]);
});
