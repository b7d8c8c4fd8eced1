import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Http, type HttpAnswer, NothingSent } from "../../../src/fleet/http.ts";
import { defaultFleetTimes, type FleetOptions } from "../../../src/fleet/options.ts";
import { createExchangeHistory, type ExchangeHistory } from "../../../src/fleet/session/exchange-history.ts";
import { createSession, type Session } from "../../../src/fleet/session/session.ts";
import { sleep } from "../../../src/platform/clock.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

const LIFE_MS = 3_600_000;
const WINDOW_MS = 300_000;
const options = {
  authUrl: "https://fleet.example.com",
  credentials: { apiKey: "k", scope: "s", secret: "x" },
  times: defaultFleetTimes,
  sharers: 1,
} as FleetOptions;

type Answer = "token" | "unreached" | "lost" | "hung" | number;

let clock: ManualClock;
let stopping: AbortController;
/** What the authentication server does now. */
let answer: Answer;
let retryAfter: string | null;
/** When requests reached it, and when it could not be reached, on the monotonic clock. */
let askedAtMs: number[];
let missedAtMs: number[];
let folder: string;
/** What the disk still has to do. */
let disk: Set<Promise<unknown>>;
/** The tokens' `exp`; null: they live for an hour. */
let expiresAt: number | null;

beforeEach(async () => {
  clock = createManualClock();
  stopping = new AbortController();
  answer = "token";
  retryAfter = null;
  expiresAt = null;
  askedAtMs = [];
  missedAtMs = [];
  lines = [];
  disk = new Set();
  folder = await mkdtemp(join(tmpdir(), "fleetgate-session-"));
});

afterEach(async () => {
  stopping.abort();
  await rm(folder, { recursive: true, force: true });
});

let tokens = 0;
/** Nobody looks at its signature here, and signing would take time of its own. */
function newToken(): string {
  tokens += 1;
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString("base64url");
  const exp = expiresAt ?? Math.floor((clock.nowMs() + LIFE_MS) / 1000);
  return `${part({ alg: "none" })}.${part({ exp, jti: String(tokens) })}.x`;
}

const http: Http = {
  async send({ deadlineMs, largestBytes = Number.POSITIVE_INFINITY, signal }): Promise<HttpAnswer> {
    if (answer === "unreached") {
      missedAtMs.push(clock.monotonicMs());
      throw new NothingSent("connect ECONNREFUSED");
    }
    askedAtMs.push(clock.monotonicMs());
    // Whoever answers the gateway before it is known to be the service must not fill its memory.
    expect(largestBytes).toBeLessThanOrEqual(64 * 1024);
    if (answer === "hung") {
      await sleep(clock, deadlineMs, signal);
      throw new DOMException(`not done within ${deadlineMs} ms`, "TimeoutError");
    }
    if (answer === "lost") throw new Error("other side closed");
    const headers = {
      date: new Date(clock.nowMs()).toUTCString(),
      ...(retryAfter === null ? {} : { "retry-after": retryAfter }),
    };
    if (answer === "token") return { status: 200, headers, parts: [Buffer.from(newToken())] };
    return { status: answer, headers, parts: [] };
  },
  async [Symbol.asyncDispose]() {},
};

/** What the log warns of. */
let lines: string[] = [];

function start(history: boolean | ExchangeHistory = false): Session {
  const session = createSession(options, {
    http,
    clock,
    random: () => 0.999,
    log: createLog("warn", { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) }),
    history:
      history === true ? noted(createExchangeHistory(folder, clock)) : history === false ? null : history,
  });
  void session.run(stopping.signal);
  return session;
}

/** The same history, whose reading and writing can be waited for. */
function noted(history: ExchangeHistory): ExchangeHistory {
  const note = <T>(work: Promise<T>): Promise<T> => {
    const done = work.finally(() => disk.delete(done));
    disk.add(done);
    return done;
  };
  return { load: () => note(history.load()), keep: (atMs, log) => note(history.keep(atMs, log)) };
}

/** Waits for the disk, for which no clock of ours counts, and for what a session does on it. */
async function diskRests(): Promise<void> {
  do {
    await Promise.all(disk);
    await clock.settle(0);
  } while (disk.size > 0);
}

/** Lets time pass, in steps in which promises settle. */
async function pass(durationMs: number, stepMs = 1_000): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
    await clock.settle(stepMs);
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function withToken(): Promise<Session> {
  const session = start();
  while (session.token() === null) await pass(10, 10);
  return session;
}

