import type { RobotStop } from "../contracts/cluster.ts";
import type { CommandRecords, CommandRights } from "../contracts/commander.ts";
import type { ReloadRefusal } from "../contracts/reload.ts";
import type { Stage } from "../contracts/stage.ts";
import type { Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import { type Clock, every, sleep } from "../platform/clock.ts";
import { aborted, type Health } from "../platform/component.ts";
import { createKnownCommands } from "./acceptance.ts";
import { createAttributionStage } from "./attribution/attribution.ts";
import { recordMissing } from "./audit/missing-records.ts";
import { type Composition, composeCommands } from "./composition.ts";
import type { ConveyorRuns } from "./conveyors/conveyor-runs.ts";
import { createHandoverSteps, type HandoverSteps } from "./handover.ts";
import type { HoldControl } from "./holds/hold-control.ts";
import type { Execution } from "./intake/request.ts";
import { isOwnStop } from "./intake-checks.ts";
import { pruneJournal } from "./journal/durable-journal.ts";
import type { StoredHold } from "./journal/journal.ts";
import type { LeaseControl } from "./leases/lease-control.ts";
import type { StationOptions } from "./options.ts";
import { actsElsewhere, actsEnded, shuttingDown } from "./own-refusals.ts";
import type { DispatcherParts } from "./parts.ts";
import type { PermitControl } from "./permits/permit-control.ts";
import { publishLostEvents, recoverCommands } from "./recovery.ts";
import { commandRights } from "./rights.ts";
import { interrupted } from "./robot-queues/queue-runner.ts";

/** Takes every command, and sends it at most once (docs/commands.md, The promise). */
export interface Dispatcher extends Execution, CommandRecords {
  /** Keeps holds until `start`: this member of a cluster does not lead yet. */
  standBy(): void;
  /** Ends the commands that an earlier run has left. Await it before the first command. */
  start(): Promise<void>;
  /** The rights to robots and stations. */
  readonly rights: CommandRights;
  /** The leases of stations. */
  readonly stations: LeaseControl;
  readonly holds: HoldControl;
  readonly permits: PermitControl;
  /** What other members of the cluster do. */
  readonly elsewhere: ElsewhereSink;
  /** What ends before another member of the cluster leads. */
  readonly handover: HandoverSteps;
  /**
   * Why no act is taken now; null: all are.
   *
   * @param isHold it begins a hold, which each member of a cluster takes
   */
  refusesActs(isHold: boolean): Outcome | null;
  /** This machine's wall clock is known to be right at this moment. */
  confirmClock(aheadMs: number): void;
  /**
   * Whether there is a session to the service. From the first session on, evidence is sought for commands of
   * an earlier run.
   */
  fleetLink(isUp: boolean): void;
  /** Reads the messages of robots, for evidence and for names, and attributes their events. */
  readonly stage: Stage;
  /**
   * Rights or stations have changed: ends leases, and takes permits, of users that may no longer have them.
   * `isGone`: users that no longer exist. Accepted commands stay accepted, and holds stay.
   */
  reviewRights(isGone: (source: Source) => boolean): void;
  /** Why the stations of the configuration cannot become `next` now, by key. Changes nothing. */
  refusedStations(next: readonly StationOptions[]): readonly ReloadRefusal[];
  health(): Health;
  /**
   * Refuses new commands and those that were not sent, waits at most `deadlineMs` for the others, and ends
   * those as unknown. Outcomes of earlier commands are available until the journal is closed.
   */
  drain(deadlineMs: number): Promise<void>;
  /** The same, unless it is drained already; then closes the journal. */
  close(deadlineMs: number): Promise<void>;
}

/** Takes what other members of the cluster have done, from the store that all share. */
export interface ElsewhereSink {
  /** Another member sends a stop. */
  stop(stop: RobotStop): void;
  /** Another member has begun a hold, or lifted it. */
  hold(hold: StoredHold, isHeld: boolean): void;
  /** Sends a stop again that has left here already. Never rejects. */
  repeat(stop: RobotStop): Promise<Outcome>;
}

const LOOK_PERIOD_MS = 1_000;
const DRAIN_LOOK_MS = 100;

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { config, clock } = parts;
  const composed = composeCommands(parts);
  const { journal, evidence, guards, conclusion, stopping, link } = composed;
  const { conveyors, holds, leases, permits } = guards;
  const standingBy = new AbortController();
  let drained: Promise<void> | null = null;
  const drain = (deadlineMs: number) => {
    drained ??= shutDown(composed, clock, deadlineMs);
    return drained;
  };
  return {
    begin: composed.begin,
    check: composed.check,
    refuse: conclusion.refuse,
    reported: conclusion.reported,
    ...createKnownCommands(composed),
    standBy: () => every(clock, LOOK_PERIOD_MS, standingBy.signal, holds.tick),
    start() {
      standingBy.abort();
      return start(composed, parts);
    },
    rights: commandRights(config.rights, config.stations),
    stations: leases,
    holds,
    permits,
    elsewhere: {
      stop: composed.stopsElsewhere.note,
      hold: holds.elsewhere,
      repeat: composed.ownStops.repeat,
    },
    handover: createHandoverSteps(composed, clock),
    refusesActs(isHold) {
      if (stopping.signal.aborted) return actsEnded();
      return composed.shared?.isLeading() === false && !isHold ? actsElsewhere() : null;
    },
    confirmClock: composed.wall.confirm,
    fleetLink(isUp) {
      link.set(isUp);
      if (isUp) conveyors.linkUp();
    },
    stage: createAttributionStage(evidence.attribution, [evidence.observations, conveyors, holds, permits]),
    reviewRights(isGone) {
      leases.review(isGone);
      permits.review(isGone);
    },
    refusedStations: leases.refusedStations,
    health: () => healthOf(composed),
    drain,
    async close(deadlineMs) {
      await drain(deadlineMs);
      // A robot may have shown meanwhile that its conveyor stands.
      await conveyors.settled();
      await journal.close();
    },
  };
}

