import { expect, test } from "vitest";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { pass } from "../../support/paced-time.ts";
import { startSimulator } from "../../support/simulator.ts";

const TIME_FACTOR = 300;
const STEP_MS = 100;
const worldMinutes = (ms: number) => (ms * TIME_FACTOR) / 60_000;

test("with the world at 300 times the clock, a token is renewed at 15 to 20 minutes of it, and serves no longer than 60", async () => {
  const clock = createManualClock(Date.now());
  const simulator = await startSimulator({
    clock,
    timeFactor: TIME_FACTOR,
    acceleratesTokens: true,
    scenario: { kind: "generated", robots: 1 },
    lively: "none",
  });
  const first = await simulator.token();
  const { tokenRefreshMs, tokenMarginMs } = defaultFleetTimes;
  const session = await startFleetSession(simulator.endpoints, {
    clock,
    times: {
      ...{ tokenRefreshMs: tokenRefreshMs / TIME_FACTOR, tokenMarginMs: tokenMarginMs / TIME_FACTOR },
      ...{ rosterPollMs: null, taskChainPollMs: null },
    },
  });
  const exchanges = () => session.figure("token_requests");
  const roundTrip = () => session.port.call("ListWebhooks", "{}", 5_000);

  await session.until("the first exchange", () => exchanges() === 1);
  const renewals = [clock.monotonicMs()];
  for (const count of [2, 3]) {
    await pass(clock, 60_000, { stepMs: STEP_MS, roundTrip }, () => exchanges() >= count);
    renewals.push(clock.monotonicMs());
  }
  const [one = 0, two = 0, three = 0] = renewals;
  // Each is seen a step late at most.
  expect(worldMinutes(Math.min(two - one, three - two) + STEP_MS)).toBeGreaterThanOrEqual(15);

  let status = 0;
  const ask = async () => {
    status = (await simulator.rest("GET", "/amr/onlineAmr", undefined, first)).status;
  };
  await pass(clock, 60_000, { stepMs: STEP_MS, roundTrip: ask }, () => status === 401);
  expect(status).toBe(401);
  expect(worldMinutes(clock.monotonicMs())).toBeGreaterThan(54);
  expect((await session.port.call("GetOnlineRobots", "{}", 5_000)).kind).toBe("ok");
  await session.stop();
  await simulator.stop();
});
