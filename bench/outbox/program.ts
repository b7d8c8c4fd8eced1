// The outbox, its link and a broker of another process: what the way of an event costs, from the fan-out to
// the broker's acknowledgement. Prints its figures as one message.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createFanOut } from "../../src/delivery/fan-out.ts";
import { createLinkRunner } from "../../src/delivery/link-runner.ts";
import { openEventLog } from "../../src/delivery/outbox/event-log.ts";
import { type Outbox, openOutbox } from "../../src/delivery/outbox/outbox.ts";
import { outboxFormat } from "../../src/delivery/outbox/records.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import { createCommandMessages } from "../../src/northbound/mqtt/commands.ts";
import { createDuplicateWatch } from "../../src/northbound/mqtt/duplicate-gateway.ts";
import { createMqttLink } from "../../src/northbound/mqtt/link.ts";
import type { MqttOptions } from "../../src/northbound/mqtt/options.ts";
import { createTopicRecords } from "../../src/northbound/mqtt/published-topics.ts";
import { createOwnTopics } from "../../src/northbound/mqtt/status.ts";
import { underBase } from "../../src/northbound/mqtt/topic-templates.ts";
import { createTopics } from "../../src/northbound/mqtt/topics.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { processHeap } from "../../src/platform/heap-return.ts";
import { createLive } from "../../src/platform/live.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createRunningTime } from "../../src/platform/running-time.ts";
import { openKeptStore, prepareStore } from "../../src/platform/stores/kept-store.ts";
import { quantile } from "../quantile.ts";
import { pause, until } from "../section-run.ts";
import { noCommands } from "./no-commands.ts";
import type { OutboxFigures, OutboxRequest } from "./protocol.ts";

const request = JSON.parse(process.argv[2] ?? "") as OutboxRequest;
const ROBOTS = 1_000;
const BURST = 20_000;
const DRAIN = 10_000;
const BOUND = 100_000;
const OUTAGE = request.quick ? 200_000 : 1_000_000;
const WARM = request.quick ? 120_000 : 300_000;
/** So many events in each turn of a timer. */
const STEP_MS = 10;
const A_STEP = (BURST * STEP_MS) / 1_000;
const COLLECTED = 10 * BURST;
const TIMEOUT_MS = 120_000;
const STATES = ["STATE_DEFAULT", "STATE_RUNNING", "STATE_SUCCEEDED"] as const;
const QUEUE = { changes: 1_000, events: BOUND, perTurn: 500 };

const { collect } = processHeap();

let count = 0;
/** As the gateway has them: one text for each robot, and for each mission. */
const robotIds = Array.from({ length: ROBOTS }, (_, robot) => `robot-${String(robot).padStart(6, "0")}`);
const missionIds = robotIds.map(() => "");
function nextEvent(): FleetEvent {
  const robot = count % ROBOTS;
  const turn = Math.floor(count / ROBOTS);
  const robotId = robotIds[robot] ?? "";
  count += 1;
  if (turn % STATES.length === 0)
    missionIds[robot] = `4c0a3a50-7d3c-4f6e-9d53-${String(robot).padStart(6, "0")}${turn / STATES.length}`;
  return {
    kind: "mission",
    // With toFixed, for the reason of `eventKey`: the gateway makes these of hashes.
    eventId: `b1946ac92492d2347c6235${count.toFixed()}`,
    robotId,
    atMs: Date.now(),
    missionId: missionIds[robot] ?? "",
    from: turn % STATES.length === 0 ? null : (STATES[(turn - 1) % STATES.length] ?? null),
    to: STATES[turn % STATES.length] ?? "STATE_DEFAULT",
    owner: "api",
    command: null,
  };
}

