import type { JsonObject } from "@bufbuild/protobuf";
import { createDispatcher, type Dispatcher } from "../../src/commands/dispatcher.ts";
import { type DispatcherOptions, dispatcherDefaults, type Rights } from "../../src/commands/options.ts";
import type { FleetPort } from "../../src/contracts/fleet-port.ts";
import type { Catalogue } from "../../src/contracts/operation.ts";
import { createPipeline } from "../../src/delivery/pipeline.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import { stopRequest } from "../../src/fleet/operations/row.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import type { FleetTimes } from "../../src/fleet/options.ts";
import { createLive } from "../../src/platform/live.ts";
import { silentLog } from "../../src/platform/log.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { createFleetState, type FleetState } from "../../src/state/fleet-state.ts";
import { createMakers } from "../commands/maker-of.ts";
import { contractScenario } from "../contract/contract-harness.ts";
import { type FleetHarness, startFleetSession } from "../support/fleet-harness.ts";
import { createIdleClock, type IdleClock } from "../support/idle-clock.ts";
import { createTestIntake } from "../support/intake-harness.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { emptyAlarmBook } from "../support/test-alarms.ts";
import { createGate, type Gate } from "./gate.ts";
import { openWebhookEntrance } from "./webhook-entrance.ts";

/**
 * The real dispatcher on a real session, over TLS and two wires that can be cut, to a real simulated service.
 */
export interface DaemonHarness {
  readonly simulator: RunningSimulator;
  readonly dispatcher: Dispatcher;
  readonly state: FleetState;
  readonly fleet: FleetHarness;
  /** The time of the service and of the gateway; only the deadlines of calls are the machine's. */
  readonly clock: IdleClock;
  readonly grpcWire: TcpProxy;
  readonly httpsWire: TcpProxy;
  /** Holds commands back just before they leave. */
  readonly gate: Gate;
  /** Sends an operation past the dispatcher. Rejects unless it is answered OK. */
  ask(operation: string, request: JsonObject): Promise<JsonObject>;
  /** Sends a command through the dispatcher, to leave within `startWithinMs`. */
  submit(operation: string, request: JsonObject, startWithinMs: number): Promise<Outcome>;
  /** The command that an event of this mission names now; null: none. */
  makerOf(missionId: string): string | null;
  close(): Promise<void>;
}

export interface DaemonParts {
  readonly robots: readonly string[];
  readonly catalogue?: Catalogue;
  readonly simulator?: Partial<SimulatorOptions>;
  /** How commands of the gRPC service travel; over gRPC unless told. */
  readonly transport?: "grpc" | "rest";
  /** What brings missions and batteries; streams unless told. */
  readonly events?: "streams" | "webhook";
  /** Whether the gRPC port can be reached at first; it can unless told. */
  readonly hasGrpc?: boolean;
}

/** How long the service waits for a robot here. A late robot acts a second after that. */
const CONFIRM_WAIT_MS = 300;

const rights = createLive<Rights>({
  rules: [{ source: { protocol: "cli", name: "test" }, role: "engineer" }],
  accounts: [],
});
const options: DispatcherOptions = {
  ...dispatcherDefaults,
  callDeadlineMs: 5_000,
  // Where evidence is there, a machine with much to do must find it too.
  evidenceMs: 4_000,
  settleMs: 150,
  pollMs: 150,
};

/** Most trials wait for evidence that never comes. */
const PACE = 8;

const times: Partial<FleetTimes> = {
  connectMs: 3_000,
  backoffBaseMs: 20,
  backoffCapMs: 100,
  rosterPollMs: 300,
  taskChainPollMs: null,
};

export async function openDaemonHarness(parts: DaemonParts): Promise<DaemonHarness> {
  const protocol = parts.events === "webhook" ? await openWebhookEntrance() : null;
  const clock = createIdleClock(PACE);
  const simulator = await startSimulator({
    clock,
    scenario: { kind: "given", scenario: contractScenario() },
    confirmWaitMs: CONFIRM_WAIT_MS,
    // Slower than life: missions must not end of themselves while a test looks at them.
    timeFactor: 0.2,
    ...(protocol === null
      ? { resolve: () => Promise.resolve(["93.184.216.34"]) }
      : { unsafeWebhookTargets: { trustedCa: protocol.trustedCa } }),
    ...parts.simulator,
  });
  const { endpoints } = simulator;
  const grpcWire = await startTcpProxy(() => endpoints.grpc);
  const httpsWire = await startTcpProxy(() => new URL(endpoints.https).host);
  if (parts.hasGrpc === false) await grpcWire.unplug();
  const catalogue = parts.catalogue ?? createCatalogue();
  const state: FleetState = createFleetState({
    times: { streamSilenceMs: 30_000, resyncMs: 60_000, holdMs: 300_000 },
    maxRobots: 1_000,
    maxTaskChains: 1_000,
    sessionId: "harness",
    clock,
    log: silentLog,
  });
  // The session tells the dispatcher from its first moment on, so the dispatcher is there first.
  const port: FleetPort = { call: (...args) => fleet.fleetPort.call(...args) };
  const gate = createGate(port);
  const makers = createMakers();
  const dispatcher: Dispatcher = createDispatcher({
    config: { options, rights, stations: createLive([]) },
    fleet: { catalogue, port: gate.port, robot: state.robot, stopRequest },
    journal: createMemoryJournal({ keepMs: 3_600_000, keepCount: 10_000 }),
    earlierRuns: {},
    outputs: {
      deliver: (batch) => pipeline.enter(batch),
      alarmRegistry: emptyAlarmBook(clock),
      audit() {},
    },
    clock,
    log: silentLog,
    sessionId: "harness",
  });
  const pipeline = createPipeline(state, [dispatcher.stage, makers.stage]);
  const intake = createTestIntake({ catalogue, clock, execution: dispatcher });
  await dispatcher.start();
  dispatcher.fleetLink(true);
  const fleet: FleetHarness = await startFleetSession(endpoints, {
    clock,
    grpcAddress: grpcWire.address,
    httpsUrl: `https://${httpsWire.address}`,
    robots: { kind: "ids", ids: parts.robots },
    transport: parts.transport ?? "grpc",
    events: protocol === null ? { kind: "streams" } : { kind: "webhook", webhook: protocol.options },
    times,
    onEvent: (event) => pipeline.enter(state.apply(event)),
  });
  let requests = 0;

  return {
    simulator,
    dispatcher,
    state,
    fleet,
    clock,
    grpcWire,
    httpsWire,
    gate,
    async ask(operation, request) {
      const ending = await fleet.port.call(operation, JSON.stringify(request), 5_000);
      if (ending.kind !== "ok") throw new Error(`${operation} ended ${JSON.stringify(ending)}`);
      return JSON.parse(ending.responseJson) as JsonObject;
    },
    submit(operation, request, startWithinMs) {
      requests += 1;
      return intake.submit(
        {
          source: { protocol: "cli", name: "test" },
          requestId: `${operation}-${requests}`,
          operation,
          request: { json: request },
          expiry: { withinMs: startWithinMs },
        },
        null,
      );
    },
    makerOf: (missionId) => makers.of(pipeline, missionId),
    async close() {
      await dispatcher.close(0);
      await fleet.stop();
      await Promise.all([grpcWire.close(), httpsWire.close()]);
      await simulator.stop();
      await protocol?.close();
      clock.close();
    },
  };
}