async function start(composed: Composition, parts: DispatcherParts): Promise<void> {
  const { journal, evidence, guards, running, stopping, link } = composed;
  const { attribution, foreign } = evidence;
  const { conveyors, holds, leases, permits } = guards;
  const { fleet, outputs, clock, log } = parts;
  const { catalogue } = fleet;
  const { audit } = outputs;
  const { auditLines, eventsLostSinceMs = null } = parts.earlierRuns;
  // First, so that the audit log is in the order of events.
  // What members share was audited where it was done.
  if (auditLines !== undefined && composed.shared === null)
    await recordMissing({ catalogue, journal, clock, log, audit, auditLines });
  holds.resume(journal.holds());
  conveyors.resume(journal.runs());
  leases.resume(journal.leases());
  for (const { missionId, command } of journal.made()) attribution.claim(missionId, command);
  link.start();
  publishLostEvents(composed, eventsLostSinceMs, log);
  await recoverCommands(composed, { catalogue, clock, log });
  for (const job of running.values()) conveyors.recovered(job);
  permits.start();
  every(clock, LOOK_PERIOD_MS, stopping.signal, () => {
    leases.tick();
    conveyors.tick();
    holds.tick();
    permits.tick();
    attribution.evaluate();
    foreign.tick();
  });
  pruneJournal({ journal, clock, log, signal: stopping.signal });
}

function healthOf(composed: Composition): Health {
  const { journal, evidence, guards, report, runner, running, stopping, shared } = composed;
  const { queues, waiting } = runner.figures();
  const figures = {
    inHand: running.size,
    robotQueues: queues,
    waiting,
    leases: guards.leases.count(),
    ...guards.conveyors.figures(),
    ...guards.holds.figures(),
    permitsMissing: guards.permits.missing(),
    foreignMissions: evidence.attribution.foreignMissions(),
    foreignAlarms: evidence.foreign.count(),
    ...journal.figures(),
    ...report.counts(),
  };
  if (stopping.signal.aborted) return { state: "down", figures };
  const problems = [
    // A standby records nothing.
    ...(journal.isWritable() || shared?.isLeading() === false
      ? []
      : ["the journal cannot be written: nothing that moves or changes is sent, stops pass"]),
    ...(journal.isDamaged()
      ? [
          "a record of the journal is damaged: its command ends unknown, and the next start puts the journal aside",
        ]
      : []),
  ];
  if (problems.length === 0) return { state: "up", figures };
  return { state: "degraded", detail: problems.join("; "), figures };
}

/**
 * Refuses commands that were not sent, stops the watched conveyors, waits at most `deadlineMs` for the
 * others, and ends those as unknown.
 */
async function shutDown(
  { guards, conclusion, runner, running, stopping }: Composition,
  clock: Clock,
  deadlineMs: number,
): Promise<void> {
  const { conveyors, leases, holds } = guards;
  stopping.abort();
  for (const job of running.values()) if (!isOwnStop(job)) runner.withdraw(job, shuttingDown());
  conveyors.shutDown();
  await drained(running, conveyors, clock, deadlineMs);
  for (const job of running.values()) {
    const isQueued = runner.abandon(job, interrupted(job.request.repeat.kind === "repeatable"));
    if (!isQueued) void conclusion.conclude(job, shuttingDown());
  }
  await allDone(running);
  await conveyors.settled();
  await leases.settled();
  await holds.settled();
}

async function allDone(running: Composition["running"]): Promise<void> {
  await Promise.all(Array.from(running.values(), (job) => job.done));
}

/**
 * Resolves when no command is in hand and each conveyor was stopped that had to be, or when the time is up.
 */
async function drained(
  running: Composition["running"],
  conveyors: ConveyorRuns,
  clock: Clock,
  deadlineMs: number,
): Promise<void> {
  const over = new AbortController();
  const cancel = clock.after(deadlineMs, () => over.abort());
  every(clock, LOOK_PERIOD_MS, over.signal, conveyors.tick);
  while (!over.signal.aborted) {
    await Promise.race([allDone(running), aborted(over.signal)]);
    if (running.size === 0 && !conveyors.isOwing()) break;
    await sleep(clock, DRAIN_LOOK_MS, over.signal);
  }
  cancel();
  over.abort();
}
