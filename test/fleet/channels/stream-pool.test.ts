import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConnectFailed, type Connection } from "../../../src/fleet/channels/connection.ts";
import type { StreamPermit } from "../../../src/fleet/channels/pooled-connection.ts";
import { createStreamPool, type StreamPool } from "../../../src/fleet/channels/stream-pool.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { sleep } from "../../../src/platform/clock.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

const times = defaultFleetTimes;
const { backoffCapMs, connectMs, streamSilenceMs } = times;
const nobody = { leaving() {}, silent() {} };

let clock: ManualClock;
let stopping: AbortController;
let clients: Client[];
/** When each attempt to connect began. */
let attemptsAtMs: number[];
let running: Promise<void>;
/** What the log says. */
let lines: string[];
/** How often a connection was closed. */
let closed: number;
/** The next timer that is set runs so much later, as if the process were held up; then 0 again. */
let heldUpMs: number;

beforeEach(() => {
  clock = createManualClock();
  stopping = new AbortController();
  clients = [];
  attemptsAtMs = [];
  lines = [];
  closed = 0;
  heldUpMs = 0;
});

afterEach(async () => {
  stopping.abort();
  await running;
  for (const client of clients) client.close();
});

/** A connection that is never used: nothing is called on its client. */
function connection(): Connection {
  const client = new Client("localhost:1", credentials.createInsecure());
  clients.push(client);
  return {
    client,
    streamLimit: 100,
    lost: new Promise(() => {}),
    cut() {},
    close() {
      closed += 1;
    },
  };
}

interface Service {
  /** Rejects as a failed attempt does, or gives a connection. */
  readonly connect: () => Promise<Connection>;
  readonly prove?: () => Promise<boolean>;
}

/** A pool whose every wait is the longest that chance may give, from the first on. */
function startPool({ connect, prove = async () => true }: Service): StreamPool {
  const pool = createStreamPool({
    async connect() {
      attemptsAtMs.push(clock.monotonicMs());
      return connect();
    },
    prove,
    times: { ...times, backoffBaseMs: backoffCapMs },
    clock: {
      ...clock,
      after(delayMs, task) {
        const cancel = clock.after(delayMs + heldUpMs, task);
        heldUpMs = 0;
        return cancel;
      },
    },
    random: () => 0.999,
    log: createLog("info", { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) }),
  });
  running = pool.run(stopping.signal);
  return pool;
}

/** An attempt that hangs until its time is over, and began so long ago for somebody else. */
async function hang(sharedForMs: number): Promise<Connection> {
  const beganAtMs = clock.monotonicMs() - sharedForMs;
  await sleep(clock, connectMs - sharedForMs, stopping.signal);
  throw new ConnectFailed("no connection in time", beganAtMs);
}

test.each([0, 1_000, 4_900])(
  "an attempt that hangs is followed by the next within the cap, also when it was joined after %i ms",
  async (sharedForMs) => {
    const pool = startPool({ connect: () => hang(sharedForMs) });
    void pool.acquire(nobody, stopping.signal);
    await clock.settle(60_000);
    expect(attemptsAtMs.length).toBeGreaterThan(5);
    const overAtMs = attemptsAtMs.map((atMs) => atMs + connectMs - sharedForMs);
    for (const [index, atMs] of attemptsAtMs.slice(1).entries()) {
      const sharedAtMs = (attemptsAtMs[index] ?? 0) - sharedForMs;
      expect(atMs - sharedAtMs).toBeLessThanOrEqual(Math.max(connectMs, backoffCapMs));
      expect(atMs).toBeGreaterThanOrEqual(overAtMs[index] ?? 0);
    }
  },
);

test("an attempt that fails at once is followed after a wait, not at once", async () => {
  const pool = startPool({
    connect: () => Promise.reject(new ConnectFailed("refused", clock.monotonicMs())),
  });
  void pool.acquire(nobody, stopping.signal);
  await clock.settle(30_000);
  expect(attemptsAtMs).toHaveLength(1 + Math.floor(30_000 / (backoffCapMs * 0.999)));
});

async function occupied(pool: StreamPool): Promise<StreamPermit> {
  const acquiring = pool.acquire({ ...nobody }, stopping.signal);
  await clock.settle(backoffCapMs);
  const permit = await acquiring;
  if (permit === null) throw new Error("there is no room");
  return permit;
}

test("a connection on which nothing was ever answered is given up with the first stream, one that was heard is not", async () => {
  const pool = startPool({ connect: async () => connection() });
  const first = await occupied(pool);
  first.unanswered();
  first.release();
  const second = await occupied(pool);
  expect(second.client).not.toBe(first.client);
  second.proven();
  second.unanswered();
  expect(pool.state().connections).toBe(1);
  const third = await occupied(pool);
  // It may hold fewer streams than it says: the next goes elsewhere.
  expect(third.client).not.toBe(second.client);
});

/** Room for so many streams, and each has been answered. */
async function served(pool: StreamPool, count: number): Promise<StreamPermit[]> {
  const slots: StreamPermit[] = [];
  for (let index = 0; index < count; index += 1) slots.push(await occupied(pool));
  for (const permit of slots) permit.proven();
  return slots;
}

