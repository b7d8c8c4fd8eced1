import { readFile, stat } from "node:fs/promises";
import { decodeJwt } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deployedLimits } from "../../../src/simulator/auth/api-key.ts";
import { https } from "../../support/https.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

const MINUTE_MS = 60_000;
let clock: ManualClock;
let simulator: RunningSimulator;
let key: Readonly<Record<string, string>>;

beforeEach(async () => {
  clock = createManualClock(Date.now());
  simulator = await startSimulator({ clock, exchangeLimits: deployedLimits });
  key = JSON.parse(await readFile(simulator.endpoints.credentials, "utf8"));
});
afterEach(() => simulator.stop());

const exchange = (body: unknown) =>
  https({ url: `${simulator.endpoints.https}/authorizeApiAccess`, ca: simulator.ca, method: "POST", body });

test("the body is the JWT, with an expiry in an hour and the distributor's scope", async () => {
  const answer = await exchange(key);
  expect(answer.status).toBe(200);
  const claims = decodeJwt(answer.text);
  expect(claims.exp).toBe(Math.floor(clock.nowMs() / 1_000) + 3_600);
  expect(claims.scope).toBe(key.scope);
});

test("credentials are for their owner's eyes only", async () => {
  for (const file of [simulator.endpoints.credentials, simulator.endpoints.otherCredentials ?? ""]) {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  }
});

test.each([
  ["no JSON", () => "{"],
  ["no body", () => undefined],
  ["a list", () => [key]],
  ["a missing field", () => ({ ...key, secret: undefined })],
  ["a field of the wrong type", () => ({ ...key, scope: 5 })],
  ["an empty field", () => ({ ...key, api_key: "" })],
])("%s is 400 with a body that explains", async (_, body) => {
  const answer = await exchange(body());
  expect(answer.status).toBe(400);
  expect(answer.json()).toEqual({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(/API key document/),
  });
});

test.each(["api_key", "scope", "secret"])(
  "a wrong %s is 401: the three are matched together",
  async (field) => {
    const answer = await exchange({ ...key, [field]: "globex" });
    expect(answer.status).toBe(401);
    expect(answer.json()).toMatchObject({ code: "UNAUTHENTICATED" });
  },
);

test("the secret of one key does not open another", async () => {
  const other = JSON.parse(await readFile(simulator.endpoints.otherCredentials ?? "", "utf8"));
  expect((await exchange({ ...key, secret: other.secret })).status).toBe(401);
  expect((await exchange({ ...key, scope: other.scope })).status).toBe(401);
});

test("the 21st exchange of a key in 5 minutes is 429, another key is not, and later it is let in again", async () => {
  for (let n = 0; n < 20; n += 1) expect((await exchange(key)).status).toBe(200);
  const answer = await exchange(key);
  expect(answer.status).toBe(429);
  expect(answer.json()).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  expect((await exchange({ ...key, api_key: "another" })).status).toBe(401);
  clock.advance(5 * MINUTE_MS);
  expect((await exchange(key)).status).toBe(200);
});

test("the 101st exchange of an address in 10 minutes is 429, malformed ones counted", async () => {
  for (let n = 0; n < 100; n += 1) expect((await exchange("{")).status).toBe(400);
  expect((await exchange(key)).status).toBe(429);
  clock.advance(10 * MINUTE_MS);
  expect((await exchange(key)).status).toBe(200);
});

test("a token counts until its exp, and not a second longer", async () => {
  const { text } = await exchange(key);
  clock.advance(60 * MINUTE_MS - 1_000);
  expect((await simulator.rest("GET", "/amr/onlineAmr", undefined, text)).status).toBe(200);
  clock.advance(1_000);
  const late = await simulator.rest("GET", "/amr/onlineAmr", undefined, text);
  expect(late.status).toBe(401);
  expect(late.json()).toEqual({ code: "UNAUTHENTICATED", message: "the token is expired" });
});

test("faults: every token expired, expiry ahead of time, and an exchange that refuses", async () => {
  const { text } = await exchange(key);
  simulator.control.apply({ kind: "expire-tokens" });
  expect((await simulator.rest("GET", "/amr/onlineAmr", undefined, text)).status).toBe(401);
  const fresh = (await exchange(key)).text;
  expect((await simulator.rest("GET", "/amr/onlineAmr", undefined, fresh)).status).toBe(200);
  simulator.control.apply({ kind: "early-expiry", earlyMs: 60 * MINUTE_MS, forMs: MINUTE_MS });
  expect((await simulator.rest("GET", "/amr/onlineAmr", undefined, fresh)).status).toBe(401);
  clock.advance(MINUTE_MS);
  expect((await simulator.rest("GET", "/amr/onlineAmr", undefined, fresh)).status).toBe(200);
  for (const [effect, expected] of [
    ["refuse", 401],
    ["limit", 429],
    ["unavailable", 503],
  ] as const) {
    simulator.control.apply({ kind: "exchange", effect });
    expect((await exchange(key)).status).toBe(expected);
  }
  simulator.control.clearFaults();
  expect((await exchange(key)).status).toBe(200);
});

test("a token of before a restart still counts", async () => {
  const dataDir = simulator.endpoints.credentials.replace(/\/[^/]*$/, "");
  const { text } = await exchange(key);
  const again = await startSimulator({ clock, dataDir });
  expect((await again.rest("GET", "/amr/onlineAmr", undefined, text)).status).toBe(200);
  await again.stop();
});

test("tokens age, and exchanges are counted, as fast as the world if that is wanted, else by the clock", async () => {
  for (const [acceleratesTokens, factor] of [
    [true, 60],
    [false, 1],
  ] as const) {
    const time = createManualClock(Date.now());
    const other = await startSimulator({
      clock: time,
      exchangeLimits: deployedLimits,
      timeFactor: 60,
      acceleratesTokens,
    });
    const token = await other.token();
    const status = async () => (await other.rest("GET", "/amr/onlineAmr", undefined, token)).status;
    time.advance((59 * MINUTE_MS) / factor);
    expect(await status()).toBe(200);
    time.advance((2 * MINUTE_MS) / factor);
    expect(await status()).toBe(401);
    for (let n = 0; n < 20; n += 1) await other.token();
    await expect(other.token()).rejects.toThrow("429");
    time.advance((5 * MINUTE_MS) / factor);
    await other.token();
    await other.stop();
  }
});
