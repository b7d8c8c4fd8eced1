import { EventEmitter } from "node:events";
import { type Client, Metadata, status } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Connection } from "../../../src/fleet/channels/connection.ts";
import { createStreamPool } from "../../../src/fleet/channels/stream-pool.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import type { Session } from "../../../src/fleet/session/session.ts";
import { createQuietLimit } from "../../../src/fleet/streams/renewal-wait.ts";
import { createSubscription } from "../../../src/fleet/streams/subscription.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

/** A connection as the service sees it. */
interface Told {
  /** Takes no more calls; the ones on it go on. */
  goAway(): void;
  calls: number;
}

const STREAMS = 50;
const STREAM_LIMIT = 31;
const GOLDEN = 0.618_033_988_75;
/** No renewal by itself comes between. */
const times = { ...defaultFleetTimes, resyncMs: 86_400_000, streamSilenceMs: 600_000 };
const session = { authorized: async () => "jwt" } as Partial<Session> as Session;

let clock: ManualClock;
let stopping: AbortController;
let connections: Told[];
/** Streams that were left without a call. */
let lost: number;
/** Calls that the service was asked for. */
let opened: number;

beforeEach(() => {
  clock = createManualClock();
  stopping = new AbortController();
  connections = [];
  lost = 0;
  opened = 0;
});
afterEach(() => stopping.abort());

function connection(): Connection & Told {
  let goAway = () => {};
  const toldToGo = new Promise<void>((resolve) => {
    goAway = resolve;
  });
  const made = {
    // Takes every call at once, and ends none by itself.
    client: { makeServerStreamRequest: takeCall } as unknown as Client,
    streamLimit: STREAM_LIMIT,
    lost: toldToGo,
    close() {},
    cut() {},
    goAway,
    calls: 0,
  };
  function takeCall() {
    made.calls += 1;
    opened += 1;
    const call = Object.assign(new EventEmitter(), {
      cancel() {
        made.calls -= 1;
        call.emit("status", { code: status.CANCELLED, details: "" });
      },
    });
    const headers = new Metadata();
    headers.set("content-type", "application/grpc");
    setImmediate(() => call.emit("metadata", headers));
    return call;
  }
  return made;
}

/**
 * Streams over a pool whose service says GOAWAY to a new connection at once where `isUnwelcome`, by its
 * number.
 */
function start(isUnwelcome: (number: number) => boolean): void {
  // Each stream and each attempt draws its own wait, the same in each run.
  let drawn = 0;
  const random = () => {
    drawn += 1;
    return (drawn * GOLDEN) % 1;
  };
  const pool = createStreamPool({
    async connect() {
      const made = connection();
      connections.push(made);
      if (isUnwelcome(connections.length)) clock.after(1, made.goAway);
      return made;
    },
    prove: async () => true,
    times,
    clock,
    random,
    log: silentLog,
  });
  void pool.run(stopping.signal);
  for (let index = 0; index < STREAMS; index += 1) {
    const subscription = createSubscription(
      {
        request: () => ({ path: "/fleet.v1.FleetService/SubscribeMissionStatus", bytes: Buffer.alloc(0) }),
        receive() {},
        opened() {},
        cut() {
          lost += 1;
        },
        lost() {
          lost += 1;
        },
        refused: async () => false,
        unserved() {},
        deliveredAtMs: () => null,
      },
      {
        pool,
        session,
        times,
        quiet: createQuietLimit(times.resyncMs, clock, silentLog),
        clock,
        random,
      },
    );
    void subscription.run(stopping.signal);
  }
}

const callsOf = (some: readonly Told[]) => some.reduce((sum, { calls }) => sum + calls, 0);

test("GOAWAY moves every stream within 250 ms, new before old, however often it comes", async () => {
  start(() => false);
  await clock.settle(10_000);
  expect(callsOf(connections)).toBe(STREAMS);
  const before = opened;
  for (let time = 0; time < 8; time += 1) {
    const old = [...connections];
    for (const one of old) one.goAway();
    await clock.settle(250);
    expect(callsOf(old)).toBe(0);
    expect(callsOf(connections)).toBe(STREAMS);
    await clock.settle(1_500);
  }
  expect(lost).toBe(0);
  expect(opened - before).toBe(STREAMS * 8);
});

test.each([
  ["every connection", () => true],
  ["every connection but a full one", (number: number) => number > 1],
])("a server that says GOAWAY to %s at once is not hammered at", async (_, isUnwelcome) => {
  start(isUnwelcome);
  await clock.settle(10_000);
  const [made, calls] = [connections.length, opened];
  await clock.settle(60_000);
  // On average half of the longest wait lies between two attempts, and between two calls of a stream.
  const turns = 60_000 / (0.5 * times.backoffCapMs);
  expect(connections.length - made).toBeLessThanOrEqual(2 * turns);
  expect(opened - calls).toBeLessThanOrEqual(turns * STREAMS);
  expect(connections.length - made).toBeGreaterThan(5);
  expect(lost).toBe(0);
});
