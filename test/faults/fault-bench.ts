import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { FleetTimes } from "../../src/fleet/options.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { type FleetRig, type RigOverrides, startFleetSession } from "../support/fleet-rig.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { heldBy, truthOf } from "./truth.ts";

/** A simulated service, a wire to its gRPC port, and sessions that go over it. */
export interface FaultBench {
  simulator(): RunningSimulator;
  readonly wire: TcpProxy;
  /** Starts a session over the wire and waits until it holds the service's own state. */
  start(overrides?: RigOverrides): Promise<FleetRig>;
  /** Starts one without waiting. */
  startUnsettled(overrides?: RigOverrides): Promise<FleetRig>;
  /** Waits until what was told downstream equals the service's own state. */
  settled(rig: FleetRig): Promise<void>;
  /** Ends the service, and starts another with the same keys and ports. */
  replaceService(overrides?: Partial<SimulatorOptions>): Promise<void>;
  stopService(): Promise<void>;
  /** Ends everything, and checks that nothing is left of it. */
  close(): Promise<void>;
}

/** Times at which faults show within a test. */
export const quick: Partial<FleetTimes> = {
  streamSilenceMs: 800,
  resyncMs: 1_500,
  connectMs: 1_000,
  backoffBaseMs: 20,
  backoffCapMs: 200,
  refusedRetryMs: 300,
  rosterPollMs: 200,
  taskChainPollMs: 200,
  callMs: 3_000,
};

export async function openFaultBench(overrides: Partial<SimulatorOptions> = {}): Promise<FaultBench> {
  const socketsBefore = openSockets();
  const dataDir = await mkdtemp(join(tmpdir(), "fleetgate-faults-"));
  const base: Partial<SimulatorOptions> = { dataDir, timeFactor: 20, ...overrides };
  let simulator = await startSimulator(base);
  const { endpoints } = simulator;
  const ports = { grpcPort: portOf(`tcp://${endpoints.grpc}`), httpsPort: portOf(endpoints.https) };
  let isUp = true;
  const wire = await startTcpProxy(() => endpoints.grpc);
  const rigs: FleetRig[] = [];

  async function startUnsettled(rigOverrides: RigOverrides = {}): Promise<FleetRig> {
    const rig = await startFleetSession(endpoints, {
      grpcAddress: wire.address,
      ...rigOverrides,
      times: { ...quick, ...rigOverrides.times },
    });
    rigs.push(rig);
    return rig;
  }

  async function settled(rig: FleetRig): Promise<void> {
    let held: unknown;
    let truth: unknown;
    for (let round = 0; round < 40; round += 1) {
      truth = await truthOf(simulator);
      held = heldBy(rig.events, truth);
      if (JSON.stringify(held) === JSON.stringify(truth)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(held).toEqual(truth);
  }

  async function stopService(): Promise<void> {
    if (isUp) await simulator.stop();
    isUp = false;
  }

  return {
    simulator: () => simulator,
    wire,
    startUnsettled,
    async start(rigOverrides) {
      const rig = await startUnsettled(rigOverrides);
      await settled(rig);
      return rig;
    },
    settled,
    stopService,
    async replaceService(others = {}) {
      await stopService();
      simulator = await startSimulator({ ...base, ...ports, ...others });
      isUp = true;
    },
    async close() {
      await Promise.all(rigs.map((rig) => rig.stop()));
      await until("the session let go of its connections", () => wire.connections() === 0);
      await wire.close();
      await stopService();
      await rm(dataDir, { recursive: true, force: true });
      await until("every socket is closed", () => openSockets() <= socketsBefore);
    },
  };
}

/** Waits until `holds`; fails after 5 s. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (let round = 0; round < 250; round += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`in 5 s not: ${what}`);
}

function openSockets(): number {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name === "TCPSocketWrap" || name === "TCPServerWrap").length;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
