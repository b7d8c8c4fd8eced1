import type { Client } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { createCommandChannel } from "../../../src/fleet/channels/command-channel.ts";
import { ConnectFailed, type Connection } from "../../../src/fleet/channels/connection.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

interface Made extends Connection {
  isClosed: boolean;
  lose(): void;
}

/** A channel to a service that takes `streamLimit` calls on a connection, over wires of its own. */
async function open(streamLimit = 1, prove: () => Promise<boolean> = async () => true) {
  const clock = createManualClock();
  const made: Made[] = [];
  const stopping = new AbortController();
  const service = { isReachable: true, attempts: 0 };
  const channel = createCommandChannel({
    async connect() {
      service.attempts += 1;
      if (!service.isReachable) throw new ConnectFailed("refused", clock.monotonicMs());
      let lose = () => {};
      const lost = new Promise<void>((resolve) => {
        lose = resolve;
      });
      const connection: Made = {
        client: {} as Client,
        streamLimit,
        lost,
        lose,
        isClosed: false,
        close() {
          connection.isClosed = true;
          // As grpc-js tells its watchers.
          process.nextTick(lose);
        },
        cut() {},
      };
      made.push(connection);
      return connection;
    },
    prove,
    times: defaultFleetTimes,
    clock,
    random: () => 0.5,
    log: silentLog,
  });
  const run = channel.run(stopping.signal);
  await clock.settle(0);

  /** Asks for a place, and lets happen what needs no time. */
  async function take(caller: { isStop: boolean; robot?: string } = { isStop: false }) {
    const found = channel.acquire(caller, 1_000);
    await clock.settle(0);
    const place = await found;
    if (typeof place === "string") throw new Error(place);
    return place;
  }
  async function pass(seconds: number) {
    for (let second = 0; second < seconds; second += 1) await clock.settle(1_000);
  }
  return { clock, made, channel, stopping, run, service, take, pass };
}

test("the last connection is not closed for lack of use when the main one is lost and does not come back", async () => {
  const { clock, made, channel, service, take, pass } = await open();
  const permits = [await take(), await take()];
  for (const { release } of permits) release("answered");
  expect(channel.figures()).toEqual({ connections: 2, calls: 0 });
  service.isReachable = false;
  made[0]?.lose();
  await clock.settle(0);
  expect(channel.problem()).toBeNull();
  await pass(60);
  expect(channel.figures().connections).toBe(1);
  service.isReachable = true;
  await pass(60);
  expect(channel.figures().connections).toBe(1);
  expect(made.map(({ isClosed }) => isClosed)).toEqual([true, true, false]);
});

test("after a further connection failed, another is tried for those who still wait", async () => {
  const { clock, channel, service, take, pass } = await open();
  await take();
  service.isReachable = false;
  const waiting = channel.acquire({ isStop: false }, 9_000);
  await clock.settle(0);
  expect(service.attempts).toBe(2);
  service.isReachable = true;
  await pass(8);
  expect(await waiting).toMatchObject({ client: {} });
});

test("when a further connection is lost, another is made for those who wait", async () => {
  const { clock, made, channel, take, pass } = await open();
  for (let taken = 0; taken < 4; taken += 1) await take();
  const waiting = channel.acquire({ isStop: false }, 2_000);
  await clock.settle(0);
  expect(made).toHaveLength(4);
  made[3]?.lose();
  await pass(1);
  expect(await waiting).toMatchObject({ client: {} });
});

test("there are four at most, also when the main one is made anew", async () => {
  const { clock, made, channel, take, pass } = await open();
  for (let taken = 0; taken < 4; taken += 1) await take();
  made[0]?.lose();
  await clock.settle(0);
  const waiting = channel.acquire({ isStop: false }, 9_000);
  await clock.settle(0);
  expect(channel.figures().connections).toBe(3);
  await pass(8);
  expect(await waiting).toMatchObject({ client: {} });
  expect(channel.figures().connections).toBe(4);
});

test("a stop goes on the connection of its robot's start, so that it cannot come before it", async () => {
  const { take } = await open(3);
  const others = [await take(), await take()];
  const start = await take({ isStop: false, robot: "robot/r1" });
  expect(start.client).not.toBe(others[0]?.client);
  others[0]?.release("answered");
  expect((await take({ isStop: true, robot: "robot/r1" })).client).toBe(start.client);
  expect((await take({ isStop: true, robot: "robot/r2" })).client).toBe(others[0]?.client);
});

test("a connection that was just closed gives no permits", async () => {
  const { made, channel, pass } = await open(5, async () => false);
  const seen: unknown[] = [];
  const connection = made[0];
  if (connection === undefined) throw new Error("there is no connection");
  const { close } = connection;
  Object.assign(connection, {
    close() {
      close();
      void channel.acquire({ isStop: true }, 0).then((found) => seen.push(found));
    },
  });
  await pass(60);
  expect(connection.isClosed).toBe(true);
  expect(seen[0]).toMatch(/^no connection to the service: /);
});

test("when the gateway stops, all are closed and nobody waits", async () => {
  const { clock, made, channel, stopping, run, take } = await open();
  for (let taken = 0; taken < 4; taken += 1) await take();
  const waiting = channel.acquire({ isStop: true }, 100_000);
  stopping.abort();
  await clock.settle(0);
  await run;
  expect(made.map(({ isClosed }) => isClosed)).toEqual([true, true, true, true]);
  expect(await waiting).toMatch(/^no connection to the service: /);
});
