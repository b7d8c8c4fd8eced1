import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Connection } from "../../../src/contracts/link.ts";
import { createFanOut } from "../../../src/delivery/fan-out.ts";
import { createLinkRunner } from "../../../src/delivery/link-runner.ts";
import type { MqttLink } from "../../../src/northbound/mqtt/link.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import { events } from "../../delivery/fake-state.ts";
import { missionEvent } from "../../delivery/fleet-updates.ts";
import { newFleetState } from "../../support/fleet-state.ts";
import { freePorts } from "../../support/free-ports.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { type PlantBroker, startPlantBroker } from "../../support/plant-broker.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { newLink } from "./link-harness.ts";
import { base, external, listen, missionChange, mqttOptions } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => unknown> = [];
let clock: ManualClock;
let said: string[];
let firstPort: number;
let second: PlantBroker;
let link: MqttLink;

beforeEach(async () => {
  clock = createManualClock();
  said = [];
  firstPort = await freePorts(1);
  second = await startPlantBroker();
  cleanups.push(() => second.close());
  const log: Log = {
    ...silentLog,
    info: (_, message) => void said.push(message),
    warn: (_, message) => void said.push(message),
  };
  const broker = external(`mqtt://127.0.0.1:${firstPort}`, second.url);
  link = newLink({ options: mqttOptions({ broker }), clock, log });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startFirst(): Promise<PlantBroker> {
  const broker = await startPlantBroker(firstPort);
  cleanups.push(() => broker.close());
  return broker;
}

async function connect(): Promise<Connection> {
  const connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return connection;
}

/** Lets time pass until the gateway has found the first broker reachable. */
async function findFirst(): Promise<void> {
  await expect
    .poll(() => {
      if (!isFound()) clock.advance(10_000);
      return isFound();
    })
    .toBe(true);
}
const isFound = () => link.health().detail?.includes("it is reachable again") ?? false;

/** Whether the connection would rather move on, after everything under way is done. */
async function movesOn(connection: Connection): Promise<boolean> {
  let moves = false;
  void connection.movesOn?.then(() => {
    moves = true;
  });
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  return moves;
}

it("takes the first broker that lets it in, and says once that it is not the first", async () => {
  const connection = await connect();
  expect(link.health().figures).toMatchObject({ connected: 1, brokerIndex: 1 });
  expect(second.clients).toEqual(["fleetgate-test"]);
  expect(said).toEqual(["now at mqtt.fallbackBrokers[0]: those before it cannot be used"]);
  expect(link.health()).toMatchObject({
    state: "degraded",
    detail: expect.stringMatching(
      /^connected to mqtt\.fallbackBrokers\[0\] instead of mqtt\.broker: .*mqtt\.broker \(127\.0\.0\.1:\d+\): nothing listens there/,
    ),
  });
  expect(link.peers()).toMatchObject([
    {
      name: "mqtt.broker",
      state: "unused",
      sinceMs: null,
      detail: expect.stringContaining("nothing listens"),
    },
    { name: "mqtt.fallbackBrokers[0]", state: "connected", sinceMs: clock.nowMs(), detail: "" },
  ]);
  await connection[Symbol.asyncDispose]();
  await connection.lost;
  expect(link.peers().map(({ state }) => state)).toEqual(["lost", "lost"]);
  await connect();
  expect(said).toHaveLength(1);
});

it("goes back when the first has been reachable for long enough, and says goodbye to the other", async () => {
  const connection = await connect();
  const watcher = await listen(second.url);
  cleanups.push(() => watcher.client.endAsync(true));
  const first = await startFirst();
  await findFirst();
  expect(first.clients).toEqual(["fleetgate-test-check"]);
  clock.advance(59_000);
  expect(await movesOn(connection)).toBe(false);
  clock.advance(1_000);
  await connection.movesOn;

  await connection[Symbol.asyncDispose]();
  await watcher.on("status", ({ text }) => text.includes('"offline"'));
  const back = await connect();
  expect(await Promise.race([back.movesOn, "it stays"])).toBe("it stays");
  await back.write({ changes: [missionChange("r1")], events: [] });
  const late = await listen(`mqtt://127.0.0.1:${firstPort}`);
  cleanups.push(() => late.client.endAsync(true));
  await late.on("status", ({ text }) => text.includes('"online"'));
  await late.on("robots/r1/mission");
  expect(link.health().state).toBe("up");
  expect(said.slice(1)).toEqual(["back at mqtt.broker"]);
});

it("stays while the first is lost again and again within the time", async () => {
  const connection = await connect();
  const first = await startFirst();
  for (let round = 1; round <= 3; round += 1) {
    await findFirst();
    clock.advance(50_000);
    first.cut("fleetgate-test-check");
    await expect.poll(() => link.health().detail).toContain("has closed the connection again");
    expect(first.clients).toHaveLength(round);
  }
  expect(await movesOn(connection)).toBe(false);
});

it("waits twice as long after a return that did not last", async () => {
  let connection = await connect();
  const first = await startFirst();
  await findFirst();
  clock.advance(60_000);
  await connection.movesOn;
  await connection[Symbol.asyncDispose]();
  connection = await connect();
  first.cut("fleetgate-test");
  await connection.lost;
  await first.close();

  connection = await connect();
  await startFirst();
  await findFirst();
  clock.advance(100_000);
  expect(await movesOn(connection)).toBe(false);
  clock.advance(20_000);
  await connection.movesOn;
});

it("ends its look at the first broker with the connection", async () => {
  const connection = await connect();
  const first = await startFirst();
  await findFirst();
  await connection[Symbol.asyncDispose]();
  clock.advance(120_000);
  expect(await movesOn(connection)).toBe(false);
  expect(first.clients).toEqual(["fleetgate-test-check"]);
});

it("takes the status that an earlier run has left at each broker for no other gateway", async () => {
  const brokers = [await startPlantBroker(), second, await startPlantBroker()];
  for (const broker of brokers) {
    const earlier = await listen(broker.url);
    const left = JSON.stringify({ state: "offline", session_id: "s0" });
    await earlier.client.publishAsync(`${base}/status`, left, { qos: 1, retain: true });
    await earlier.client.endAsync();
  }
  const [url = "", ...fallbacks] = brokers.map((broker) => broker.url);
  link = newLink({ options: mqttOptions({ broker: external(url, ...fallbacks) }), clock });
  for (const broker of brokers.slice(0, 2)) {
    const connection = await connect();
    await broker.close();
    await connection.lost;
  }
  await connect();
  expect(link.health().detail).toMatch(/^connected to mqtt\.fallbackBrokers\[1\]/);
  await brokers[2]?.close();
});

describe("a broker that was left without a goodbye", () => {
  /** Connected to the second, after the first was lost; and the status that the first had. */
  async function moveToSecond(firstUrl: string, stopFirst: () => Promise<void>) {
    const lost = await connect();
    const watcher = await listen(firstUrl);
    const { text } = await watcher.on("status");
    await watcher.client.endAsync(true);
    await stopFirst();
    await lost.lost;
    clock.advance(1_000);
    return { connection: await connect(), status: text };
  }

  it("is told to show the gateway as offline, where it comes back with what it kept on disk", async () => {
    const first = await startFirst();
    const { connection, status } = await moveToSecond(first.url, first.close);
    expect(status).toContain('"online"');

    const again = await startFirst();
    const watcher = await listen(again.url);
    cleanups.push(() => watcher.client.endAsync(true));
    await watcher.client.publishAsync(`${base}/status`, status, { qos: 1, retain: true });
    clock.advance(10_000);
    await watcher.on("status", ({ text }) => text.includes('"offline"'));
    expect(await movesOn(connection)).toBe(false);
  });

  it("is left alone where it is in one cluster with the broker of the connection", async () => {
    const proxy = await startTcpProxy(() => new URL(second.url).host);
    cleanups.push(proxy.close);
    link = newLink({
      options: mqttOptions({ broker: external(`mqtt://${proxy.address}`, second.url) }),
      clock,
    });
    await moveToSecond(second.url, proxy.unplug);
    const watcher = await listen(second.url);
    cleanups.push(() => watcher.client.endAsync(true));
    await watcher.on("status", ({ text }) => text.includes('"online"'));
    await proxy.plug();
    await findFirst();
    const late = await listen(second.url);
    cleanups.push(() => late.client.endAsync(true));
    expect((await late.on("status")).text).toContain('"online"');
    expect(watcher.received.filter(({ text }) => text.includes('"offline"'))).toEqual([]);
  });
});

it("loses no event and no state on the way to the next broker and back", async () => {
  const first = await startFirst();
  const state = newFleetState(systemClock);
  const fanOut = createFanOut({ state, clock: systemClock, log: silentLog });
  const runner = createLinkRunner(link, {
    outlet: fanOut.attachOutlet("mqtt", { changes: 1_000, events: 1_000, perTurn: 100 }),
    backoff: { baseMs: 10, capMs: 50 },
    writeTimeoutMs: 30_000,
    drainMs: 1_000,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
  });
  const stopping = new AbortController();
  const run = runner.run(stopping.signal, () => {});
  cleanups.push(() => {
    stopping.abort();
    return run;
  });
  const [atFirst, atSecond] = await Promise.all([listen(first.url), listen(second.url)]);
  cleanups.push(() => atSecond.client.endAsync(true));
  fanOut.offer(state.apply(missionEvent("r1", ["m1:RUNNING"])));
  await atFirst.on("robots/r1/mission");
  await first.close();
  fanOut.offer(events("e1", "e2"));
  await atSecond.on("robots/r1/mission");
  await atSecond.receive(({ text }) => text.includes('"e2"'));

  const again = await startFirst();
  const back = await listen(again.url);
  cleanups.push(() => back.client.endAsync(true));
  await findFirst();
  clock.advance(60_000);
  fanOut.offer(events("e3"));
  await back.on("status", ({ text }) => text.includes('"online"'));
  await back.on("robots/r1/mission");
  await expect
    .poll(() => [...atSecond.received, ...back.received].some(({ text }) => text.includes('"e3"')))
    .toBe(true);
  await atSecond.on("status", ({ text }) => text.includes('"offline"'));
  expect(runner.health()).toMatchObject({ state: "up", figures: { connects: 3, connectionsLost: 1 } });
});

it("names every broker where none can be reached", async () => {
  await second.close();
  await expect(link.connect(never)).rejects.toThrow(
    /mqtt\.broker \(.*nothing listens there.*; .*mqtt\.fallbackBrokers\[0\] \(.*nothing listens there/,
  );
  expect(link.health().state).toBe("down");
});
