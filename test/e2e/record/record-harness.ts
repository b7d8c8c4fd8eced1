import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IPublishPacket } from "mqtt-packet";
import { stringify } from "yaml";
import { createGateway } from "../../../src/composition/gateway.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { ReloadResult } from "../../../src/contracts/reload.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { createLog } from "../../../src/platform/log.ts";
import { seededRandom } from "../../../src/simulator/world/random.ts";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { startLimitedBroker } from "../../northbound/mqtt/limited-broker.ts";
import { createChronicle } from "../../support/chronicle.ts";
import { freePorts } from "../../support/free-ports.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { fleetSection, type RunningSimulator, startSimulator } from "../../support/simulator.ts";
import { configuration, recordScenario } from "./plant.ts";

/** A gateway, its fleet service and the plant's broker in this process. Their clock stands still. */
export interface RecordHarness {
  readonly simulator: RunningSimulator;
  /** What the gateway has published, in order. */
  readonly published: readonly IPublishPacket[];
  readonly configPath: string;
  readonly socketPath: string;
  readonly webUrl: string;
  readonly folder: string;
  /** Publishes under the base as the client `scada`, and waits for the reply to its id. */
  send(topic: string, message: { readonly id: string; readonly [field: string]: unknown }): Promise<string>;
  /** Lets so much time pass, in steps, each of which has travelled to the broker before the next. */
  pass(durationMs: number): Promise<void>;
  /** Waits for a message on a topic under the base, and then until nothing is under way. */
  untilPublished(topic: string, is: (text: string) => boolean): Promise<void>;
  /** Waits, while time stands still. */
  until(is: () => boolean): Promise<void>;
  reload(changes: Readonly<Record<string, unknown>>): Promise<ReloadResult>;
  audit(): Promise<string>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

export const BASE = "fleetgate/record";
const SEED = 7;
/** How long the service waits for a robot. */
const CONFIRM_WAIT_MS = 2_000;
const STEP_MS = 1_000;
/** So many round trips without a message in between: nothing is under way. */
const QUIET_ROUNDS = 10;

export async function openRecordHarness(): Promise<RecordHarness> {
  const clock = createManualClock(Date.now());
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-record-"));
  const simulator = await startSimulator({
    dataDir: join(folder, "fleet"),
    scenario: { kind: "given", scenario: recordScenario() },
    seed: SEED,
    confirmWaitMs: CONFIRM_WAIT_MS,
    clock,
    random: seededRandom(SEED),
  });
  const broker = await startLimitedBroker({});
  const port = await freePorts(2);
  const configPath = join(folder, "fleetgate.yaml");
  const fleet = fleetSection(simulator.endpoints);
  const write = (changes: Readonly<Record<string, unknown>>) =>
    writeFile(configPath, stringify({ ...configuration(fleet, broker.url, port), ...changes }), {
      mode: 0o600,
    });
  await write({});
  const read = () => loadConfig(configPath, {}, createCatalogue(), Date.now());
  const loaded = await read();
  if (!loaded.ok) throw new Error(`the configuration is wrong: ${JSON.stringify(loaded.problems)}`);
  const lines = createChronicle<string>((line) => line);
  const log = createLog("info", { write: (line: string) => lines.add(line) });
  const gateway = createGateway(loaded.config, {
    clock,
    random: seededRandom(SEED),
    log,
    logLevels: log.levels,
    configuration: { settings: loaded.settings, read },
  });
  const stopping = new AbortController();
  let run: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    run = gateway.run(stopping.signal, resolve);
    run.catch(reject);
  });
  const webUrl = `http://127.0.0.1:${port + 1}`;

  const client = await simulator.client();

  /** From the service to a client, and from the gateway to another. */
  async function roundTrip(): Promise<void> {
    await client.call(FleetService.method.getConveyorIndex, { robotId: "cart-01" });
    await (await fetch(`${webUrl}/healthz`)).text();
  }
  const isHandedOver = () =>
    Object.entries(gateway.health().queues?.figures ?? {}).every(
      ([figure, value]) => !figure.endsWith("Queued") || value === 0,
    );
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_ROUNDS; quiet += 1) {
      const before = broker.published.length;
      await roundTrip();
      if (broker.published.length !== before || !isHandedOver()) quiet = -1;
    }
  }
  return {
    simulator,
    published: broker.published,
    configPath,
    socketPath: join(folder, "gateway", "control.sock"),
    webUrl,
    folder,
    async send(topic, message) {
      broker.say(`${BASE}/clients/scada/${topic}`, JSON.stringify(message));
      const reply = await broker.received(
        ({ topic: on }) => on === `${BASE}/clients/scada/reply/${message.id}`,
      );
      await settle();
      return reply.payload.toString();
    },
    async pass(durationMs) {
      for (let passedMs = 0; passedMs < durationMs; passedMs += STEP_MS) {
        clock.advance(STEP_MS);
        await roundTrip();
        // A disk that is slow takes no time of the story.
        while (!isHandedOver()) await roundTrip();
      }
      await settle();
    },
    async untilPublished(topic, is) {
      await broker.received((packet) => packet.topic === `${BASE}/${topic}` && is(packet.payload.toString()));
      await settle();
    },
    async until(is) {
      while (!is()) await roundTrip();
    },
    async reload(changes) {
      await write(changes);
      const result = await gateway.reload("cli:record");
      await settle();
      return result;
    },
    audit: () => readFile(join(folder, "gateway", "audit", "audit.jsonl"), "utf8"),
    async stop() {
      stopping.abort();
      await run;
    },
    async close() {
      await broker.close();
      await simulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
