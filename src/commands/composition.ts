import type { FleetPort } from "../contracts/fleet-port.ts";
import type { RobotSummary } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { MakeStopRequest } from "../contracts/stop-request.ts";
import { commandId } from "../domain/command.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createSteadyWall, type SteadyWall } from "../platform/steady-wall.ts";
import { createAcceptance } from "./acceptance.ts";
import { type AdmissionParts, refusalNow, SERVICE_PICKS, unheardOf } from "./admission.ts";
import { type Attribution, createAttribution } from "./attribution/attribution.ts";
import { createEventGate, type EventGate } from "./attribution/event-gate.ts";
import { createForeignWatch, type ForeignWatch } from "./attribution/foreign-watch.ts";
import type { AuditSink } from "./audit/audit.ts";
import type { AuditLines } from "./audit/missing-records.ts";
import { type CommandEvents, createCommandEvents } from "./command-events.ts";
import { type Conclusion, createConclusion } from "./conclusion.ts";
import { createTold, type Told } from "./doubt.ts";
import { createEvidenceSearch, type EvidenceSearch } from "./evidence/evidence-search.ts";
import { createObservations, type Observations } from "./evidence/observations.ts";
import { createFleetLink, type FleetLink } from "./fleet-link.ts";
import { createHoldKeeper, type HoldKeeper } from "./holds/hold-keeper.ts";
import type { Execution } from "./intake/execution.ts";
import type { Job } from "./job.ts";
import type { Journal } from "./journal/journal.ts";
import { type WatchedJournal, watchJournal } from "./journal/watched-journal.ts";
import { type ConveyorCalls, createConveyorCalls } from "./leases/conveyor-calls.ts";
import { createLeaseKeeper, type LeaseKeeper } from "./leases/lease-keeper.ts";
import { createLeaseMemory, type LeaseMemory } from "./leases/lease-memory.ts";
import type { DispatcherOptions, StationOptions } from "./options.ts";
import { shuttingDown } from "./own-refusals.ts";
import { createOwnStops, type OwnStops } from "./own-stops.ts";
import { type Rights, refusedRight } from "./rights.ts";
import { createQueueRunner, type QueueRunner } from "./robot-queues/queue-runner.ts";

/** What the dispatcher is made of. */
export interface DispatcherParts {
  readonly options: DispatcherOptions;
  readonly catalogue: Catalogue;
  readonly port: FleetPort;
  readonly journal: Journal;
  /** The records of earlier commands are lost: nobody knows which identities were sent. */
  readonly areRecordsLost?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
  /** The robot with its quality of this moment; undefined when it was never heard of. */
  readonly robot: (robotId: RobotId) => RobotSummary | undefined;
  /** Takes what is to be delivered, with its events attributed. Synchronous; never throws. */
  readonly deliver: (batch: Batch) => void;
  readonly audit: AuditSink;
  /** What earlier runs have left in the audit log; absent where it does not outlive a run. */
  readonly auditLines?: AuditLines;
  /** The stations of the configuration. */
  readonly stations: readonly StationOptions[];
  readonly stopRequest: MakeStopRequest;
  /** What holds this robot, or (null) all robots, is another than before. Synchronous; never throws. */
  readonly onHold?: (robotId: RobotId | null) => void;
}

/**
 * What the files of this room share. The journal is watched: nothing here writes to one whose failures do not
 * show.
 */
type Shared = Omit<DispatcherParts, "journal"> & {
  readonly journal: WatchedJournal;
  /** Publishes an event, behind those of its robot that wait to be attributed. Synchronous; never throws. */
  readonly notify: (event: FleetEvent) => void;
  readonly gate: EventGate;
  /** The commands in hand, by identity. */
  readonly running: Map<string, Job>;
  readonly stopping: AbortController;
  readonly wall: SteadyWall;
  readonly link: FleetLink;
  readonly rights: Rights;
  readonly told: Told;
};

/** Evidence and attribution: what robots send, held against commands. */
interface Evidence {
  readonly foreign: ForeignWatch;
  readonly attribution: Attribution;
  readonly search: EvidenceSearch;
  readonly observations: Observations;
}

/** What may keep a command from being sent. */
interface Guards {
  readonly leases: LeaseKeeper;
  readonly leaseMemory: LeaseMemory;
  readonly holds: HoldKeeper;
  readonly conveyors: ConveyorCalls;
  readonly whyNotNow: (job: Job) => Outcome | null;
}

/** The files of this room, joined. */
export interface Composition extends Shared, Evidence, Guards {
  readonly events: CommandEvents;
  readonly conclusion: Conclusion;
  readonly runner: QueueRunner;
  readonly begin: Execution["begin"];
}

/** How long the service may take to say which robot a task chain is on. */
const CHAIN_QUERY_MS = 2_000;
/** How long a mission may wait for the answer that names it: streams are faster than answers. */
const CLAIM_MS = 30_000;

