import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { contractScenario, createRobotPool } from "../contract/contract-harness.ts";
import { listenMqtt } from "../e2e/mqtt-ear.ts";
import { freePorts } from "../support/free-ports.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { mayMount, mountSmallDisk } from "../support/small-disk.ts";
import { createRoundClients, endedIn, newCommand, REPLY_MS, tokenOf } from "./crash-rounds-clients.ts";
import { type Asked, brokenEvents, brokenPromises, createRecordIndex } from "./crash-rounds-story.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";
import { createMischief, unhurriedRobots } from "./mischief.ts";
import { shiftedClock } from "./shifted-clock.ts";

/** What one life of the gateway meets. */
export interface Plan {
  /** How far its wall clock is ahead. */
  readonly aheadMs: number;
  /** It is killed while it starts. */
  readonly isEarly: boolean;
  /** It ends as systemd would end it, not by a kill. */
  readonly isOrderly: boolean;
  /** All its commands have their outcome when it ends. */
  readonly isCalm: boolean;
  /** From its last command, or the outcomes, to its end. */
  readonly dwellMs: number;
  /** New ones. */
  readonly commands: number;
  /** Before which of them the disk is full, and when it has room again; null: not in this life. */
  readonly fillAt: number | null;
  readonly freeAt: number | null;
}

const ROBOTS = 10;
/** Stays below what one client may have in flight. */
const IN_FLIGHT = 24;
/** Of what happens while commands are sent: something goes wrong, a command is sent again. */
const [MISCHIEF, REPEATED] = [0.06, 0.1] as const;
const AGAIN_MS = 50;
/** Of the gateway's log, in a report. */
const LOG_CHARACTERS = 4_000;

const hasMount = mayMount();
if (!hasMount) process.stderr.write("no file system can be mounted here: crash rounds without a full disk\n");

/** The service, the broker, the disk and the clients outlive the gateway. */
export interface RoundScene {
  readonly sent: readonly Asked[];
  readonly counts: { readonly kills: number; readonly ends: number; readonly fullDisks: number };
  isFull(): boolean;
  freeDisk(): Promise<void>;
  start(aheadMs: number): Promise<Daemon>;
  /** Resolves when this life takes commands for every robot. */
  ready(daemon: Daemon, life: number): Promise<void>;
  askAgain(some: readonly Asked[]): Promise<void>;
  /** Sends new commands, and some again. */
  sendSome(plan: Plan): Promise<void>;
  /** Resolves when everything that was asked is told. */
  settled(): Promise<void>;
  end(daemon: Daemon, how: Pick<Plan, "isOrderly">): Promise<void>;
  /** What of all that was told, and of what the broker was given, does not hold. */
  broken(): readonly string[];
  /** How many events of ended commands the broker was given. */
  endings(): number;
}

