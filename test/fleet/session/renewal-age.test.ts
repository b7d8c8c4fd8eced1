import { expect, test } from "vitest";
import type { Http } from "../../../src/fleet/http.ts";
import { defaultFleetTimes, type FleetOptions } from "../../../src/fleet/options.ts";
import { createSession } from "../../../src/fleet/session/session.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const options = {
  authUrl: "https://fleet.example.com",
  credentials: { apiKey: "k", scope: "s", secret: "x" },
  times: defaultFleetTimes,
  sharers: 1,
} as FleetOptions;
const MINUTE_MS = 60_000;

test.each([
  [0, 60, 15 * MINUTE_MS, 15 * MINUTE_MS],
  [0.5, 60, 15 * MINUTE_MS, 20 * MINUTE_MS],
  [0.999, 60, 15 * MINUTE_MS, 20 * MINUTE_MS],
  [0.999, 17, 15 * MINUTE_MS, 16 * MINUTE_MS],
  [0, 10, 8.9 * MINUTE_MS, 9 * MINUTE_MS],
])(
  "a token is renewed at 15 to 20 minutes, and a minute before its end (chance %d, life %d min)",
  async (random, lifeMinutes, leastMs, mostMs) => {
    const clock = createManualClock();
    const stopping = new AbortController();
    const askedAtMs: number[] = [];
    const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString("base64url");
    const http: Http = {
      async send() {
        askedAtMs.push(clock.monotonicMs());
        const exp = Math.floor((clock.nowMs() + lifeMinutes * MINUTE_MS) / 1_000);
        return {
          status: 200,
          headers: {},
          parts: [Buffer.from(`${part({ alg: "none" })}.${part({ exp })}.x`)],
        };
      },
      async [Symbol.asyncDispose]() {},
    };
    const session = createSession(options, {
      http,
      clock,
      random: () => random,
      log: silentLog,
      history: null,
    });
    const run = session.run(stopping.signal);
    while (askedAtMs.length < 4) await clock.settle(1_000);
    const ages = askedAtMs.slice(1).map((atMs, index) => atMs - (askedAtMs[index] ?? 0));
    for (const ageMs of ages) {
      expect(ageMs).toBeGreaterThanOrEqual(leastMs);
      expect(ageMs).toBeLessThanOrEqual(mostMs);
    }
    stopping.abort();
    await run;
  },
);
