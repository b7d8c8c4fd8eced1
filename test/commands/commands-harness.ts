import { createActs } from "../../src/commands/acts/acts.ts";
import type { AuditRecord } from "../../src/commands/audit/audit.ts";
import type { AuditLines } from "../../src/commands/audit/missing-records.ts";
import { createDispatcher, type Dispatcher } from "../../src/commands/dispatcher.ts";
import { createIntake, type Intake } from "../../src/commands/intake/intake.ts";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { createCommandLog } from "../../src/commands/log/command-log.ts";
import {
  type DispatcherOptions,
  dispatcherDefaults,
  type IntakeOptions,
  intakeDefaults,
  type Rights,
  type StationOptions,
} from "../../src/commands/options.ts";
import type { Acts } from "../../src/contracts/acts.ts";
import type { SharedCommands } from "../../src/contracts/cluster.ts";
import type { CommandLog } from "../../src/contracts/command-log.ts";
import type { CallEnding, FleetPort } from "../../src/contracts/fleet-port.ts";
import type { Catalogue } from "../../src/contracts/operation.ts";
import { createPipeline } from "../../src/delivery/pipeline.ts";
import type { ActName } from "../../src/domain/acts.ts";
import type { Alarm } from "../../src/domain/alarm.ts";
import type { StateChange } from "../../src/domain/change.ts";
import type { Command, CommandStage, Source } from "../../src/domain/command.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import type { Mission } from "../../src/domain/mission.ts";
import type { Quality } from "../../src/domain/observed.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import { createLive, type Live } from "../../src/platform/live.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";
import type { AlarmRegistry } from "../../src/state/alarm-registry.ts";
import { createFakeState } from "../delivery/fake-state.ts";
import { envelopeOf } from "../support/intake-harness.ts";
import { asLive } from "../support/live.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { emptyAlarmBook } from "../support/test-alarms.ts";
import { openTestRequest } from "../support/test-requests.ts";
import { createMakers } from "./maker-of.ts";
import { testCatalogue, testStopRequest } from "./operations.ts";

export const OK: CallEnding = { kind: "ok", responseJson: "{}", missionId: null };
/** What a member of a cluster knows while nothing happens on the others. */
export function sharedCommands(changes: Partial<SharedCommands> = {}): SharedCommands {
  return {
    isLeading: () => true,
    doubtMs: 0,
    isRecorded: async () => false,
    stopLeaves() {},
    stoppedElsewhere: () => null,
    stopAfter: () => null,
    ...changes,
  };
}
export const LOST: CallEnding = { kind: "unknown", code: "DEADLINE_EXCEEDED", message: "no answer in time" };

/** A call that the service was given, and how to answer it. */
export interface Call {
  readonly operation: string;
  readonly requestJson: string;
  /** How long after it was made it may leave. */
  readonly leaveWithinMs: number | undefined;
  /** Whether it may leave still, if it has not. */
  mayLeave(): boolean;
  /** It leaves, where calls do not leave by themselves (`callsWait`). */
  leave(): void;
  readonly answer: (ending: CallEnding) => Promise<void>;
}

export interface Sent {
  readonly stages: CommandStage[];
  outcome: Outcome | null;
}

export interface CommandsHarness {
  /** The alarms that stand now. */
  alarms(): readonly Alarm[];
  readonly alarmRegistry: AlarmRegistry;
  readonly clock: ManualClock;
  readonly dispatcher: Dispatcher;
  readonly intake: Intake;
  readonly acts: Acts;
  /** Performs an act of a user. */
  act(name: ActName, source: Source, fields: object): Promise<Outcome>;
  /** The stations whose counters were set to 0. */
  readonly reset: readonly string[];
  /** Calls in the order in which they left. */
  readonly calls: Call[];
  readonly events: FleetEvent[];
  /** The missions of which an event was delivered, each with its command: `m1=opcua:plc/r1`. */
  readonly attributed: readonly string[];
  readonly audit: AuditRecord[];
  readonly log: CommandLog;
  readonly quality: Map<string, Quality>;
  /** Robots of which something else is held now, or null for all, each time that it was said. */
  readonly held: Array<string | null>;
  /** Sends a command and lets everything happen that needs no time. */
  send(operation: string, request: object, more?: Partial<Command>): Promise<Sent>;
  /** A dry run: what `send` would be refused with, or `checked`. */
  check(operation: string, request: object, more?: Partial<Command>): Promise<Outcome>;
  /** Other rules hold from now on, and nobody has looked what follows from them. */
  setRights(rules: Rights["rules"]): void;
  call(place: number): Call;
  see(...changes: StateChange[]): Promise<void>;
  /** The same of events, as the fleet state makes them. */
  happens(...events: FleetEvent[]): Promise<void>;
  /** The command that an event of this mission names now; null: none. */
  makerOf(missionId: string): string | null;
}