function linkOptions(name: string): MqttOptions {
  return {
    broker: {
      kind: "external",
      url: `mqtt://127.0.0.1:${request.mqttPort}`,
      setting: "mqtt.broker",
      fallbacks: [],
      returnMs: 60_000,
      username: null,
      password: null,
      tls: createLive({ ca: null, clientCert: null }),
      tlsPaths: createLive({ ca: null, cert: null, key: null }),
    },
    protocolVersion: 4,
    base: `bench/${name}`,
    gatewayId: name,
    clientId: name,
    placement: createLive(underBase),
    stateQos: 0,
    refreshMs: 60_000,
    tags: false,
    commands: { enabled: false, brokerEnforcesClientNames: false, requireExpiry: true },
  };
}

/** A link to the broker, and the events that wait for it: on the disk, or in memory. */
async function open(name: string, isStored: boolean) {
  const folder = join(request.folder, name);
  let outbox: Outbox | undefined;
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  if (isStored) {
    await prepareStore(folder, outboxFormat, {
      isExpected: false,
      mustBeConfirmed: false,
      nowMs: Date.now(),
    });
    const options = { maxEvents: BOUND, maxAgeMs: 3_600_000, replayRate: 10_000 };
    const store = openKeptStore(folder, outboxFormat);
    const time = createRunningTime(0, systemClock);
    const parts = { options, store, sessionId: name, clock: systemClock, time, log: silentLog };
    outbox = await openOutbox({ ...parts, eventLog: openEventLog(folder) });
    running.push(outbox.run(stop.signal, () => {}));
  }
  const state = { snapshot: () => [], current: <Change>(change: Change) => change };
  const fanOut = createFanOut({ state, clock: systemClock, log: silentLog });
  const outlet = fanOut.attachOutlet("mqtt", QUEUE, outbox);
  const options = linkOptions(name);
  const { gatewayId } = options;
  const topics = createTopics(options.base);
  const ofRun = {
    sessionId: name,
    stopping: new AbortController().signal,
    clock: systemClock,
    log: silentLog,
  };
  const ownTopics = createOwnTopics(gatewayId, topics, { ...ofRun, health: () => ({}) });
  const { noteStatus } = ownTopics;
  const link = createMqttLink(options, topics, {
    run: { sessionId: name, builtAt: null },
    ownBroker: null,
    ownTopics,
    commands: createCommandMessages({ ...noCommands, options, topics, clock: systemClock, log: silentLog }),
    duplicates: createDuplicateWatch(topics.status, gatewayId, { ...ofRun, noteStatus, onDuplicate() {} }),
    records: createTopicRecords(null, topics.taskChainFilter, name),
    clock: systemClock,
    log: silentLog,
  });
  const runner = createLinkRunner(link, {
    outlet,
    backoff: { baseMs: 20, capMs: 200 },
    writeTimeoutMs: 30_000,
    drainMs: 1_000,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
  });
  let disconnect = new AbortController();
  return {
    folder,
    outbox,
    offer: (events: readonly FleetEvent[]) => fanOut.offer({ changes: [], events }),
    async connect() {
      disconnect = new AbortController();
      running.push(runner.run(disconnect.signal, () => {}));
      await until("a connection", () => runner.health().state === "up", TIMEOUT_MS);
    },
    isEmpty: () => outlet.eventsQueued() === 0,
    dropped: () => outlet.figures().eventsDropped ?? 0,
    sent: () => link.health().figures?.eventMessages ?? 0,
    async close() {
      disconnect.abort();
      await running.at(-1);
      stop.abort();
      await Promise.all(running);
    },
  };
}

type Way = Awaited<ReturnType<typeof open>>;

/** Offers events at the burst's rate, and calls `look` about once a second. */
async function offer(way: Way, events: number, look: (offered: number) => void = () => {}): Promise<void> {
  const startedMs = performance.now();
  for (let offered = 0; offered < events; offered += A_STEP) {
    way.offer(Array.from({ length: A_STEP }, nextEvent));
    if (offered % BURST === 0) look(offered);
    const aheadMs = ((offered + A_STEP) / A_STEP) * STEP_MS - (performance.now() - startedMs);
    // Also when it is late: what the disk and the broker say is read in between.
    await pause(Math.max(0, aheadMs));
  }
}

