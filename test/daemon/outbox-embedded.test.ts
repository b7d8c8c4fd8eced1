import { setTimeout as wait } from "node:timers/promises";
import { afterEach, test } from "vitest";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { freePorts } from "../support/free-ports.ts";
import { CALM_MS, makeFolder, startOutboxScene } from "./outbox-harness.ts";
import { createOutboxSubscriber } from "./outbox-subscriber.ts";

/** By hand: `OUTBOX_ROUNDS=50 OUTBOX_STOP_MS=15000 npx vitest run test/daemon/outbox-embedded.test.ts`. */
const ROUNDS = Number(process.env.OUTBOX_ROUNDS ?? 3);
const SEED = Number(process.env.OUTBOX_SEED ?? 20_261_123);
/**
 * How long a client is stopped: it keeps its connection, and acknowledges nothing. After 10 s it is ended.
 */
const STOP_MS = Number(process.env.OUTBOX_STOP_MS ?? 1_000);
/** How long a client is away at most. */
const MOST_AWAY_MS = 2_000;
const TEST_MS = 120_000 + ROUNDS * (20_000 + STOP_MS);

const kinds = [
  "client killed",
  "gateway killed",
  "both killed",
  "gateway stopped",
  "client away",
  "client stopped",
  "client stopped, gateway killed",
  "gateway stopped, client away",
] as const;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test(
  `at the embedded broker, clients and gateways end at random points (seed ${SEED}): every event arrives, in order`,
  async () => {
    const random = seededRandom(SEED);
    const folder = await makeFolder(cleanups);
    const port = await freePorts(1);
    const section = { broker: "embedded", listen: { host: "127.0.0.1", port }, anonymousLoopback: true };
    const subscriber = createOutboxSubscriber(port, cleanups);
    // It subscribes before anything happens, so it misses nothing of the first run.
    const place = { broker: "embedded", port, sections: { mqtt: section }, ready: subscriber.come };
    const scene = await startOutboxScene(place, folder, random, cleanups);

    for (let round = 0; round < ROUNDS; round += 1) {
      const kind = kinds[round < kinds.length ? round : Math.floor(random() * kinds.length)];
      // Real time: any moment is to be met.
      await wait(CALM_MS + random() * 1_000);
      if (kind === "gateway killed") await scene.restartGateway("killed");
      else if (kind === "gateway stopped") await scene.restartGateway("stopped");
      else if (kind === "client stopped" || kind === "client stopped, gateway killed") {
        subscriber.stop();
        await wait(STOP_MS);
        if (kind === "client stopped, gateway killed") await scene.restartGateway("killed");
        subscriber.resume();
      } else {
        if (kind === "client killed" || kind === "both killed") subscriber.kill();
        else await subscriber.leave();
        if (kind === "both killed") await scene.restartGateway("killed");
        if (kind === "gateway stopped, client away") await scene.restartGateway("stopped");
        await wait(MOST_AWAY_MS * random());
        void subscriber.come();
      }
    }
    await wait(CALM_MS);
    await scene.evaluate(subscriber.taken);
  },
  TEST_MS,
);
