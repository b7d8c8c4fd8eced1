import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, test } from "vitest";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { endMosquitto, haveMosquitto, runMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { freePorts } from "../support/free-ports.ts";
import { startRecordingRelay } from "../support/recording-relay.ts";
import { CALM_MS, makeFolder, startOutboxScene } from "./outbox-harness.ts";

/** By hand: `OUTBOX_ROUNDS=50 OUTBOX_STOP_MS=60000 npx vitest run test/daemon/outbox-crash.test.ts`. */
const ROUNDS = Number(process.env.OUTBOX_ROUNDS ?? 5);
const SEED = Number(process.env.OUTBOX_SEED ?? 20_261_123);
/** How long a broker is stopped: it keeps its connections, and answers nothing. */
const STOP_MS = Number(process.env.OUTBOX_STOP_MS ?? 1_500);
/** How long a broker is away at most. */
const MOST_AWAY_MS = 3_000;
const TEST_MS = 120_000 + ROUNDS * (20_000 + STOP_MS);

const kinds = [
  "broker restarts",
  "broker killed",
  "broker stopped",
  "gateway killed",
  "both killed",
] as const;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A mosquitto that keeps its port over its ends. */
async function createBroker(folder: string) {
  const port = await freePorts(1);
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const configuration = `listener ${port} 127.0.0.1\nset_tcp_nodelay true\nallow_anonymous true\n`;
    child = await runMosquitto(join(folder, "mosquitto.conf"), configuration);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = null;
    if (ending !== null) await endMosquitto(ending, signal);
  }

  await start();
  cleanups.push(() => end("SIGKILL"));
  return { port, start, end, signal: (signal: NodeJS.Signals) => void child?.kill(signal) };
}

test.runIf(haveMosquitto)(
  `brokers and gateways end at random points (seed ${SEED}): every event arrives, in order, once`,
  async () => {
    const random = seededRandom(SEED);
    const folder = await makeFolder(cleanups);
    const broker = await createBroker(folder);
    const relay = await startRecordingRelay(broker.port, (topic) => topic.includes("/event/"));
    cleanups.push(relay.close);
    const place = { broker: `mqtt://127.0.0.1:${relay.port}`, port: broker.port };
    const scene = await startOutboxScene(place, folder, random, cleanups);

    for (let round = 0; round < ROUNDS; round += 1) {
      const kind = kinds[round < kinds.length ? round : Math.floor(random() * kinds.length)];
      // Real time: any moment is to be met.
      await wait(CALM_MS + random() * 1_000);
      if (kind === "broker restarts") await broker.end("SIGTERM");
      else if (kind === "broker stopped") broker.signal("SIGSTOP");
      else if (kind === "broker killed" || kind === "both killed") await broker.end("SIGKILL");
      if (kind === "gateway killed" || kind === "both killed") await scene.restartGateway("killed");
      if (kind === "gateway killed") continue;
      await wait(kind === "broker stopped" ? STOP_MS : MOST_AWAY_MS * random());
      if (kind === "broker stopped") broker.signal("SIGCONT");
      else await broker.start();
    }
    await wait(CALM_MS);
    await scene.evaluate(relay.published);
  },
  TEST_MS,
);
