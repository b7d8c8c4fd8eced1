import { EventEmitter } from "node:events";
import { type Client, Metadata, status } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cutForgivenMs, LATEST_RENEWAL } from "../../../src/domain/detection.ts";
import type { PermitHolder } from "../../../src/fleet/channels/pooled-connection.ts";
import type { StreamPool } from "../../../src/fleet/channels/stream-pool.ts";
import { defaultFleetTimes, type FleetTimes } from "../../../src/fleet/options.ts";
import type { Session } from "../../../src/fleet/session/session.ts";
import { createQuietLimit } from "../../../src/fleet/streams/renewal-wait.ts";
import { probeStream } from "../../../src/fleet/streams/stream.ts";
import {
  createSubscription,
  type Subscriber,
  type Subscription,
} from "../../../src/fleet/streams/subscription.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

let clock: ManualClock;
let stopping: AbortController;
/** When calls were opened, on the monotonic clock, and the newest of them. */
let openedAtMs: number[];
let newest: EventEmitter;
/** Whether there is a connection for another call. */
let isRoom: boolean;
let holder: PermitHolder;
/** What the subscriber was told. */
let told: string[];
/** The refusals that the subscriber has sorted out, and the tokens that were replaced. */
let refusals: string[];
let replaced: string[];

beforeEach(() => {
  isRoom = true;
  told = [];
  refusals = [];
  replaced = [];
  clock = createManualClock();
  stopping = new AbortController();
  openedAtMs = [];
});
afterEach(() => stopping.abort());

/** A service that takes every call at once. */
function takeCall(): EventEmitter {
  openedAtMs.push(clock.monotonicMs());
  const call = Object.assign(new EventEmitter(), {
    cancel: () => void call.emit("status", { code: status.CANCELLED, details: "" }),
  });
  newest = call;
  const headers = new Metadata();
  headers.set("content-type", "application/grpc");
  setImmediate(() => call.emit("metadata", headers));
  return call;
}

const pool = {
  async acquire(of) {
    if (!isRoom) return new Promise(() => {});
    holder = of;
    return {
      client: { makeServerStreamRequest: takeCall } as unknown as Client,
      proven() {},
      provenAtMs: () => clock.monotonicMs(),
      prove: async () => true,
      unanswered() {},
      release() {},
    };
  },
} as Partial<StreamPool> as StreamPool;
const session = {
  authorized: async () => "jwt",
  async replace(jwt) {
    replaced.push(jwt);
    return null;
  },
} as Partial<Session> as Session;
const request = { path: "/fleet.v1.FleetService/WatchMissions", bytes: Buffer.alloc(0) };

function start(times: Partial<FleetTimes>, opened: (subscription: Subscription) => void): Subscription {
  const subscriber: Subscriber = {
    request: () => request,
    receive() {},
    opened: () => opened(subscription),
    cut: () => void told.push("cut"),
    lost: ({ code }) => void told.push(`lost: ${code}`),
    async refused({ code }) {
      refusals.push(code);
      return false;
    },
    unserved() {},
    deliveredAtMs: () => null,
  };
  const subscription = createSubscription(subscriber, {
    pool,
    session,
    times: { ...defaultFleetTimes, ...times },
    quiet: createQuietLimit(times.resyncMs ?? defaultFleetTimes.resyncMs, clock, silentLog),
    clock,
    random: () => 0.5,
  });
  void subscription.run(stopping.signal);
  return subscription;
}

/** Lets time pass, in steps in which calls are taken. */
async function pass(durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 100) await clock.settle(100);
}

test.each([
  ["at once", 0],
  ["after a while", 0.6],
])(
  "a stream that is asked for again and again, %s, is renewed in time for all others on it",
  async (_, share) => {
    const resyncMs = 20_000;
    start({ resyncMs }, (subscription) => {
      clock.after(share * resyncMs, subscription.renewSoon);
    });
    await pass(200_000);
    const gapsMs = openedAtMs.slice(1).map((atMs, index) => atMs - (openedAtMs[index] ?? 0));
    expect(gapsMs.length).toBeGreaterThan(9);
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(LATEST_RENEWAL * resyncMs + 100);
    // The first four are in haste, at 1, 2, 4 and 8 s.
    expect(gapsMs.length).toBeLessThan(20);
  },
);

test("a stream that the service ended without an error says so in words", async () => {
  const subscription = start({}, () => {});
  await pass(300);
  isRoom = false;
  newest.emit("status", { code: status.OK, details: "" });
  await pass(cutForgivenMs(defaultFleetTimes.streamSilenceMs));
  expect(subscription.state().problem).toBe("OK: the service ended the stream");
});

const ends = (code: status) => () => void newest.emit("status", { code, details: "" });
const isSilent = () => holder.silent();

test.each([
  ["cut, and open again", ends(status.UNAVAILABLE), true, ["cut"]],
  ["cut, and not open again", ends(status.UNAVAILABLE), false, ["cut", "lost: UNAVAILABLE"]],
  ["refused", ends(status.NOT_FOUND), true, ["lost: NOT_FOUND"]],
  ["given up, as its connection is silent", isSilent, true, ["lost: CANCELLED"]],
])(
  "a stream that is %s: only a cut is forgiven, and for a limited time",
  async (_, end, isAnother, words) => {
    const subscription = start({}, () => {});
    await pass(300);
    isRoom = isAnother;
    end();
    const forgivenMs = cutForgivenMs(defaultFleetTimes.streamSilenceMs);
    await pass(forgivenMs - 100);
    expect(told).toEqual(words.slice(0, 1));
    await pass(200);
    expect(told).toEqual(words);
    expect(subscription.state().phase).toBe(isAnother ? "open" : "closed");
  },
);

test("a stream that is cut when the gateway stops is not told to be lost after that", async () => {
  start({}, () => {});
  await pass(300);
  isRoom = false;
  ends(status.UNAVAILABLE)();
  await clock.settle(0);
  stopping.abort();
  await pass(10_000);
  expect(told).toEqual(["cut"]);
});

test("a refusal that follows the headers is sorted out, and is waited for like any other", async () => {
  start({}, () => void setImmediate(ends(status.PERMISSION_DENIED)));
  await pass(60_000);
  expect(refusals.length).toBeGreaterThan(3);
  expect(openedAtMs.length - refusals.length).toBeLessThanOrEqual(1);
  expect(openedAtMs.length).toBeLessThan(12);
});

test("a token that is refused after the headers, or while the stream is open, is replaced", async () => {
  start({}, () => {});
  await pass(300);
  ends(status.UNAUTHENTICATED)();
  await pass(300);
  expect(replaced).toEqual(["jwt"]);
  expect(told).toEqual(["cut"]);
});

test.each([
  ["a refusal after the headers", ends(status.PERMISSION_DENIED), true],
  ["a message", () => void newest.emit("data", Buffer.alloc(0)), false],
])("a trial of a stream ends with %s", async (_, answer, refused) => {
  const trial = probeStream(request, pool, session, 60_000, stopping.signal);
  await clock.settle(0);
  answer();
  expect(await trial).toMatchObject({ refused });
});