export async function openRoundScene(
  random: () => number,
  diskMegabytes: number,
  cleanups: Array<() => Promise<unknown>>,
): Promise<RoundScene> {
  const fresh = createRobotPool();
  const robots = Array.from({ length: ROBOTS }, () => fresh("base"));
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-rounds-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const disk = hasMount ? await mountSmallDisk(diskMegabytes) : null;
  if (disk !== null) cleanups.push(() => disk.unmount());
  const simulator = await startSimulator({
    scenario: { kind: "given", scenario: contractScenario() },
    ...unhurriedRobots,
  });
  cleanups.push(() => simulator.stop());
  const broker = await startPlantBroker();
  cleanups.push(() => broker.close());
  const ear = await listenMqtt(broker.url, "scada", "fleetgate/rounds");
  cleanups.push(() => ear.close());
  const port = await freePorts(1);
  const ids = robots.map(({ id }) => id);
  const config = await writeConfiguration(
    disk?.path ?? folder,
    "rounds",
    simulator.endpoints,
    ids,
    broker.url,
    sectionsOf(broker.url, port),
  );
  const mischief = createMischief(simulator, robots, random);
  const clients = createRoundClients(ear, `http://127.0.0.1:${port}`);
  const index = createRecordIndex(tokenOf);
  const sent: Asked[] = [];
  const counts = { kills: 0, ends: 0, fullDisks: 0 };
  let isFull = false;
  /** The life that answers, the promise of its end, what it said, and where its messages begin. */
  let life = 0;
  let over: Promise<null> = Promise.resolve(null);
  let said = () => "";
  let from = 0;

  /** Asks until it is told, or the gateway has ended. */
  async function ask(asked: Asked): Promise<void> {
    const untilMs = performance.now() + REPLY_MS;
    let answer: "told" | "again" | null = "again";
    while (answer === "again" && performance.now() < untilMs) {
      answer = await Promise.race([clients.ask(asked, life), over]).catch(() => "again" as const);
      // A gateway that ends takes no connections any more.
      if (answer === "again") await wait(AGAIN_MS);
    }
    if (answer !== "again") return;
    const log = said().slice(-LOG_CHARACTERS);
    throw new Error(`no reply to ${asked.id} by ${asked.protocol}, life ${life}, full: ${isFull}: ${log}`);
  }

  const asking = createBoundedWork(IN_FLIGHT, ask);

  function oneOf<T>(list: readonly T[]): T {
    const found = list[Math.floor(random() * list.length)];
    if (found === undefined) throw new Error("there is nothing to choose from");
    return found;
  }

  async function freeDisk(): Promise<void> {
    await disk?.free();
    isFull = false;
  }

  return {
    sent,
    counts,
    isFull: () => isFull,
    freeDisk,
    async start(aheadMs) {
      from = ear.received.entries.length;
      const daemon = startDaemon(config, await shiftedClock(folder, aheadMs));
      cleanups.push(() => daemon.kill());
      over = daemon.ended.then(() => null);
      said = daemon.said;
      return daemon;
    },
    async ready(daemon, number) {
      await daemon.says(READY);
      const good = ids.map((id) => ear.on(`robots/${id}/availability`, (text) => text === "good", from));
      await Promise.all(good).catch((cause: unknown) => {
        throw new Error(`the gateway did not come up: ${daemon.said().slice(-LOG_CHARACTERS)}`, { cause });
      });
      // Replies of the life before have arrived long ago.
      clients.collect(sent, life);
      life = number;
    },
    async askAgain(some) {
      for (const asked of some) await asking.add(asked);
      await asking.settled();
    },
    async sendSome({ commands, fillAt, freeAt }) {
      for (let number = 0; number < commands; number += 1) {
        if (number === fillAt && disk !== null) {
          disk.fill();
          isFull = true;
          counts.fullDisks += 1;
        }
        if (number === freeAt) await freeDisk();
        if (random() < MISCHIEF) mischief.strike();
        if (random() < REPEATED && sent.length > 0) await asking.add(oneOf(sent));
        const asked = newCommand(sent.length + 1, oneOf(robots), random);
        sent.push(asked);
        await asking.add(asked);
      }
    },
    settled: asking.settled,
    async end(daemon, { isOrderly }) {
      if (isOrderly) await endInTime(daemon);
      else await daemon.kill();
      counts[isOrderly ? "ends" : "kills"] += 1;
      await asking.settled();
      index.add(simulator.control.record(index.lastSeq()));
    },
    broken() {
      clients.collect(sent, life);
      index.add(simulator.control.record(index.lastSeq()));
      const ended = endedIn(ear);
      return sent.flatMap((asked) => [
        ...brokenPromises(asked, index.of(asked.token)),
        ...brokenEvents(asked, ended.get(asked.id) ?? []),
      ]);
    },
    endings: () => [...endedIn(ear).values()].flat().length,
  };
}

/** Commands of anybody, by MQTT and by HTTP, as many as come. */
function sectionsOf(brokerUrl: string, port: number) {
  const clientRate = { perSecond: 10_000, burst: 100_000 };
  return {
    mqtt: {
      broker: brokerUrl,
      protocolVersion: 4,
      commands: { brokerEnforcesClientNames: true, clientRate },
    },
    web: { listen: { host: "127.0.0.1", port } },
    rights: ["mqtt", "web"].map((protocol) => ({ source: { protocol, name: "*" }, role: "engineer" })),
  };
}

async function endInTime(daemon: Daemon): Promise<void> {
  const late = wait(REPLY_MS, "late" as const, { ref: false });
  if ((await Promise.race([daemon.stop(), late])) === "late")
    throw new Error(`it did not end by SIGTERM: ${daemon.said().slice(-LOG_CHARACTERS)}`);
}

/** Does work on items, so many at once. */
function createBoundedWork<T>(most: number, work: (item: T) => Promise<void>) {
  const running = new Set<Promise<void>>();
  return {
    /** Resolves when there is room for one more. Rejects when some of the work has failed. */
    async add(item: T): Promise<void> {
      while (running.size >= most) await Promise.race(running);
      const one = work(item).then(() => {
        running.delete(one);
      });
      one.catch(() => {});
      running.add(one);
    },
    async settled(): Promise<void> {
      await Promise.all(running);
    },
  };
}
