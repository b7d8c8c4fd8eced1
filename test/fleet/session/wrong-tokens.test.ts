import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { Http } from "../../../src/fleet/http.ts";
import { defaultFleetTimes, type FleetOptions } from "../../../src/fleet/options.ts";
import { exchangeToken } from "../../../src/fleet/session/exchange.ts";
import { createSession } from "../../../src/fleet/session/session.ts";
import { createLog } from "../../../src/platform/log.ts";
import { SubscribeBatteryStatusResponseSchema } from "../../../src/wire/fleet/v1/service_pb.js";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { goodToken, startScriptedService } from "../../support/scripted-service.ts";

const SECRET = "c2lnbmF0dXJlLW9mLWEtdG9rZW4";
const part = (json: string) => Buffer.from(json).toString("base64url");
const jwtOf = (payload: string) => `${part('{"alg":"none"}')}.${part(payload)}.${SECRET}`;
const fine = jwtOf('{"exp":4000000000}');

/** What an authentication server may answer, and what is said of it. */
const wrong: ReadonlyArray<readonly [answer: string, problem: string]> = [
  [`${fine}\r\nX`, "is no JWT"],
  [`${fine}€`, "is no JWT"],
  [`${fine}\u0000`, "is no JWT"],
  [`${fine} ${fine}`, "is no JWT"],
  [`"${fine}`, "is no JWT"],
  [fine.replaceAll(".", ""), "is no JWT"],
  ["", "is no JWT"],
  ["<html>", "is no JWT"],
  [jwtOf(`{"exp":4000000000,"pad":"${"x".repeat(12_000)}"}`), "longer than 8192"],
  [jwtOf("{"), "is no JWT"],
  [jwtOf("{}"), "no `exp`"],
  [jwtOf("[]"), "is no JWT"],
  [jwtOf("null"), "is no JWT"],
  ...['"soon"', "true", "null", "{}", "[]", '"4000000000"', "1e999", "-1e999"].map(
    (exp) => [jwtOf(`{"exp":${exp}}`), "`exp` is no number"] as const,
  ),
  [jwtOf('{"exp":0}'), "expired already"],
  [jwtOf('{"exp":-9e15}'), "expired already"],
];

const options = {
  authUrl: "https://fleet.example.com",
  credentials: { apiKey: "k", scope: "s", secret: "x" },
  times: defaultFleetTimes,
  sharers: 1,
} as FleetOptions;

const answering = (text: () => string, asked: () => void = () => {}): Http => ({
  async send() {
    asked();
    return { status: 200, headers: {}, parts: [Buffer.from(text())] };
  },
  async [Symbol.asyncDispose]() {},
});

test.each(wrong)(
  "a token that is wrong (%#) is a failed exchange, and is not told",
  async (answer, problem) => {
    const clock = createManualClock();
    const http = answering(() => answer);
    const ending = await exchangeToken(options, http, clock, 1_000, new AbortController().signal);
    expect(ending).toMatchObject({ kind: "failed", message: expect.stringContaining(problem) });
    for (const secret of [SECRET, part('{"alg":"none"}'), "html"]) {
      expect(JSON.stringify(ending)).not.toContain(secret);
    }
  },
);

test.each([...wrong.map(([answer]) => answer), jwtOf("NOW")])(
  "it does not use up the documented rate (%#), and a good one after it counts",
  async (answer) => {
    const clock = createManualClock();
    const stopping = new AbortController();
    const lines: string[] = [];
    let asked = 0;
    let isMended = false;
    const now = () => (isMended ? jwtOf(`{"exp":${clock.nowMs() / 1_000 + 3_600}}`) : answer);
    // One that ends in the next moment, each time anew.
    const text = () =>
      answer === jwtOf("NOW") && !isMended ? jwtOf(`{"exp":${clock.nowMs() / 1_000 + 0.001}}`) : now();
    const session = createSession(options, {
      http: answering(text, () => {
        asked += 1;
      }),
      clock,
      random: () => 0,
      log: createLog("debug", { write: (line) => void lines.push(line) }),
      history: null,
    });
    const run = session.run(stopping.signal);
    await clock.settle(60_500);
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(12);
    expect(session.token()).toBeNull();
    isMended = true;
    await clock.settle(21_000);
    expect(session.token()).not.toBeNull();
    expect(lines.join("")).not.toContain(SECRET);
    stopping.abort();
    await run;
  },
);

test.each([1.2, 3, 10])(
  "tokens that live for %s s do not use up the documented rate, and a long one after them counts",
  async (lifeSeconds) => {
    const clock = createManualClock();
    const stopping = new AbortController();
    let asked = 0;
    let life = lifeSeconds;
    const session = createSession(options, {
      http: answering(
        () => jwtOf(`{"exp":${clock.nowMs() / 1_000 + life}}`),
        () => {
          asked += 1;
        },
      ),
      clock,
      random: () => 0,
      log: createLog("silent"),
      history: null,
    });
    const run = session.run(stopping.signal);
    await clock.settle(60_500);
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(12);
    life = 3_600;
    await clock.settle(21_000);
    expect(session.token()).not.toBeNull();
    stopping.abort();
    await run;
  },
);

test("a session lives through wrong tokens, before its streams are open and after, and goes on", async () => {
  const battery = create(SubscribeBatteryStatusResponseSchema, { robotId: "r1", batteryState: {} });
  const lines: string[] = [];
  const answers = wrong.map(([answer]) => answer).slice(0, 3);
  const service = await startScriptedService({
    streams: { SubscribeBatteryStatus: () => [toBinary(SubscribeBatteryStatusResponseSchema, battery)] },
    token: () => answers.shift() ?? goodToken(),
  });
  const harness = await startFleetSession(service, {
    log: createLog("debug", { write: (line) => void lines.push(line) }),
    times: { rosterPollMs: null, taskChainPollMs: null },
  });
  await harness.event("battery");
  expect(harness.figure("token_failures")).toBe(3);
  expect(lines.join("") + JSON.stringify(harness.health())).not.toContain(SECRET);
  await harness.stop();
  await service.close();
});
