import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { haveMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { findDefects } from "../support/sparkplug/check.ts";
import { countOf, differences, groupId, isOfType, nodeId, startSparkplugPlant } from "./sparkplug-harness.ts";

/** By hand, with MQTT 3.1.1 too: `SPARKPLUG_ROUNDS=10 npx vitest run test/daemon/sparkplug.test.ts`. */
const ROUNDS = Number(process.env.SPARKPLUG_ROUNDS ?? 1);
/** Requests for births, five a second. */
const REQUESTS = 60;
const PACE_MS = 10_000;
/** On a busy machine an answer may take its time. */
const GRACE_MS = 4_000;
const WAIT_MS = 60_000;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test.runIf(haveMosquitto).for(ROUNDS === 1 ? ([5] as const) : ([4, 5] as const))(
  "a gateway keeps to the standard over faults and rebirths, and a host knows what is true: MQTT version %i",
  { timeout: 120_000 + ROUNDS * 240_000 },
  async (protocolVersion) => {
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-sparkplug-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const plant = await startSparkplugPlant(folder, protocolVersion, cleanups);
    const { recording, simulator, primaryHost } = plant;
    const until = (holds: () => boolean, what: string) =>
      vi.waitFor(() => expect(holds(), what).toBe(true), { timeout: WAIT_MS, interval: 50 });
    const births = () => countOf(recording, "NBIRTH");

    const disconnects = () => recording.events.filter(({ kind }) => kind === "disconnect").length;

    /** Resolves when the edge node is born once more. */
    async function born(after: () => Promise<unknown>): Promise<void> {
      const before = births();
      await after();
      await until(() => births() > before, "a birth of the node");
    }

    let stateMs = Date.now();
    const online = () => plant.publishState(true, ++stateMs);
    expect(births(), "births wait for the host").toBe(0);
    await born(online);
    await until(() => countOf(recording, "DBIRTH") > 5, "births of robots");

    for (let round = 0; round < ROUNDS; round += 1) {
      for (let request = 0; request < REQUESTS; request += 1) {
        await plant.askRebirth();
        await wait(200);
      }
      const wrapped = recording.events.length;
      await until(
        () =>
          recording.events.slice(wrapped).some((event) => isSeq(event, 255)) &&
          recording.events.slice(wrapped).some((event) => isSeq(event, 0)),
        "a sequence that begins again",
      );
      await born(async () => {
        await plant.restartBroker(500);
        await online();
      });
      await born(plant.restartGateway);

      const deaths = countOf(recording, "NDEATH");
      await plant.publishState(false, stateMs - 1_000);
      await wait(GRACE_MS);
      expect(countOf(recording, "NDEATH"), "an older state ends nothing").toBe(deaths);
      const ends = disconnects();
      await plant.publishState(false, ++stateMs);
      await until(() => disconnects() > ends, "the edge node leaves");
      await wait(GRACE_MS);
      await born(online);
    }

    simulator.control.setLively("none");
    await vi.waitFor(() => expect(differences(plant.host(), simulator)).toEqual([]), {
      timeout: WAIT_MS,
      interval: 500,
    });
    expect(plant.host().gaps).toEqual([]);
    await plant.stopGateway();
    recording.end();
    const found = findDefects(recording.events, {
      ...{ groupId, nodeId, primaryHost, hasDeviceCommands: true },
      ...{ rebirthPaceMs: PACE_MS, graceMs: GRACE_MS },
    });
    expect(found).toEqual([]);
    expect(recording.events.some((event) => isOfType(event, "DDATA"))).toBe(true);
  },
);

function isSeq(event: Parameters<typeof isOfType>[0], seq: number): boolean {
  return event.kind === "publish" && event.message.payload?.seq === seq && event.message.type !== "NBIRTH";
}
