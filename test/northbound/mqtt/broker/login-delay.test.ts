import mqtt from "mqtt";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RefusalAudit } from "../../../../src/contracts/commander.ts";
import { createBroker, type EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import type { EmbeddedBrokerOptions } from "../../../../src/northbound/mqtt/options.ts";
import { createTopics } from "../../../../src/northbound/mqtt/topics.ts";
import { createLive } from "../../../../src/platform/live.ts";
import { type Log, silentLog } from "../../../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../../../support/manual-clock.ts";
import { base, embedded, start } from "../mqtt-harness.ts";

const users = [
  { name: "plc1", password: "one" },
  { name: "plc2", password: "two" },
];
const options: EmbeddedBrokerOptions = { ...embedded, anonymousLoopback: false, users: createLive(users) };
const WRONG = 4;
const LATER = 3;
const cleanups: Array<() => Promise<unknown> | unknown> = [];
let clock: ManualClock;
let said: Array<Readonly<Record<string, unknown>>> = [];
let audited: string[] = [];
/** When log-ins failed, by the broker's clock: a client hears of it later. */
let failedAtMs: number[] = [];
let broker: EmbeddedBroker;

beforeEach(async () => {
  clock = createManualClock();
  said = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void (message.includes("log-in") && said.push(fields)),
  };
  audited = [];
  failedAtMs = [];
  const audit: RefusalAudit = {
    refused({ source, operation, origin }, { code, message }) {
      failedAtMs.push(clock.monotonicMs());
      audited.push(`${operation} ${source.protocol}:${source.name} ${origin?.address} ${code}: ${message}`);
    },
  };
  broker = createBroker({ options, topics: createTopics(base), clientId: "gateway", clock, log, audit });
  cleanups.push(await start(broker));
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** What the broker answers: 0 is a log-in. */
async function answerTo(username: string, password: string): Promise<number> {
  const url = `mqtt://127.0.0.1:${broker.port()}`;
  try {
    const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, username, password }, false);
    cleanups.push(() => client.endAsync(true));
    return 0;
  } catch (error) {
    return Number((error as { readonly code?: unknown }).code);
  }
}

/** The broker's clock for each real turn of a connection. */
const STEP_MS = 10;

/** Lets time pass until it is answered. @returns how long after the failure before it, too */
async function answerLater(username: string, password: string): Promise<{ code: number; waitedMs: number }> {
  let answer: number | null = null;
  const atMs = failedAtMs.at(-1) ?? clock.monotonicMs();
  const asked = answerTo(username, password).then((code) => {
    answer = code;
  });
  while (answer === null) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    clock.advance(STEP_MS);
  }
  await asked;
  return { code: answer, waitedMs: clock.monotonicMs() - atMs };
}

test("after a wrong password the next log-in of that user waits, ever longer, at most four seconds", async () => {
  expect(await answerTo("plc1", "bad")).toBe(WRONG);
  for (const delayMs of [500, 1_000, 2_000, 4_000, 4_000]) {
    const { code, waitedMs } = await answerLater("plc1", "bad");
    expect(code).toBe(WRONG);
    expect(waitedMs).toBeGreaterThanOrEqual(delayMs);
  }
  expect(said.map(({ user, count, delayMs }) => [user, count, delayMs])).toEqual([
    ["plc1", 1, 500],
    ["plc1", 2, 1_000],
    ["plc1", 3, 2_000],
    ["plc1", 4, 4_000],
    ["plc1", 5, 4_000],
    ["plc1", 6, 4_000],
  ]);
  const words = "127.0.0.1 NOT_ALLOWED: wrong password, or no such user; failed log-ins in a row:";
  expect(audited).toEqual([1, 2, 3, 4, 5, 6].map((count) => `log_on mqtt:plc1 ${words} ${count}`));
  const { code, waitedMs } = await answerLater("plc1", "one");
  expect(code).toBe(0);
  expect(waitedMs).toBeGreaterThanOrEqual(4_000);
});

test("another user does not wait, and nobody is locked out: a right log-in ends the delay", async () => {
  for (let time = 0; time < 2; time += 1) {
    await answerLater("plc1", "bad");
    clock.advance(30_000);
  }
  await answerTo("plc1", "bad");
  expect(await answerTo("plc2", "two")).toBe(0);
  const { code, waitedMs } = await answerLater("plc1", "one");
  expect(code).toBe(0);
  expect(waitedMs).toBeGreaterThanOrEqual(2_000);
  expect(await answerTo("plc1", "one")).toBe(0);
});

test("of one user there 32 log-ins wait at a time: a right one gets in beside wrong ones", async () => {
  await answerTo("plc1", "bad");
  const codes: number[] = [];
  const passwords = [...Array.from({ length: 32 }, () => "bad"), "one"];
  const all = passwords.map((password) => answerTo("plc1", password).then((code) => codes.push(code)));
  // One too many is refused at once; which one is chance.
  await Promise.race(all);
  expect(codes).toEqual([LATER]);
  clock.advance(500);
  await Promise.all(all);
  const right = await answerLater("plc1", "one");
  expect(right.code).toBe(0);
  expect(codes.filter((code) => code === WRONG).length).toBeGreaterThanOrEqual(31);
});

test("a flood of invented names is bounded in log and audit, and hides no attempt on a user", async () => {
  for (let number = 0; number < 12; number += 1)
    expect(await answerTo(`invented-${number}`, "bad")).toBe(WRONG);
  expect(await answerTo("plc1", "bad")).toBe(WRONG);
  expect(audited).toHaveLength(11);
  expect(said).toHaveLength(11);
  expect(audited.at(-1)).toContain("mqtt:plc1");
  clock.advance(60_000);
  expect(audited.slice(11)).toEqual([
    "log_on mqtt: undefined NOT_ALLOWED: 2 more log-ins have failed within a minute",
  ]);
  expect(said.slice(11)).toEqual([{ count: 2 }]);
});