test("a server that cannot be reached is asked again within the backoff cap, however long it was away", async () => {
  const session = await withToken();
  answer = "unreached";
  await pass(LIFE_MS + 600_000);
  expect(session.token()).toBeNull();
  expect(session.state().problem).toContain("ECONNREFUSED");
  const recent = missedAtMs.filter((atMs) => atMs > clock.monotonicMs() - 60_000);
  // The longest waits that chance may give: 5 s each.
  expect(recent.length).toBeGreaterThanOrEqual(9);
  expect(recent.length).toBeLessThanOrEqual(13);
  answer = "token";
  await pass(defaultFleetTimes.backoffCapMs + 1_000, 100);
  expect(session.token()).not.toBeNull();
  expect(askedAtMs).toHaveLength(2);
});

test("the time that a request hung counts as waited: at first 7 s apart at most, and as the rate allows for ever", async () => {
  answer = "hung";
  start();
  await pass(1_800_000);
  const gapsMs = askedAtMs.slice(1).map((atMs, index) => atMs - (askedAtMs[index] ?? 0));
  for (const gapMs of gapsMs.slice(0, 3)) expect(gapMs).toBeLessThanOrEqual(7_000);
  expect(Math.max(...gapsMs)).toBeLessThanOrEqual(25_000);
  expect(Math.max(...gapsMs.slice(30))).toBeLessThanOrEqual(20_100);
  for (const fromMs of askedAtMs) {
    expect(
      askedAtMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + WINDOW_MS).length,
    ).toBeLessThanOrEqual(20);
  }
});

test("a server that was away for long and then hangs is asked again as soon as one that hangs for the first time", async () => {
  answer = "unreached";
  start();
  await pass(600_000);
  answer = "hung";
  while (askedAtMs.length === 0) await pass(100, 100);
  answer = "token";
  await pass(7_000, 100);
  expect(askedAtMs).toHaveLength(2);
});

test.each<Answer>(["lost", 500, 503, 401, 429])(
  "whatever fails (%s), and however it alternates with being away, the documented rate is kept",
  async (failure) => {
    start();
    for (let round = 0; round < 360; round += 1) {
      answer = round % 3 === 2 ? "unreached" : failure;
      await pass(10_000, 2_500);
    }
    expect(askedAtMs.length).toBeGreaterThan(10);
    for (const fromMs of askedAtMs) {
      const inWindow = askedAtMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + WINDOW_MS);
      expect(inWindow.length).toBeLessThanOrEqual(20);
    }
  },
);

test("a Retry-After is kept, in seconds or as a date", async () => {
  answer = 429;
  retryAfter = "120";
  start();
  await pass(119_000);
  expect(askedAtMs).toHaveLength(1);
  retryAfter = new Date(clock.nowMs() + 200_000).toUTCString();
  await pass(2_000);
  expect(askedAtMs).toHaveLength(2);
  await pass(190_000);
  expect(askedAtMs).toHaveLength(2);
  await pass(15_000);
  expect(askedAtMs).toHaveLength(3);
});

test.each(["1", "0.001", "5"])(
  "a Retry-After of %s s does not use up the rate: the way back takes half a minute at most, however long it lasted",
  async (seconds) => {
    answer = 429;
    retryAfter = seconds;
    const session = start();
    await pass(900_000);
    const gapsMs = askedAtMs.slice(1).map((atMs, index) => atMs - (askedAtMs[index] ?? 0));
    // Once in 5 minutes a little longer: the quick ones of the beginning count as well.
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(30_000);
    expect(gapsMs.filter((gapMs) => gapMs > 21_000).length).toBeLessThanOrEqual(2);
    answer = "token";
    await pass(30_000);
    expect(session.token()).not.toBeNull();
  },
);

test("a Retry-After of a day keeps the gateway out for 5 minutes, and health says until when", async () => {
  answer = 429;
  retryAfter = "86400";
  const session = start();
  await pass(1_000);
  const problem = session.state().problem ?? "";
  expect(problem).toMatch(/answers 429: too many token requests; asked again at 2026-01-01T00:05:0\dZ$/);
  await pass(297_000);
  expect(askedAtMs).toHaveLength(1);
  expect(session.state().problem).toBe(problem);
  await pass(5_000);
  expect(askedAtMs).toHaveLength(2);
  expect(lines).toEqual(["no new token"]);
});

async function untilFailures(session: Session, count: number): Promise<void> {
  while (session.state().failures < count) await pass(100, 100);
}

test.each<[Answer, string]>([
  ["unreached", "connect ECONNREFUSED"],
  ["lost", "other side closed"],
  ["hung", "not done within 15000 ms"],
  [503, "the authentication server answers 503"],
])(
  "a token that cannot be renewed (%s) is told from the second failure on, with its end, until it has ended or was renewed",
  async (failure, why) => {
    const session = await withToken();
    answer = failure;
    await untilFailures(session, 1);
    expect(session.state()).toMatchObject({ problem: null, renewalProblem: null });
    await untilFailures(session, 5);
    expect(session.token()).not.toBeNull();
    const told = `${why}; the one in use ends at 2026-01-01T01:00:00Z`;
    expect(session.state()).toMatchObject({ problem: null, renewalProblem: told });
    answer = "token";
    await pass(30_000);
    expect(session.state()).toMatchObject({ problem: null, renewalProblem: null });
    answer = failure;
    await pass(LIFE_MS + 60_000);
    expect(session.state().problem).toMatch(/ECONN|closed|not done|503/);
    expect(session.state().renewalProblem).toBeNull();
  },
);

