import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { defaultFleetTimes, type FleetTimes } from "../../src/fleet/options.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import type { Endpoints } from "../../src/simulator/simulator.ts";
import { createFleetState, type FleetState } from "../../src/state/fleet-state.ts";
import { endPrograms, fleetgate, newFolder, type Program } from "../cli/program.ts";
import { type FleetHarness, startFleetSession } from "../support/fleet-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { createPatientClock } from "../support/patient-clock.ts";
import { startSimulator } from "../support/simulator.ts";
import { type Hang, openHungWire } from "./hung-wire.ts";

/** The product's own waits, and a silence that a test can sit out. */
const { connectMs, backoffCapMs } = defaultFleetTimes;
const times: Partial<FleetTimes> = {
  streamSilenceMs: 1_500,
  resyncMs: 20_000,
  // The first wait may be as long as the last.
  backoffBaseMs: backoffCapMs,
};
/** After whatever failed, the longest wait that full jitter may give. */
const unlucky = () => 0.999;
const RECOVERY_MS = Math.max(connectMs, backoffCapMs) + 2_000;
const TEST_MS = 60_000;

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Plant {
  readonly harness: FleetHarness;
  readonly isGood: () => boolean;
  /** Resolves when every robot is good, with the milliseconds that it took while this process could run. */
  recovered(): Promise<number>;
}

/** A session with the fleet state behind it, every robot good. */
async function openPlant(endpoints: Endpoints): Promise<Plant> {
  const state: FleetState = createFleetState({
    times: { streamSilenceMs: 1_500, resyncMs: 20_000, holdMs: 300_000 },
    maxRobots: 100,
    maxTaskChains: 100,
    sessionId: "s1",
    clock: systemClock,
    log: silentLog,
  });
  const harness = await startFleetSession(endpoints, {
    times,
    random: unlucky,
    onEvent: (event) => void state.apply(event),
  });
  closers.push(() => harness.stop());
  const robots = () => state.robots();
  const isGood = () => {
    const known = robots();
    const conveyors = state.snapshot().filter((change) => change.kind === "conveyor");
    const presences = state.snapshot().filter((change) => change.kind === "presence");
    return (
      known.length >= 6 &&
      known.every(({ quality }) => quality === "good") &&
      conveyors.length > 0 &&
      presences.length === known.length &&
      presences.every(({ observed }) => observed.quality === "good")
    );
  };
  await harness.until("every robot is good", isGood);
  return {
    harness,
    isGood,
    async recovered() {
      const clock = createPatientClock();
      closers.push(async () => clock.close());
      await harness.until("every robot is good again", isGood);
      return clock.monotonicMs();
    },
  };
}

const isDown = (plant: Plant) =>
  plant.harness.until("the link is down", () => plant.harness.figure("streams_open") === 0);

describe("every robot is good again within the backoff cap + 2 s of a service that hung and answers again", () => {
  test.each<Hang>(["kept", "lost"])(
    "what was sent meanwhile is %s",
    async (how) => {
      const simulator = await startSimulator();
      closers.push(() => simulator.stop());
      const { endpoints } = simulator;
      const grpc = await openHungWire(endpoints.grpc);
      const https = await openHungWire(new URL(endpoints.https).host);
      closers.push(
        () => grpc.close(),
        () => https.close(),
      );
      const plant = await openPlant({ ...endpoints, grpc: grpc.address, https: `https://${https.address}` });
      grpc.hang(how);
      https.hang(how);
      await isDown(plant);
      // The worst moment: an attempt has just begun that nobody will ever answer.
      const before = grpc.accepted();
      await plant.harness.until("another attempt began", () => grpc.accepted() > before);
      expect(plant.isGood()).toBe(false);
      grpc.goOn();
      https.goOn();
      expect(await plant.recovered()).toBeLessThan(RECOVERY_MS);
    },
    TEST_MS,
  );

  test.each([1_200, 4_000])(
    "a process that was stopped for %i ms",
    async (awayMs) => {
      closers.push(endPrograms);
      const folder = newFolder();
      const basePort = String(await freePorts(2));
      const program = fleetgate(folder, "simulate", "--json", "--base-port", basePort);
      const plant = await openPlant(await endpointsOf(program));
      program.send("SIGSTOP");
      // The time away is what the case is about, and passes for two processes.
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      program.send("SIGCONT");
      expect(await plant.recovered()).toBeLessThan(RECOVERY_MS);
    },
    TEST_MS,
  );
});

/** What `simulate --json` prints when it is ready. */
async function endpointsOf(program: Program): Promise<Endpoints> {
  const line = await program.out.first("the ready line", () => true);
  const { fleet } = JSON.parse(line) as { fleet: Endpoints };
  await readFile(fleet.ca);
  return fleet;
}
