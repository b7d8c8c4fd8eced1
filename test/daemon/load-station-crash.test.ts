import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { faultKinds } from "../e2e/load-station/station-faults.ts";
import { createStationLine, type LineTime } from "../e2e/load-station/station-line.ts";
import { createStationPlant } from "../e2e/load-station/station-plant.ts";
import { describe as described, runVisits } from "../e2e/load-station/station-run.ts";
import {
  CONFIRM_WAIT_MS,
  NEXT_NUMBER,
  stationScenario,
  stationSections,
} from "../e2e/load-station/station-world.ts";
import { freePorts } from "../support/free-ports.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { READY, startDaemon, writeConfiguration } from "./daemon.ts";

/**
 * How many loads and unloads; without a number it does not run, for each kill of the gateway takes seconds:
 * `LOAD_STATION_VISITS=200 npx vitest run test/daemon/load-station-crash.test.ts`.
 */
const VISITS = Number(process.env.LOAD_STATION_VISITS ?? 0);
const SEED = Number(process.env.LOAD_STATION_SEED ?? 20_261_123);
/** One kind of fault, by a part of its name; without it, all of them in turn. */
const KIND = process.env.LOAD_STATION_KIND ?? "";

const HEARTBEAT_MS = 2_000;
const CYCLE_MS = 50;
const MOVE_MS = 600;
const constants = {
  LinkTime: 1_000,
  OwnTime: 2_000,
  RollTime: 5_000,
  MoveTime: 5_000,
  StopTime: 8_000,
  LeaseTime: 60_000,
  GoOn: NEXT_NUMBER,
};
/** The machine that runs this may be busy: longer than a command takes on one that is not. */
const COMMAND_MS = 2_500;
const bounds = {
  linkMs: constants.LinkTime,
  ownMs: constants.OwnTime,
  moveMs: constants.MoveTime,
  heartbeatMs: HEARTBEAT_MS,
  confirmMs: CONFIRM_WAIT_MS,
  commandMs: COMMAND_MS,
  lookMs: 1_000,
};

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const time: LineTime = {
  nowMs: () => performance.now(),
  pass: (durationMs) =>
    new Promise((resolve) => {
      setTimeout(resolve, durationMs);
    }),
};

test.runIf(VISITS > 0)(
  `${VISITS} loads and unloads through kills of the gateway and losses of power (seed ${SEED})`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-load-crash-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const simulator = await startSimulator({ scenario: { kind: "given", scenario: stationScenario() } });
    cleanups.push(() => simulator.stop());
    const broker = await startPlantBroker();
    cleanups.push(() => broker.close());
    const port = await freePorts(1);
    const { stations, opcua } = stationSections(HEARTBEAT_MS);
    const config = await writeConfiguration(
      folder,
      "load",
      simulator.endpoints,
      Object.keys(opcua.robots),
      broker.url,
      {
        opcua: {
          listen: { host: "127.0.0.1", port },
          insecureLoopback: { role: "operator" },
          ...opcua,
        },
        stations,
      },
    );
    let daemon = startDaemon(config);
    cleanups.push(() => daemon.kill());
    await daemon.says(READY);

    const control = () => simulator.control;
    const plant = createStationPlant(control, time.nowMs, MOVE_MS);
    const url = () => `opc.tcp://localhost:${port}`;
    const line = createStationLine({ plant, time, cycleMs: CYCLE_MS, url, constants });
    cleanups.push(() => line.close());
    async function restartGateway(): Promise<void> {
      await daemon.kill();
      daemon = startDaemon(config);
      let isUp = false;
      const ready = daemon.says(READY).finally(() => {
        isUp = true;
      });
      while (!isUp) await line.cycle();
      await ready;
    }
    const random = seededRandom(SEED);
    const report = await runVisits({
      line,
      plant,
      control,
      time,
      visits: VISITS,
      kinds: faultKinds.filter(({ name }) => name.includes(KIND)),
      bounds,
      restartGateway,
      random,
    });
    if (process.env.LOAD_STATION_FIGURES !== undefined) process.stderr.write(`${described(report)}\n`);
    expect(report.broken).toEqual([]);
    const none = report.kinds.get("none");
    expect(none?.served).toBe(none?.visits);
  },
  120_000 + VISITS * 30_000,
);