/** What a stream does that is not answered, until its room is given back. */
async function leftUnanswered(slots: readonly StreamPermit[]): Promise<void> {
  await Promise.all(slots.map((permit) => permit.prove()));
  for (const permit of slots) permit.unanswered();
  for (const permit of slots) permit.release();
}

const SAID_HUNG = "a connection does not answer: new streams go elsewhere";
const SAID_CROWDED = "the service answers fewer streams on a connection than it allows";

test("a service that hangs is said to hang, once, and keeps no further connection when it goes on", async () => {
  let isHung = false;
  let goOn = () => {};
  const whenOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const pool = startPool({
    async connect() {
      if (isHung) await whenOn;
      return connection();
    },
    prove: async () => !isHung,
  });
  await served(pool, 60);
  const renewed = await served(pool, 10);
  isHung = true;
  await clock.settle(1_000);
  await leftUnanswered(renewed.slice(0, 5));
  await clock.settle(2_000);
  await leftUnanswered(renewed.slice(5));
  // A renewal waits for room elsewhere, for which a connection is being made.
  const acquiring = pool.acquire(nobody, stopping.signal);
  await clock.settle(8_000);
  expect(lines.filter((line) => line !== "connected to the service")).toEqual([SAID_HUNG]);
  isHung = false;
  await clock.settle(1_500);
  expect(lines.at(-1)).toBe("a connection answers again");
  expect((await acquiring)?.client).toBe(renewed[0]?.client);
  goOn();
  await clock.settle(1_000);
  expect(clients).toHaveLength(2);
  expect(pool.state().connections).toBe(1);
  expect(closed).toBe(1);
});

test("a service that answers fewer streams than it says is told from one that hangs, and asked for more much later", async () => {
  const limit = 40;
  let held = 0;
  const pool = startPool({ connect: async () => connection(), prove: async () => held < limit });
  const [first, ...others] = await served(pool, limit - 1);
  const further = await occupied(pool);
  held = limit;
  await clock.settle(1_000);
  const leaving = leftUnanswered([further]);
  held = limit - 1;
  await leaving;
  await clock.settle(100);
  expect(lines.at(-1)).toBe(SAID_CROWDED);
  expect((await occupied(pool)).client).not.toBe(first?.client);
  others[0]?.release();
  expect((await occupied(pool)).client).toBe(first?.client);
  await clock.settle(11 * 60_000);
  expect((await occupied(pool)).client).toBe(first?.client);
});

test("a connection that never answered is given up once, however many report it", async () => {
  const pool = startPool({ connect: async () => connection(), prove: async () => false });
  const slots = [await occupied(pool), await occupied(pool), await occupied(pool)];
  for (const permit of slots) permit.unanswered();
  for (const permit of slots) permit.release();
  expect(lines.filter((line) => line.includes("given up"))).toHaveLength(1);
});

test("a silent connection is asked for a sign of life until it gives one: its silence is over at once", async () => {
  let isAnswering = false;
  let questions = 0;
  const pool = startPool({
    connect: async () => connection(),
    async prove() {
      questions += 1;
      return isAnswering;
    },
  });
  const permit = await occupied(pool);
  await clock.settle(streamSilenceMs - backoffCapMs - 3_000);
  expect(questions).toBeGreaterThan(5);
  isAnswering = true;
  const sinceMs = clock.monotonicMs();
  await clock.settle(1_500);
  expect(permit.provenAtMs()).toBeGreaterThanOrEqual(sinceMs);
  const asked = questions;
  await clock.settle(5_000);
  expect(questions).toBe(asked);
});

test("a connection that stays silent is given up within a second of the silence that is allowed", async () => {
  const pool = startPool({ connect: async () => connection(), prove: async () => false });
  let silentAtMs: number | null = null;
  const acquiring = pool.acquire(
    {
      leaving() {},
      silent() {
        silentAtMs ??= clock.monotonicMs();
      },
    },
    stopping.signal,
  );
  await clock.settle(0);
  await acquiring;
  await clock.settle(streamSilenceMs);
  expect(silentAtMs).toBeNull();
  await clock.settle(1_001);
  expect(silentAtMs).not.toBeNull();
});

test("a connection that nobody asked, as the gateway was held up, is asked before it is given up", async () => {
  let isAnswering = true;
  let questions = 0;
  const pool = startPool({
    connect: async () => connection(),
    async prove() {
      questions += 1;
      return isAnswering;
    },
  });
  const told: string[] = [];
  const acquiring = pool.acquire({ leaving() {}, silent: () => void told.push("silent") }, stopping.signal);
  await clock.settle(0);
  await acquiring;
  heldUpMs = 2 * streamSilenceMs;
  await clock.settle(2 * streamSilenceMs + 3_000);
  expect(told).toEqual([]);
  expect(questions).toBeGreaterThan(0);
  isAnswering = false;
  heldUpMs = 2 * streamSilenceMs;
  await clock.settle(2 * streamSilenceMs + 3_000);
  expect(told).toEqual([]);
  await clock.settle(streamSilenceMs / 4);
  expect(told).toEqual(["silent"]);
});
