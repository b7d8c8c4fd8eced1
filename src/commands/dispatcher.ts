import type { CommandRights } from "../contracts/command-rights.ts";
import type { Commander, CommandLedger, CommandRecords } from "../contracts/commander.ts";
import type { FleetPort } from "../contracts/fleet-port.ts";
import type { RobotSummary } from "../contracts/fleet-view.ts";
import type { Holds } from "../contracts/holds.ts";
import type { Batch } from "../contracts/link.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { Stations } from "../contracts/stations.ts";
import type { MakeStopRequest } from "../contracts/stop-request.ts";
import type { FleetNotice } from "../domain/change.ts";
import { type Command, type CommandStage, commandId } from "../domain/command.ts";
import { type Outcome, refusal } from "../domain/outcome.ts";
import { identityReused } from "../domain/refusals.ts";
import type { RobotId } from "../domain/robot.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import { createSteadyWall } from "../platform/steady-wall.ts";
import { abortable } from "./abortable.ts";
import {
  type AdmissionParts,
  findPlace,
  identified,
  refusalNow,
  SERVICE_PICKS,
  startByMonotonic,
  timeToLeaveMs,
  type Understood,
  understand,
  unheardOf,
} from "./admission.ts";
import { createAttribution } from "./attribution/attribution.ts";
import { createForeignWatch } from "./attribution/foreign-watch.ts";
import type { AuditSink } from "./audit/audit.ts";
import { createLedger } from "./audit/ledger.ts";
import { type AuditLines, recordMissing } from "./audit/missing-records.ts";
import { createConclusion } from "./conclusion.ts";
import { createEvidenceSearch } from "./evidence/evidence-search.ts";
import { createObservations } from "./evidence/observations.ts";
import { createHoldKeeper } from "./holds/hold-keeper.ts";
import { createJob, digestOf, type Job, watchStages } from "./job.ts";
import type { Journal } from "./journal/journal.ts";
import { pruneJournal } from "./journal/pruning.ts";
import { watchJournal } from "./journal/watched-journal.ts";
import { createConveyorCalls } from "./leases/conveyor-calls.ts";
import { createLeaseKeeper } from "./leases/lease-keeper.ts";
import { createLeaseMemory } from "./leases/lease-memory.ts";
import type { DispatcherOptions, StationOptions } from "./options.ts";
import { closed, fault, shuttingDown, unrecorded } from "./own-refusals.ts";
import { createOwnStops, gatewaySource } from "./own-stops.ts";
import { recoverCommands } from "./recovery.ts";
import { commandRights, type Rights, refusedRight, rightsAnywhere } from "./rights.ts";
import { createQueueRunner, interrupted } from "./robot-queues/queue-runner.ts";

/** What the dispatcher is made of. */
export interface DispatcherParts {
  readonly options: DispatcherOptions;
  readonly catalogue: Catalogue;
  readonly port: FleetPort;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
  /** The robot with its quality of this moment; undefined when it was never heard of. */
  readonly robot: (robotId: RobotId) => RobotSummary | undefined;
  /** Where command outcomes go as events. Synchronous; never throws. */
  readonly notify: (notice: FleetNotice) => void;
  readonly audit: AuditSink;
  /** What earlier runs have left in the audit log; absent where it does not outlive a run. */
  readonly auditLines?: AuditLines;
  /** No command is any more about to tell which mission it has made on this robot. */
  readonly onMissionsKnown?: (robotId: RobotId) => void;
  /** The stations of the configuration. */
  readonly stations: readonly StationOptions[];
  readonly stopRequest: MakeStopRequest;
  /** What holds this robot, or (null) all robots, is another than before. Synchronous; never throws. */
  readonly onHold?: (robotId: RobotId | null) => void;
}