test("one failure that the next attempt mends is not told", async () => {
  const session = await withToken();
  answer = 503;
  await untilFailures(session, 1);
  answer = "token";
  for (let time = 0; time < 50; time += 1) {
    expect(session.state().renewalProblem).toBeNull();
    await pass(100, 100);
  }
  expect(session.state().tokenAgeSeconds).toBeLessThan(10);
});

test.each([400, 401, 403])(
  "a key that is refused (%i) while the token counts is told at once",
  async (code) => {
    const session = await withToken();
    answer = code;
    await untilFailures(session, 1);
    expect(session.state()).toMatchObject({
      problem: null,
      isRefused: true,
      failures: 1,
      renewalProblem: `the authentication server refuses the API key (${code}); the one in use ends at 2026-01-01T01:00:00Z`,
    });
  },
);

test("and at once when the service refuses the token too: it is all there is", async () => {
  const session = await withToken();
  await pass(10_000);
  answer = 401;
  const replaced = session.replace(session.token() ?? "", stopping.signal);
  await pass(10, 10);
  expect(await replaced).toBeNull();
  expect(session.state().renewalProblem).toMatch(
    /^the authentication server refuses the API key \(401\); the one/,
  );
});

test("a renewal that the rate holds up says when it is tried again", async () => {
  const session = await withToken();
  answer = 429;
  retryAfter = "120";
  await untilFailures(session, 2);
  expect(session.state().renewalProblem).toMatch(
    /answers 429: too many token requests; asked again at 2026-01-01T00:2\d:\d\dZ; the one in use ends at 2026-01-01T01:00:00Z$/,
  );
});

test("an `exp` beyond all dates ends at the last of them", async () => {
  expiresAt = 1e300;
  const session = await withToken();
  answer = 401;
  await untilFailures(session, 1);
  expect(session.state().renewalProblem).toMatch(/ends at \+275760-09-13T00:00:00Z$/);
});

test("whoever asks for another token gets another, or none: never the one that was refused", async () => {
  const session = await withToken();
  const first = session.token() ?? "";
  await pass(10_000);
  answer = 503;
  const failed = session.replace(first, stopping.signal);
  await pass(10, 10);
  expect(await failed).toBeNull();
  // It is all there is, so it may be tried on.
  expect(session.token()).toBe(first);
  answer = "token";
  await pass(30_000);
  const second = session.token() ?? "";
  expect(second).not.toBe(first);
  expect(await session.replace(first, stopping.signal)).toBe(second);
});

test("a service that refuses one token after the other is told of once, and again when it had stopped", async () => {
  const session = await withToken();
  const refuse = async () => {
    await pass(6_000);
    void session.replace(session.token() ?? "", stopping.signal);
    await pass(10, 10);
  };
  for (let time = 0; time < 30; time += 1) await refuse();
  expect(askedAtMs.length).toBeGreaterThan(5);
  expect(lines).toEqual(["the service refuses the token: asking for another"]);
  await pass(400_000);
  await refuse();
  expect(lines).toHaveLength(2);
});

test("a daemon that is started again and again keeps the rate, also with a clock that is set back", async () => {
  answer = 503;
  for (let restart = 0; restart < 60; restart += 1) {
    stopping = new AbortController();
    start(true);
    await diskRests();
    stopping.abort();
    await clock.settle(5_000);
    if (restart === 30) clock.jump(-3_600_000);
  }
  expect(askedAtMs.length).toBeGreaterThan(10);
  expect(askedAtMs.length).toBeLessThanOrEqual(20);
  stopping = new AbortController();
  const session = start(true);
  await diskRests();
  expect(session.state().problem).toMatch(/answers 503|no more token requests are allowed/);
});

test("a disk that hangs keeps nobody from a token", async () => {
  const never = () => new Promise<never>(() => {});
  const session = start({ load: never, keep: never });
  await pass(3_000, 100);
  expect(askedAtMs).toHaveLength(1);
  while (session.token() === null) await pass(10, 10);
});

test("a request that a stop cuts off is no failure", async () => {
  answer = "hung";
  const session = start();
  await pass(100, 10);
  stopping.abort();
  await pass(100, 10);
  expect(askedAtMs).toHaveLength(1);
  expect(lines).toEqual([]);
  expect(session.state()).toMatchObject({ failures: 0 });
});