export interface HarnessOptions {
  readonly journal?: Journal;
  readonly clock?: ManualClock;
  readonly options?: Partial<DispatcherOptions> & { readonly rights?: Rights["rules"] };
  readonly intake?: Partial<IntakeOptions>;
  readonly stations?: readonly StationOptions[] | Live<readonly StationOptions[]>;
  readonly catalogue?: Catalogue;
  /** Whether the session to the service is there from the start; it is unless told. */
  readonly isLinkUp?: boolean;
  /** The audit log of the runs before, where there is one. */
  readonly auditLines?: AuditLines;
  /** Since when the run before may have published events in vain. */
  readonly eventsLostSinceMs?: number;
  /** Calls wait for their place, until `leave`. */
  readonly callsWait?: boolean;
  readonly areRecordsLost?: boolean;
  /** It is a member of a cluster. */
  readonly shared?: SharedCommands;
  readonly isOnTrial?: () => boolean;
  /** How many commands the log keeps. */
  readonly mostLogged?: number;
  /** The gateway's own log; silent without it. */
  readonly gatewayLog?: Log;
}

export const plc = { protocol: "opcua", name: "plc" } as const;

const everything = [
  { source: plc, role: "engineer" },
  { source: { protocol: "mqtt", name: "scada" }, role: "operator", robots: ["AMR01"] },
  { source: { protocol: "mqtt", name: "scada" }, role: "operator", operations: ["Look"] },
  { source: { protocol: "web", name: "*" }, role: "observer" },
] as const;