async function cpuUsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function burst(way: Way): Promise<{ readonly seconds: number; readonly cpuUs: number }> {
  const startedMs = performance.now();
  let seconds = 0;
  const cpuUs = await cpuUsOf(async () => {
    await offer(way, BURST);
    await until("the burst with the broker", way.isEmpty, TIMEOUT_MS);
    seconds = (performance.now() - startedMs) / 1_000;
    // Until what has arrived has left the disk.
    await pause(300);
  });
  return { seconds, cpuUs: cpuUs / BURST };
}

/** How long single events take until the broker has acknowledged them, at rest. */
async function arrivedMs(way: Way): Promise<readonly number[]> {
  const took: number[] = [];
  for (let time = 0; time < 100; time += 1) {
    const startedMs = performance.now();
    way.offer([nextEvent()]);
    await until("an event with the broker", way.isEmpty, TIMEOUT_MS, 1);
    took.push(performance.now() - startedMs);
    await pause(150);
  }
  return took;
}

function rssAnonMb(): number {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_000;
}

async function outage(way: Way): Promise<OutboxFigures["outage"]> {
  const rss: number[] = [];
  const used: number[] = [];
  const before = way.sent();
  const cpuUs = await cpuUsOf(() =>
    offer(way, OUTAGE, (offered) => {
      if (offered < WARM) return;
      rss.push(rssAnonMb());
      // Rarely: a collection would also take what RssAnon is looked at for.
      if ((offered - WARM) % COLLECTED !== 0) return;
      collect();
      used.push(process.memoryUsage().heapUsed / 1_000_000);
    }),
  );
  const dropped = way.dropped();
  let told = 0;
  const { outbox } = way;
  if (outbox === undefined) throw new Error("an outage needs the outbox");
  const peek = outbox.peek.bind(outbox);
  outbox.peek = (most) => {
    const held = peek(most);
    for (const { event } of held) if (event.kind === "dropped") told += event.count;
    return held;
  };
  await way.connect();
  await until("all that waited with the broker", way.isEmpty, TIMEOUT_MS);
  return {
    events: OUTAGE,
    bound: BOUND,
    dropped,
    told,
    // The events that tell of drops are messages too: one a robot.
    arrived: way.sent() - before - ROBOTS,
    cpuUs: cpuUs / OUTAGE,
    rssAnonMb: { warm: rss[0] ?? 0, least: Math.min(...rss), most: Math.max(...rss) },
    heapUsedMb: { least: Math.min(...used), most: Math.max(...used) },
    fileMb: statSync(join(way.folder, "data.mdb")).size / 1_000_000,
  };
}

async function measure(): Promise<OutboxFigures> {
  const memory = await open("memory", false);
  await memory.connect();
  await burst(memory);
  const inMemory = await burst(memory);
  await memory.close();

  const stored = await open("burst", true);
  await stored.connect();
  await burst(stored);
  const onDisk = await burst(stored);
  const arrived = await arrivedMs(stored);
  await stored.close();

  const waiting = await open("drain", true);
  await offer(waiting, DRAIN);
  await pause(500);
  const startedMs = performance.now();
  await waiting.connect();
  await until("what waited with the broker", waiting.isEmpty, TIMEOUT_MS);
  const seconds = (performance.now() - startedMs) / 1_000;
  await waiting.close();

  const out = await open("outage", true);
  const found = await outage(out);
  await out.close();
  return {
    burst: {
      events: BURST,
      arrivedP99Ms: quantile(arrived, 0.99),
      ...onDisk,
      memoryCpuUs: inMemory.cpuUs,
    },
    drain: { events: DRAIN, seconds },
    outage: found,
  };
}

process.send?.(await measure());
