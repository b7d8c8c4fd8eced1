import { expect, test } from "vitest";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { startSimulator } from "../../support/simulator.ts";

test("with the world at 300 times the clock, a token is renewed at 15 to 20 minutes of it, and serves no longer than 60", async () => {
  const timeFactor = 300;
  const simulator = await startSimulator({ timeFactor, acceleratesTokens: true });
  const first = await simulator.token();
  const issuedAtMs = performance.now();
  const { tokenRefreshMs, tokenMarginMs } = defaultFleetTimes;
  const session = await startFleetSession(simulator.endpoints, {
    times: { tokenRefreshMs: tokenRefreshMs / timeFactor, tokenMarginMs: tokenMarginMs / timeFactor },
  });
  const worldMinutes = () => ((performance.now() - issuedAtMs) * timeFactor) / 60_000;
  const renewals: number[] = [];
  for (const exchanges of [1, 2, 3]) {
    await session.until(`exchange ${exchanges}`, () => session.figure("token_requests") >= exchanges);
    renewals.push(worldMinutes());
  }
  const [one = 0, two = 0, three = 0] = renewals;
  // Sooner never; a slow machine may see them later.
  expect(Math.min(two - one, three - two)).toBeGreaterThanOrEqual(14.5);
  const status = async () => (await simulator.rest("GET", "/amr/onlineAmr", undefined, first)).status;
  await expect.poll(status, { timeout: 15_000, interval: 100 }).toBe(401);
  expect(worldMinutes()).toBeGreaterThan(54);
  expect((await session.port.call("GetOnlineRobots", "{}", 5_000)).kind).toBe("ok");
  await session.stop();
  await simulator.stop();
}, 40_000);
