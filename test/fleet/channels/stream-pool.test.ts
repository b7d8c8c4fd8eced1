import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConnectFailed, type Connection } from "../../../src/fleet/channels/connection.ts";
import {
  createStreamPool,
  type StreamPool,
  type StreamSlot,
} from "../../../src/fleet/channels/stream-pool.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { sleep } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
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

beforeEach(() => {
  clock = createManualClock();
  stopping = new AbortController();
  clients = [];
  attemptsAtMs = [];
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
  return { client, streamLimit: 100, lost: new Promise(() => {}), close() {} };
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
    clock,
    chance: () => 0.999,
    log: silentLog,
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
    for (const [place, atMs] of attemptsAtMs.slice(1).entries()) {
      const sharedAtMs = (attemptsAtMs[place] ?? 0) - sharedForMs;
      expect(atMs - sharedAtMs).toBeLessThanOrEqual(Math.max(connectMs, backoffCapMs));
      expect(atMs).toBeGreaterThanOrEqual(overAtMs[place] ?? 0);
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

async function occupied(pool: StreamPool): Promise<StreamSlot> {
  const acquiring = pool.acquire(nobody, stopping.signal);
  await clock.settle(backoffCapMs);
  const slot = await acquiring;
  if (slot === null) throw new Error("there is no room");
  return slot;
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
  const slot = await occupied(pool);
  await clock.settle(streamSilenceMs - backoffCapMs - 3_000);
  expect(questions).toBeGreaterThan(5);
  isAnswering = true;
  const sinceMs = clock.monotonicMs();
  await clock.settle(1_500);
  expect(slot.provenAtMs()).toBeGreaterThanOrEqual(sinceMs);
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