/** The way of every command: at most once, and no guessing (design, Commands). */
export interface Dispatcher extends Commander, CommandRecords, CommandLedger {
  /** Ends what a predecessor left behind. Call it, and await it, before the first command. */
  start(): Promise<void>;
  /** Who may send commands to which robots and through which stations. */
  readonly rights: CommandRights;
  /** The leases of stations. */
  readonly stations: Stations;
  readonly holds: Holds;
  /** This machine's wall clock is known to be right at this moment. */
  confirmClock(): void;
  /** Whether there is a session to the service. What a predecessor has sent is looked into from the first one on. */
  fleetLink(isUp: boolean): void;
  /** What robots send, for evidence and for names. To be called with every batch, in order. */
  observe(batch: Batch): void;
  /** The identity of our command that made a mission; null where it was not ours. */
  commandOf(missionId: string): string | null;
  /** Whether a mission that is new on this robot may yet turn out to be a command's, which is under way. */
  expectsMission(robotId: RobotId): boolean;
  health(): Health;
  /**
   * Refuses what comes and what was not sent, waits at most `deadlineMs` for the rest,
   * and ends that as unknown. The journal is closed when it resolves.
   */
  close(deadlineMs: number): Promise<void>;
}

const LOOK_PERIOD_MS = 1_000;
/** How long the service may take to say which robot a task chain is on. */
const PLACE_QUERY_MS = 2_000;
/** How long a start waits for the service before it gives up on evidence for what its predecessor had sent. */
const LONGEST_UNSEEN_MS = 60_000;
/** How long after the link came up every robot's first message may take: streams open one after the other. */
const HEARD_AFTER_MS = 10_000;
/** Streams may show a mission before the answer to its command does. */
const CLAIM_MS = 30_000;