/** Joins the files of this room: intake → robot queues → calls → evidence → conclusion. */
export function composeCommands(parts: DispatcherParts): Composition {
  const { options, clock, journal } = parts;
  const gate = createEventGate({
    clock,
    isExpected: (robotId) => attribution.isExpected(robotId),
    commandOf: (missionId) => attribution.commandOf(missionId),
    pass: (events) => parts.deliver({ changes: [], events }),
  });
  const shared: Shared = {
    ...parts,
    gate,
    notify: (event) => parts.deliver(gate.admit({ changes: [], events: [event] })),
    journal: watchJournal(journal, clock),
    running: new Map(),
    stopping: new AbortController(),
    wall: createSteadyWall(clock),
    link: createFleetLink(clock),
    rights: { rules: options.rights, accounts: options.accounts },
    told: createTold(parts.areRecordsLost ?? false),
  };
  const evidence = composeEvidence(shared, (id, text) => conclusion.foundLater(id, text));
  const { attribution } = evidence;
  const ownStops = createOwnStops({ ...parts, begin: (accepted) => begin(accepted) });
  const { checks, ...guards } = composeGuards(shared, evidence, ownStops, (robotId) => refuseStarts(robotId));
  const events = createCommandEvents(shared);
  const conclusion = createConclusion({
    ...shared,
    ...evidence,
    events,
    onEnd: (job) => shared.running.delete(job.id),
  });
  const runner = createQueueRunner({
    ...shared,
    ...evidence,
    whyNotNow: guards.whyNotNow,
    onCall(job) {
      guards.conveyors.left(job);
      if (job.request.evidence.kind === "new_mission") attribution.expect(job);
    },
    onMissions(job, missionIds) {
      job.missionIds = missionIds;
      for (const missionId of missionIds) attribution.claim(missionId, job.command);
      if (missionIds.length > 0) attribution.settle(job);
    },
    onFinish(job, outcome) {
      guards.conveyors.ended(job, outcome);
      void conclusion.conclude(job, outcome);
    },
  });
  const begin = createAcceptance({
    ...shared,
    checks,
    conclusion,
    runner,
    isStopping: () => shared.stopping.signal.aborted,
    whyNotNow: guards.whyNotNow,
  });

  /** A hold of this robot, or (null) of all, has begun: its starts are not sent any more. */
  function refuseStarts(robotId: RobotId | null): void {
    for (const job of shared.running.values()) {
      const isConcerned = robotId === null || job.robotId === robotId || job.queue === SERVICE_PICKS;
      if (job.request.effect !== "moves" || !isConcerned) continue;
      job.heldBack ??= guards.holds.refusalFor(job.robotId);
      if (job.heldBack !== null) runner.withdraw(job, job.heldBack);
    }
  }

  return { ...shared, ...evidence, ...guards, events, conclusion, runner, begin };
}

function composeEvidence(shared: Shared, onLate: (commandId: string, text: string) => void): Evidence {
  const foreign = createForeignWatch(shared);
  const attribution = createAttribution(shared.clock, CLAIM_MS, foreign.seen, (robotId) =>
    shared.gate.release(robotId),
  );
  const search = createEvidenceSearch({
    ...shared,
    isOthers(missionId, id) {
      const maker = attribution.commandOf(missionId);
      return maker !== null && commandId(maker) !== id;
    },
    isExpected: attribution.isExpected,
    onLate,
  });
  const observations = createObservations({
    missions: search.missions,
    conveyor: search.conveyor,
    newMission: attribution.seen,
  });
  return { foreign, attribution, search, observations };
}

function composeGuards(
  shared: Shared,
  { observations }: Evidence,
  ownStops: OwnStops,
  refuseStarts: (robotId: RobotId | null) => void,
): Guards & { readonly checks: AdmissionParts } {
  const { rights, link, stopping, journal, log } = shared;
  const refusedName = (robotId: RobotId) =>
    shared.robot(robotId) === undefined ? unheardOf(link, robotId) : null;
  const leaseMemory = createLeaseMemory(journal, log);
  const leases = createLeaseKeeper({
    ...shared,
    observations,
    isVisible(robotId) {
      const quality = shared.robot(robotId)?.quality;
      return quality === "good" || quality === "stale";
    },
    refusedName,
    stopConveyors: ownStops.lapse,
    refusedLease: (source, robotId) =>
      refusedRight(rights, { source, operation: null, role: "operator", robotId }),
    refusedOverride: (source, robotId) =>
      refusedRight(rights, { source, operation: "an override", role: "engineer", robotId }),
    remember: leaseMemory.remember,
  });
  const isStopping = () => stopping.signal.aborted;
  const holds = createHoldKeeper({
    ...shared,
    observations,
    onHold: (robotId) => shared.onHold?.(robotId),
    refuseStarts,
    sendStop: ownStops.hold,
    refusedName,
    isStopping,
  });
  const checks: AdmissionParts = {
    ...shared,
    observations,
    listening: link.listening,
    leaseRefusal: leases.refusalFor,
    holdRefusal: holds.refusalFor,
    queryDeadlineMs: CHAIN_QUERY_MS,
  };
  const whyNotNow = (job: Job) => (isStopping() ? shuttingDown() : (job.heldBack ?? refusalNow(checks, job)));
  return { leases, leaseMemory, holds, conveyors: createConveyorCalls(leases), checks, whyNotNow };
}