export async function createHarness(parts: HarnessOptions = {}): Promise<CommandsHarness> {
  const clock = parts.clock ?? createManualClock();
  const calls: Call[] = [];
  const events: FleetEvent[] = [];
  const makers = createMakers();
  const audit: AuditRecord[] = [];
  const held: CommandsHarness["held"] = [];
  const reset: string[] = [];
  const quality = new Map<string, Quality>([
    ["AMR01", "good"],
    ["AMR02", "good"],
  ]);
  const port: FleetPort = {
    call: (request, _deadlineMs, leaveWithinMs, order) =>
      new Promise((resolve) => {
        if (!parts.callsWait) order?.leaves?.();
        calls.push({
          ...openTestRequest(request),
          leaveWithinMs,
          mayLeave: () => order?.mayLeave() ?? true,
          leave: () => order?.leaves?.(),
          async answer(ending) {
            resolve(ending);
            await clock.settle(0);
          },
        });
      }),
  };
  const { rights: rules = everything, ...changed } = parts.options ?? {};
  const options = { ...dispatcherDefaults, ...changed };
  const rights = createLive<Rights>({ rules, accounts: [] });
  const catalogue = parts.catalogue ?? testCatalogue;
  const alarms = emptyAlarmBook(clock);
  const { auditLines = async () => true } = parts;
  const commandLog = createCommandLog({ auditLines, log: silentLog, most: parts.mostLogged ?? 1_000 });
  const dispatcher = createDispatcher({
    config: {
      options,
      rights,
      stations: asLive<readonly StationOptions[]>(parts.stations ?? []),
      isOnTrial: parts.isOnTrial,
      shared: parts.shared ?? null,
    },
    fleet: {
      catalogue,
      port,
      robot(robotId) {
        const known = quality.get(robotId);
        return known === undefined ? undefined : { robotId, family: "cart", quality: known };
      },
      stopRequest: testStopRequest,
    },
    journal: parts.journal ?? createMemoryJournal({ keepMs: 3_600_000, keepCount: 1_000 }),
    earlierRuns: {
      areRecordsLost: parts.areRecordsLost ?? false,
      eventsLostSinceMs: parts.eventsLostSinceMs ?? null,
      auditLines: parts.auditLines,
    },
    outputs: {
      deliver: (batch) => pipeline.enter(batch),
      onHold: (robotId) => held.push(robotId),
      alarmRegistry: alarms,
      audit: commandLog.audited((record) => audit.push(record)),
      progress: commandLog,
    },
    clock,
    log: parts.gatewayLog ?? silentLog,
    sessionId: "s1",
  });
  const intake = createIntake({
    options: { ...intakeDefaults, ...parts.intake },
    rights,
    catalogue,
    execution: dispatcher,
    audit: commandLog.audited((record) => audit.push(record)),
    clock,
    log: parts.gatewayLog ?? silentLog,
  });
  const pipeline = createPipeline(createFakeState(), [
    dispatcher.stage,
    makers.stage,
    {
      name: "delivery",
      apply(batch) {
        events.push(...batch.events);
        return batch;
      },
    },
  ]);
  const acts = createActs({
    dispatcher,
    rights,
    alarms: { ...alarms, storeProblem: async () => null, publish() {} },
    resetCounters: (station) => void reset.push(station),
    refused: intake.refused,
    audit: commandLog.audited((record) => audit.push(record)),
    clock,
    log: parts.gatewayLog ?? silentLog,
  });
  await commandLog.start();
  const starting = dispatcher.start();
  await clock.settle(0);
  await starting;
  dispatcher.fleetLink(parts.isLinkUp ?? true);

  let requests = 0;
  function commandOf(operation: string, request: object, more: Partial<Command>): Command {
    requests += 1;
    return {
      source: plc,
      requestId: `r${requests}`,
      operation,
      effect: "moves",
      robotId: null,
      requestJson: JSON.stringify(request),
      startByMs: clock.nowMs() + 10_000,
      ...more,
    };
  }

  return {
    clock,
    alarmRegistry: alarms,
    alarms() {
      alarms.take();
      return alarms.all();
    },
    dispatcher,
    intake,
    acts,
    act: (name, source, fields) => acts.answer(name, { source, fields }),
    reset,
    calls,
    events,
    attributed: makers.delivered,
    audit,
    log: commandLog,
    quality,
    held,
    setRights(rules) {
      rights.replace({ rules, accounts: [] });
    },
    async send(operation, request, more = {}) {
      const sent: Sent = { stages: [], outcome: null };
      void intake
        .submit(envelopeOf(commandOf(operation, request, more), clock.nowMs()), null, (stage) =>
          sent.stages.push(stage),
        )
        .then((outcome) => {
          sent.outcome = outcome;
        });
      await clock.settle(0);
      return sent;
    },
    check: (operation, request, more = {}) =>
      intake.check(envelopeOf(commandOf(operation, request, more), clock.nowMs())),
    call(place) {
      const call = calls[place];
      if (call === undefined) throw new Error(`there is no call ${place}, only ${calls.length}`);
      return call;
    },
    async see(...changes) {
      pipeline.enter({ changes, events: [] });
      await clock.settle(0);
    },
    async happens(...events) {
      pipeline.enter({ changes: [], events });
      await clock.settle(0);
    },
    makerOf: (missionId) => makers.of(pipeline, missionId),
  };
}

/** A mission of the kind that `Go` makes. */
export function mission(missionId: string, to: string, more: Partial<Mission> = {}): Mission {
  return {
    missionId,
    state: "STATE_RUNNING",
    goals: [{ kind: "destination", destinationId: to }],
    currentGoalIndex: 0,
    feedback: null,
    type: { family: "base", type: "BASE_TYPE_NAVIGATE" },
    owner: "api",
    ...more,
  };
}

export function missions(robotId: string, receivedAtMs: number, ...list: readonly Mission[]): StateChange {
  return {
    kind: "mission",
    robotId,
    observed: {
      value: { missions: list, currentMissionIndex: list.length - 1 },
      stamp: { sourceTimeMs: null, sequence: null, receivedAtMs },
      quality: "good",
    },
  };
}

export function belt(
  robotId: string,
  receivedAtMs: number,
  index: number,
  operation: "OPERATION_STATE_STOP" | "OPERATION_STATE_ROLLING",
): StateChange {
  return {
    kind: "conveyor",
    robotId,
    observed: {
      value: {
        index,
        operation,
        payload: "PAYLOAD_STATE_EMPTY",
        health: "HEALTH_STATE_OK",
        installation: "INSTALLATION_STATE_INSTALLED",
      },
      stamp: { sourceTimeMs: null, sequence: null, receivedAtMs },
      quality: "good",
    },
  };
}

export function presence(robotId: string, amrId: number): StateChange {
  return {
    kind: "presence",
    robotId,
    observed: {
      value: { amrId, mapId: 1, position: "P1", stateId: "ROBOT_STATE_IDLE", taskChainId: 0, info: {} },
      stamp: { sourceTimeMs: null, sequence: null, receivedAtMs: 0 },
      quality: "good",
    },
  };
}
