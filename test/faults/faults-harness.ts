import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { FleetTimes } from "../../src/fleet/options.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { type Census, type Count, openCensus } from "../support/census.ts";
import type { FleetHarness, FleetOverrides } from "../support/fleet-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { createPatientClock } from "../support/patient-clock.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { type Downstream, startDownstream } from "./downstream.ts";

/**
 * A simulated service, a wire to its gRPC port, and sessions that go over it. Whatever a case does to
 * them, `close` ends the fault, and then checks what must hold after every case.
 */
export interface FaultsHarness {
  simulator(): RunningSimulator;
  readonly wire: TcpProxy;
  /**
   * Leads what connects over the wire from now on to another address; null: to the service again. Cuts what
   * is connected.
   */
  divert(address: string | null): void;
  /** Starts a session over the wire and waits until it holds the service's own state. */
  start(overrides?: FleetOverrides): Promise<FleetHarness>;
  /** Starts one without waiting. */
  startUnsettled(overrides?: FleetOverrides): Promise<FleetHarness>;
  /** Starts one that cannot come to this service: whatever it shows as good of its robots is a lie. */
  startElsewhere(overrides: FleetOverrides): Promise<FleetHarness>;
  /** Waits until what is shown as good downstream is the world's own state: all of it, and nothing else. */
  settled(fleet: FleetHarness): Promise<void>;
  /** Robots of which everything that is shown as good is true and complete. */
  good(fleet: FleetHarness): readonly string[];
  /** What is shown as anything but good, in words, whether it is true or not. */
  notGood(fleet: FleetHarness): readonly string[];
  /** Ends the service, and starts another with the same keys and ports. */
  replaceService(overrides?: Partial<SimulatorOptions>): Promise<void>;
  stopService(): Promise<void>;
  /** What is held now, garbage apart: listeners, timers, sockets, calls, connections. */
  held(): Promise<Count>;
  /**
   * Ends the fault, whatever it was, and checks: every session comes to the truth, and holds no more
   * calls, connections, listeners and timers than its streams need; after it was stopped nothing is
   * left of it; nothing was rejected or thrown that nobody handled.
   */
  close(): Promise<void>;
}

/** Times at which faults show within a test. */
const quick: Partial<FleetTimes> = {
  // A sign of life has a quarter of it, in real time: what a loaded machine needs at the most.
  streamSilenceMs: 2_000,
  resyncMs: 1_500,
  connectMs: 1_000,
  backoffBaseMs: 20,
  backoffCapMs: 200,
  refusedRetryMs: 300,
  rosterPollMs: 200,
  taskChainPollMs: 200,
  callMs: 3_000,
};

