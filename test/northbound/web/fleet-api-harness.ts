import { createLatencyTrend } from "../../../src/commands/log/latency-trend.ts";
import type { LoggedCommand } from "../../../src/contracts/command-log.ts";
import type { Batch, Sink } from "../../../src/contracts/link.ts";
import type { Meter } from "../../../src/contracts/metrics.ts";
import type { Peer } from "../../../src/contracts/peers.ts";
import type { PermitState, RobotLease } from "../../../src/contracts/stations.ts";
import type { TagSource } from "../../../src/contracts/tags.ts";
import type { Alarm } from "../../../src/domain/alarm.ts";
import type { FleetUpdate } from "../../../src/domain/update.ts";
import { stopRequest } from "../../../src/fleet/operations/row.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { createFleetApi, type FleetApi } from "../../../src/northbound/web/fleet-api.ts";
import type { FloorOptions } from "../../../src/northbound/web/options.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import type { FleetState } from "../../../src/state/fleet-state.ts";
import { createBatteryTrends } from "../../../src/state/trends.ts";
import { newFleetState } from "../../support/fleet-state.ts";

/** The fleet's part of the HTTP API, on a fleet state of its own. */
export interface TestApi {
  readonly api: FleetApi;
  readonly state: FleetState;
  readonly leases: Map<string, RobotLease>;
  readonly floorOptions: { now: FloorOptions };
  readonly permit: { now: PermitState };
  /** The number of the configuration. */
  readonly configuration: { now: number };
  /** What keeps the values true and hangs; null: nothing does. */
  readonly hanging: { part: string | null };
  /** Where the tags come from. */
  readonly sources: TagSource[];
  /** Who is connected by OPC UA. */
  readonly peers: Peer[];
  /** The log of commands, newest first. */
  readonly commands: LoggedCommand[];
  /** The fleet says something; what follows from it is shown at once. */
  receive(...updates: readonly FleetUpdate[]): void;
  /** A command has its outcome. */
  commandEnded: Meter["commandEnded"];
  /** What other rooms tell. */
  tell(batch: Partial<Batch>): void;
  /** A command has reached another stage. */
  reach(command: LoggedCommand): void;
}

/** @param listedAlarms the alarms that the API shows */
export function createTestApi(clock: Clock, listedAlarms: () => readonly Alarm[] = () => []): TestApi {
  const state = newFleetState(clock, { maxRobots: 2_000 });
  const sinks = new Set<Sink>();
  const sources: TagSource[] = [];
  const peers: Peer[] = [];
  const leases: TestApi["leases"] = new Map();
  const configuration = { now: 0 };
  const hanging: TestApi["hanging"] = { part: null };
  const permit = { now: { isRequired: false, isGiven: true, reason: "" } };
  const commands: LoggedCommand[] = [];
  const latency = createLatencyTrend(clock);
  const followers = new Set<(command: LoggedCommand) => void>();
  const floorOptions: TestApi["floorOptions"] = { now: { pointTypes: [], drawings: [] } };
  const api = createFleetApi({
    identity: { gatewayId: "plant1", version: "1.2.3", sessionId: "s1", startedAtMs: clock.nowMs() },
    settings: {
      configuration: () => configuration.now,
      isOpen: () => true,
      hasSimulator: false,
      pollMs: 2_000,
      floorOptions: () => floorOptions.now,
      openApiFile: "config/openapi.json",
    },
    condition: {
      health: () => ({
        fleet: { state: "up", figures: { streamsOpen: 3, tokenSecondsLeft: 600 } },
        queues: { state: "up", figures: { "mqtt.eventsDropped": 2 } },
        outbox: { state: "up", figures: { waiting: 3, storeRecords: 9, storeSyncs: 4 } },
        opcua: { state: "degraded", detail: "full" },
        control: { state: "up" },
        state: { state: "up" },
      }),
      stateSinceMs: (part) => (part === "fleet" ? clock.nowMs() : null),
      certificates: () => [{ key: "opcua", path: "/data/own.pem", endMs: clock.nowMs() + 86_400_000 }],
      disk: () => ({ path: "/data", freeBytes: 1_000 }),
      isFleetLinkUp: () => true,
      areValuesKept: () => hanging.part === null,
    },
    fleet: {
      places: state,
      stations: { leaseOf: (robotId) => leases.get(robotId) ?? null },
      permits: { permitOf: () => permit.now },
      trends: { ...createBatteryTrends(state.charges, clock), latency: latency.latency },
      commandLog: {
        newest: () => commands,
        follow(look) {
          followers.add(look);
          return () => void followers.delete(look);
        },
      },
      listedAlarms,
      attach(sink) {
        sinks.add(sink);
        sink.write({ changes: state.snapshot(), events: [] });
        return () => void sinks.delete(sink);
      },
    },
    views: { tags: sources, peers: [{ part: "opcua", peers: () => peers }] },
    catalogue: createCatalogue(),
    stopRequest,
    clock,
  });
  const tell: TestApi["tell"] = (batch) => {
    for (const sink of sinks) sink.write({ changes: [], events: [], ...batch });
  };
  return {
    api,
    state,
    leases,
    floorOptions,
    permit,
    configuration,
    hanging,
    sources,
    peers,
    commands,
    tell,
    commandEnded: latency.commandEnded,
    receive: (...updates) => updates.forEach((update) => void tell(state.apply(update))),
    reach: (command) => followers.forEach((look) => void look(command)),
  };
}

/** A command that has come to its end, with what a test says of it. */
export function loggedCommand(number: number, fields: Partial<LoggedCommand> = {}): LoggedCommand {
  return {
    number,
    source: { protocol: "opcua", name: "plc1" },
    requestId: `r${number}`,
    operation: "CreateMission",
    robotId: "r1",
    requestJson: "{}",
    onBehalfOf: null,
    acceptedAtMs: 0,
    sentAtMs: 1,
    finalAtMs: 2,
    ending: { outcome: "unknown", code: "UNAVAILABLE", message: "lost", missionId: null, evidence: null },
    foundLater: null,
    ...fields,
  };
}