export function createDispatcher(given: DispatcherParts): Dispatcher {
  // Under the same name, so that nothing here can write to a journal that nobody watches.
  const parts = { ...given, journal: watchJournal(given.journal, given.clock) };
  const { options, catalogue, clock, log, journal } = parts;
  const running = new Map<string, Job>();
  const stopping = new AbortController();
  let seeFleet = () => {};
  const canSee = new Promise<void>((resolve) => {
    seeFleet = resolve;
  });
  const wall = createSteadyWall(clock);
  const rights: Rights = { rules: options.rights, accounts: options.accounts };
  const anywhere = rightsAnywhere(rights);
  let linkUpSinceMs: number | null = null;

  const foreign = createForeignWatch(parts);
  const attribution = createAttribution(clock, CLAIM_MS, foreign.seen, (robotId) =>
    parts.onMissionsKnown?.(robotId),
  );
  const search = createEvidenceSearch({
    port: parts.port,
    clock,
    log,
    options,
    isOthers: (missionId, id) => (attribution.commandOf(missionId) ?? id) !== id,
    isExpected: attribution.isExpected,
    onLate: (id, text) => conclusion.foundLater(id, text),
  });
  const observations = createObservations({
    missions: search.missions,
    conveyor: search.conveyor,
    newMission: attribution.seen,
  });
  const refusedName = (robotId: RobotId) =>
    parts.robot(robotId) === undefined ? unheardOf({ listening }, robotId) : null;
  const ownStops = createOwnStops({ ...parts, receive });
  const leaseMemory = createLeaseMemory(journal, log);
  const leases = createLeaseKeeper({
    ...parts,
    observations,
    isVisible(robotId) {
      const quality = parts.robot(robotId)?.quality;
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
  const holds = createHoldKeeper({
    ...parts,
    observations,
    onHold: (robotId) => parts.onHold?.(robotId),
    refuseStarts,
    sendStop: ownStops.hold,
    rights,
    refusedName,
    isStopping: () => stopping.signal.aborted,
  });
  const conveyors = createConveyorCalls(leases);
  const admission: AdmissionParts = {
    ...parts,
    observations,
    listening,
    leaseRefusal: leases.refusalFor,
    holdRefusal: holds.refusalFor,
    queryDeadlineMs: PLACE_QUERY_MS,
  };
  const conclusion = createConclusion({
    ...parts,
    attribution,
    search,
    onEnd: (job) => running.delete(job.id),
  });
  const whyNotNow = (job: Job) =>
    stopping.signal.aborted ? shuttingDown() : (job.heldBack ?? refusalNow(admission, job));
  const runner = createQueueRunner({
    ...parts,
    search,
    observations,
    whyNotNow,
    onCall(job) {
      conveyors.left(job);
      if (job.request.evidence.kind === "new_mission") attribution.expect(job);
    },
    onMissions(job, missionIds) {
      job.missionIds = missionIds;
      for (const missionId of missionIds) attribution.claim(missionId, job.id);
      if (missionIds.length > 0) attribution.settle(job);
    },
    onFinish(job, outcome) {
      conveyors.ended(job, outcome);
      void conclusion.conclude(job, outcome);
    },
  });

  function listening() {
    if (linkUpSinceMs === null) return "cut_off";
    return clock.monotonicMs() - linkUpSinceMs < HEARD_AFTER_MS ? "not_yet" : "heard";
  }

  /** Everything up to the first wait, so that no second command of the same identity can slip in between. */
  function receive(command: Command, onStage?: (stage: CommandStage) => void): Promise<Outcome> {
    const understood = understand(catalogue, command);
    if ("outcome" in understood) return conclusion.refuse(command, understood);
    if (journal.isClosed()) return conclusion.refuse(command, closed());
    const id = commandId(command);
    const digest = digestOf(command.operation, understood.request.json);
    const current = running.get(id);
    const recorded = current === undefined ? journal.find(id) : undefined;
    if ((current ?? recorded ?? { digest }).digest !== digest) {
      return conclusion.refuse(command, identityReused(command.requestId));
    }
    if (current !== undefined) return join(current, onStage);
    if (recorded !== undefined)
      return Promise.resolve({ ...(recorded.outcome ?? unrecorded()), duplicate: true });
    if (stopping.signal.aborted) return conclusion.refuse(command, shuttingDown());
    if (understood.request.effect !== "stops" && running.size >= options.maxCommands) {
      const message = `the gateway already has ${running.size} commands in hand`;
      return conclusion.refuse(command, refusal("QUEUE_FULL", message));
    }
    const job = createJob({
      command,
      digest,
      request: identified(understood, id),
      startByMonotonicMs: startByMonotonic(command, clock, wall),
    });
    if (onStage !== undefined) job.watchers.push(onStage);
    running.set(id, job);
    void admit(job, understood);
    return job.done;
  }

  function join(job: Job, onStage?: (stage: CommandStage) => void): Promise<Outcome> {
    if (onStage !== undefined) watchStages(job, onStage);
    return job.done.then((outcome) => ({ ...outcome, duplicate: true }));
  }

  /** Rights, place and truth; then the queue decides. */
  async function admit(job: Job, { operation }: Understood): Promise<void> {
    try {
      const { source } = job.command;
      const right = { source, operation: operation.name, role: operation.role };
      // Before the service is asked, or anything is recorded, for somebody who may not.
      const refusedAll =
        source === gatewaySource ? null : refusedRight(anywhere, { ...right, robotId: null });
      if (refusedAll !== null) return await conclusion.conclude(job, refusal("NOT_ALLOWED", refusedAll));
      const place = await findPlace(admission, job.request);
      if ("outcome" in place) return await conclusion.conclude(job, place);
      job.queue = place.queue;
      job.robotId = place.robotId;
      const { robotId } = place;
      const refused = source === gatewaySource ? null : refusedRight(rights, { ...right, robotId });
      if (refused !== null) return await conclusion.conclude(job, refusal("NOT_ALLOWED", refused));
      const notNow = whyNotNow(job);
      if (notNow !== null) return await conclusion.conclude(job, notNow);
      armExpiry(job);
      runner.submit(job);
    } catch (error) {
      log.error({ err: error, command: job.id }, "a command could not be admitted");
      await conclusion.conclude(job, fault());
    }
  }

  /** A hold has begun: what would move the robot, or (null) any robot, does not leave any more. */
  function refuseStarts(robotId: RobotId | null): void {
    for (const job of running.values()) {
      const { effect } = job.request;
      const isConcerned = robotId === null || job.robotId === robotId || job.queue === SERVICE_PICKS;
      if (effect !== "moves" || !isConcerned) continue;
      job.heldBack ??= holds.refusalFor(job.robotId);
      if (job.heldBack !== null) runner.withdraw(job, job.heldBack);
    }
  }

  function armExpiry(job: Job): void {
    if (job.request.effect === "stops" || job.request.effect === "reads") return;
    // Timers may fire a moment early: then it is not expired yet, and looked at again.
    job.disarm = clock.after(Math.max(1, timeToLeaveMs(clock, job)), () => {
      const notNow = whyNotNow(job);
      if (notNow !== null) runner.withdraw(job, notNow);
      else armExpiry(job);
    });
  }

  return {
    submit(command, signal, onStage) {
      try {
        return abortable(receive(command, onStage), signal);
      } catch (error) {
        log.error({ err: error, operation: command.operation }, "a command could not be received");
        return Promise.resolve(fault());
      }
    },
    ...createLedger({ ...parts, running }),
    async start() {
      const { auditLines } = parts;
      // First: the audit log is in the order in which things happened.
      if (auditLines !== undefined) await recordMissing({ ...parts, auditLines });
      holds.resume(journal.holds());
      leases.resume(journal.leases());
      for (const { missionId, commandId: maker } of journal.made()) attribution.claim(missionId, maker);
      clock.after(LONGEST_UNSEEN_MS, seeFleet);
      await recoverCommands({ ...parts, running, runner, search, conclusion, canSee });
      // Their leases' own record of it may not have come to the disk.
      for (const job of running.values()) conveyors.left(job);
      every(clock, LOOK_PERIOD_MS, stopping.signal, () => {
        leases.tick();
        holds.tick();
        attribution.judge();
        foreign.tick();
      });
      pruneJournal({ journal, clock, log, signal: stopping.signal });
    },
    rights: commandRights(rights, parts.stations ?? []),
    stations: leases,
    holds,
    confirmClock: wall.confirm,
    fleetLink(isUp) {
      linkUpSinceMs = isUp ? (linkUpSinceMs ?? clock.monotonicMs()) : null;
      if (isUp) seeFleet();
    },
    observe(batch) {
      observations.observe(batch);
      holds.observed(batch.changes);
    },
    commandOf: attribution.commandOf,
    expectsMission: attribution.isExpected,
    health() {
      const { queues, waiting } = runner.figures();
      const figures = {
        inHand: running.size,
        robotQueues: queues,
        waiting,
        leases: leases.count(),
        ...holds.figures(),
        foreignMissions: attribution.foreignMissions(),
        foreignAlarms: foreign.count(),
        ...journal.figures(),
        ...conclusion.counts(),
      };
      if (stopping.signal.aborted) return { state: "down", figures };
      if (journal.isWritable()) return { state: "up", figures };
      const detail = "the journal cannot be written: nothing that moves or changes is sent, stops pass";
      return { state: "degraded", detail, figures };
    },
    async close(deadlineMs) {
      if (stopping.signal.aborted) return;
      stopping.abort();
      for (const job of running.values()) runner.withdraw(job, shuttingDown());
      await drained(deadlineMs);
      for (const job of running.values()) {
        const isQueued = runner.abandon(job, interrupted(job.request.repeat.kind === "repeatable"));
        if (!isQueued) void conclusion.conclude(job, shuttingDown());
      }
      await allDone();
      await leaseMemory.settled();
      await holds.settled();
      await journal.close();
    },
  };

  async function allDone(): Promise<void> {
    await Promise.all(Array.from(running.values(), (job) => job.done));
  }

  /** Resolves when no command is in hand any more, or when the time is up. */
  function drained(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(deadlineMs, resolve);
      void allDone().then(() => {
        cancel();
        resolve();
      });
    });
  }
}