export async function openFaultsHarness(overrides: Partial<SimulatorOptions> = {}): Promise<FaultsHarness> {
  const census = openCensus();
  const clock = createPatientClock();
  const dataDir = await mkdtemp(join(tmpdir(), "fleetgate-faults-"));
  // While the service is away, nobody else must be given its ports.
  const port = await freePorts(2);
  const ports = { grpcPort: port, httpsPort: port + 1 };
  // Both sides have one time: a connection that is told to go has its grace in what they could run.
  const base: Partial<SimulatorOptions> = { dataDir, clock, timeFactor: 20, ...ports, ...overrides };
  let running = base;
  let simulator = await startSimulator(base);
  const { endpoints } = simulator;
  let isUp = true;
  let diverted: string | null = null;
  const wire = await startTcpProxy(() => diverted ?? endpoints.grpc);
  const sessions = new Map<FleetHarness, Downstream>();

  async function begin(isElsewhere: boolean, fleetOverrides: FleetOverrides): Promise<FleetHarness> {
    const downstream = await startDownstream(() => simulator, isElsewhere, {
      clock,
      grpcAddress: wire.address,
      ...fleetOverrides,
      times: { ...quick, ...fleetOverrides.times },
    });
    sessions.set(downstream.fleet, downstream);
    return downstream.fleet;
  }

  function of(fleet: FleetHarness): Downstream {
    const found = sessions.get(fleet);
    if (found === undefined) throw new Error("a session of another harness");
    return found;
  }

  async function stopService(): Promise<void> {
    if (isUp) await simulator.stop();
    isUp = false;
  }

  async function serve(options: Partial<SimulatorOptions>): Promise<void> {
    running = options;
    simulator = await startSimulator(options);
    isUp = true;
  }

  function divert(address: string | null): void {
    diverted = address;
    wire.cut();
  }

  async function endFaults(): Promise<void> {
    if (diverted !== null) divert(null);
    await wire.repair();
    if (!isUp) await serve(running);
    simulator.control.clearFaults();
  }

  async function takeDown(): Promise<void> {
    await Promise.all(live().map(({ fleet }) => fleet.stop()));
    await wire.close();
    await stopService();
    await rm(dataDir, { recursive: true, force: true });
    clock.close();
  }

  const live = () => [...sessions.values()].filter(({ fleet }) => !fleet.isStopped());

  /** Each wanted stream is one call, each connection one wire. What is under way for a moment goes by. */
  async function holdNoMoreThanTheyNeed(): Promise<void> {
    const wanted = () => live().map((downstream) => downstream.needs(wire.address));
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    const expected = () => ({
      calls: sum(wanted().map(({ calls }) => calls)),
      connections: sum(wanted().map(({ connections }) => connections)),
    });
    const held = () => ({ calls: simulator.openCalls(), connections: wire.connections() });
    const isWell = () => JSON.stringify(held()) === JSON.stringify(expected());
    const letTimePass = () => Promise.all(live().map((downstream) => downstream.letTimePass()));
    await until(isWell, letTimePass).catch(() => expect(held()).toEqual(expected()));
  }

  async function leaveNothing(): Promise<void> {
    await until(() => simulator.openCalls() === 0 && wire.connections() === 0).catch(() =>
      expect({ calls: simulator.openCalls(), connections: wire.connections() }).toEqual({
        calls: 0,
        connections: 0,
      }),
    );
    const clocks = [...sessions.values()].map(({ pending }) => pending());
    expect(clocks, "tasks that wait on the clock").toEqual(clocks.map(() => 0));
  }

  return {
    simulator: () => simulator,
    wire,
    divert,
    startUnsettled: (fleetOverrides = {}) => begin(false, fleetOverrides),
    startElsewhere: (fleetOverrides) => begin(true, fleetOverrides),
    async start(fleetOverrides = {}) {
      const fleet = await begin(false, fleetOverrides);
      await of(fleet).settled();
      return fleet;
    },
    settled: (fleet) => of(fleet).settled(),
    good: (fleet) => of(fleet).good(),
    notGood: (fleet) => of(fleet).notGood(),
    stopService,
    async replaceService(others = {}) {
      await stopService();
      await serve({ ...base, ...others });
    },
    async held() {
      const tasks = [...sessions.values()].reduce((sum, downstream) => sum + downstream.pending(), 0);
      return {
        ...(await census.countHeld()),
        tasks,
        calls: simulator.openCalls(),
        connections: wire.connections(),
      };
    },
    async close() {
      try {
        await endFaults();
        for (const downstream of live()) await downstream.settled();
        await holdNoMoreThanTheyNeed();
        await Promise.all(live().map(({ fleet }) => fleet.stop()));
        await leaveNothing();
        await takeDown();
        await expectNothing(census);
      } finally {
        await takeDown();
        census.close();
      }
    },
  };
}

/** For a file of tests: opens a harness for a test, and closes it after that. */
export function eachWithItsHarness() {
  let opened: FaultsHarness | undefined;
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  return {
    async open(overrides: Partial<SimulatorOptions> = {}): Promise<FaultsHarness> {
      opened = await openFaultsHarness(overrides);
      return opened;
    },
    /** The one that this test has opened. */
    harness(): FaultsHarness {
      if (opened === undefined) throw new Error("no harness was opened");
      return opened;
    },
  };
}

async function expectNothing(census: Census): Promise<void> {
  const isEmpty = async () => Object.values(await census.countHeld()).every((number) => number <= 0);
  await until(isEmpty, async () => {}, BACKOFF_PATIENCE_MS).catch(async () => {
    const left = await census.countHeld();
    expect(left, census.origins().join("\n")).toEqual(nothing(left));
  });
  expect(census.unhandled()).toEqual([]);
}

function nothing(count: Count): Count {
  return Object.fromEntries(Object.keys(count).map((kind) => [kind, 0]));
}

const PATIENCE_MS = 20_000;
/**
 * A connection that failed is closed when grpc-js' own backoff ends, which grows while a service is away. If
 * it fails after its channel was closed, on a busy machine, grpc-js looks the name up once more, with a timer
 * of 30 s that keeps no process alive.
 */
const BACKOFF_PATIENCE_MS = 40_000;
const LOOK_MS = 10;

/**
 * Looks until `holds`: handles, sockets and calls go without telling. Rejects after a time in which whatever
 * goes by has gone by.
 */
async function until(
  holds: () => boolean | Promise<boolean>,
  letTimePass: () => Promise<unknown> = async () => {},
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const startedAtMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedAtMs > patienceMs) throw new Error("not in time");
    await letTimePass();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
