import type { FleetEvent } from "../domain/event.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import { createSteadyWall } from "../platform/clock-watch.ts";
import { createAcceptance, createCheck } from "./acceptance.ts";
import { type Conclusion, createConclusion, createOutcomeRecords } from "./conclusion.ts";
import { createConveyorRuns, createOwedStops } from "./conveyors/conveyor-runs.ts";
import { createRunRegistry } from "./conveyors/run.ts";
import { createEvidence, type Evidence } from "./evidence/evidence.ts";
import { createFleetLink } from "./fleet-link.ts";
import { createHoldControl } from "./holds/hold-control.ts";
import { createHoldEvents } from "./holds/hold-events.ts";
import { createHoldStore } from "./holds/hold-store.ts";
import type { Execution } from "./intake/request.ts";
import { createIntakeChecks, type Guards, refuseUnknown, SERVICE_PICKS } from "./intake-checks.ts";
import type { Job } from "./job.ts";
import { watchJournal } from "./journal/journal.ts";
import { createLeaseControl } from "./leases/lease-control.ts";
import { createLeaseEvents } from "./leases/lease-events.ts";
import { createLeaseRules } from "./leases/lease-rules.ts";
import { createOwnStops, createStopsElsewhere, type OwnStops, type StopsElsewhere } from "./own-stops.ts";
import type { DispatcherParts, Shared } from "./parts.ts";
import { createPermitControl } from "./permits/permit-control.ts";
import { type CommandReport, createReport } from "./report.ts";
import { createCalls } from "./robot-queues/calls.ts";
import { createQueueRunner, type QueueRunner } from "./robot-queues/queue-runner.ts";
import { createRecording, createSeeking } from "./robot-queues/recording.ts";

/** The files of this module, joined. */
export interface Composition
  extends Pick<Shared, "journal" | "areRecordsLost" | "running" | "stopping" | "wall" | "link" | "shared"> {
  readonly evidence: Evidence;
  readonly guards: Guards;
  readonly report: CommandReport;
  readonly conclusion: Conclusion;
  readonly runner: QueueRunner;
  readonly ownStops: OwnStops;
  readonly stopsElsewhere: StopsElsewhere;
  readonly begin: Execution["begin"];
  readonly check: Execution["check"];
}

/** Joins the files of this module: intake → robot queues → calls → evidence → conclusion. */
export function composeCommands(parts: DispatcherParts): Composition {
  const { config, fleet, outputs, clock, log, sessionId } = parts;
  const { isOnTrial = () => false } = config;
  const { options, rights } = config;
  const { catalogue, port, robot, stopRequest } = fleet;
  const { alarmRegistry, audit, meter, progress } = outputs;
  const { areRecordsLost = false } = parts.earlierRuns;
  const notify = (event: FleetEvent) => outputs.deliver({ changes: [], events: [event] });
  const { shared = null } = config;
  const journal = watchJournal(parts.journal, clock, shared !== null);
  const running = new Map<string, Job>();
  const stopping = new AbortController();
  const wall = createSteadyWall(clock);
  const link = createFleetLink(clock);
  const onLate = (id: string, text: string) => conclusion.foundLater(id, text);
  const evidence = createEvidence({ options, port, shared, alarmRegistry, clock, log, onLate });
  const { attribution, search, observations } = evidence;
  const ownStops = createOwnStops({
    catalogue,
    clock,
    log,
    sessionId,
    stopRequest,
    begin: (accepted) => begin(accepted),
  });
  const guards = composeGuards(parts, { journal, link, notify, observations, ownStops, refuseStarts });
  const report = createReport({ catalogue, robot, clock, sessionId, notify, audit, meter, progress });
  const record = createOutcomeRecords({
    journal,
    areRecordsLost,
    shared,
    clock,
    log,
    stopsElsewhere: { repeatFor: (job) => stopsElsewhere.repeatFor(job) },
  });
  const conclusion = createConclusion({
    areRecordsLost,
    running,
    clock,
    log,
    attribution,
    search,
    report,
    record,
  });
  const run = { stopping, isOnTrial, shared };
  const checks = createIntakeChecks({ rights, port, robot, link, run, clock, observations, guards });
  const { refusalNow } = checks;
  const besides = (queue: string) => runner.besides(queue);
  const calls = createCalls({ options, port, journal, shared, clock, log, evidence, guards, besides });
  const repeatStops = (job: Job) => stopsElsewhere.repeatFor(job);
  const seekEvidence = createSeeking({ options, search, shared, clock, repeatStops });
  const recordStage = createRecording({ options, journal, shared, clock, log, observations, refusalNow });
  const runner = createQueueRunner({ options, shared, clock, calls, recordStage, seekEvidence, onEnd });
  const stopsElsewhere: StopsElsewhere = createStopsElsewhere({
    running,
    clock,
    shared,
    stopping: stopping.signal,
    ownStops,
    runner,
    calls,
  });
  const begin = createAcceptance({ running, wall, clock, log, checks, report, runner, conclusion });
  const check = createCheck({ checks, journal, wall, clock, log });

  function onEnd(job: Job, outcome: Outcome): void {
    guards.conveyors.ended(job, outcome);
    void conclusion.conclude(job, outcome);
  }

  /** Refuses the waiting starts for which this returns a refusal. */
  function refuseStarts(refusalOf: (job: Job) => Outcome | null): void {
    for (const job of running.values()) {
      const refused = job.request.effect === "moves" ? refusalOf(job) : null;
      if (refused === null) continue;
      job.heldBack ??= refused;
      runner.withdraw(job, job.heldBack);
    }
  }

  const core = { journal, areRecordsLost, running, stopping, wall, link, shared, ownStops, stopsElsewhere };
  return { ...core, evidence, guards, report, conclusion, runner, begin, check };
}

/** Whether a hold of this robot, or (null) of all robots, concerns the job's robot, or may. */
function isConcerned(job: Job, robotId: RobotId | null): boolean {
  return robotId === null || job.robotId === robotId || job.queue === SERVICE_PICKS;
}

/** What guards need of this module. */
interface GuardNeeds extends Pick<Shared, "journal" | "link" | "notify"> {
  readonly observations: Evidence["observations"];
  readonly ownStops: OwnStops;
  /** Refuses the waiting starts for which this returns a refusal. */
  readonly refuseStarts: (refusalOf: (job: Job) => Outcome | null) => void;
}

function composeGuards(
  { config, fleet: { robot }, outputs, clock, log, sessionId }: DispatcherParts,
  { journal, link, notify, observations, ownStops, refuseStarts }: GuardNeeds,
): Guards {
  const { options, rights, stations } = config;
  const { alarmRegistry, audit } = outputs;
  const onHold = (robotId: RobotId | null) => outputs.onHold?.(robotId);
  const refusedName = (robotId: RobotId) =>
    robot(robotId) === undefined ? refuseUnknown(link, robotId) : null;
  const registry = createRunRegistry({ journal, alarmRegistry, log });
  const stop = ownStops.conveyor;
  const owedStops = createOwedStops({ clock, log, link, registry, observations, stop });
  const leaseOf = (robotId: RobotId) => leases.leaseOf(robotId);
  const conveyors = createConveyorRuns({ clock, stations, options, link, registry, owedStops, leaseOf });
  const leases = createLeaseControl({
    journal,
    stations,
    clock,
    log,
    rules: createLeaseRules({ stations, robot, rights, observations, refusedName }),
    publish: createLeaseEvents({ clock, log, audit, notify, sessionId }),
    observations,
    onEnd: conveyors.leaseEnded,
  });
  const holds = createHoldControl({
    clock,
    log,
    store: createHoldStore({
      ...{ journal, clock, log },
      onChange: onHold,
      onStillHeld: config.shared ? (hold) => holds.elsewhere(hold, true) : null,
    }),
    publish: createHoldEvents({ clock, log, audit, sessionId, notify, onHold }),
    observations,
    effects: {
      refuseStarts: (robotId) =>
        refuseStarts((job) => (isConcerned(job, robotId) ? holds.refusalFor(job.robotId) : null)),
      sendStop: ownStops.hold,
      changed: onHold,
    },
    isLeading: () => config.shared?.isLeading() ?? true,
    refusedName,
  });
  const permits = createPermitControl({
    stations,
    rights,
    clock,
    log,
    audit,
    observations,
    refuseStarts: () => refuseStarts((job) => permits.refusalFor(job.request, job.robotId)),
    pause: ownStops.permit,
  });
  return { leases, holds, permits, conveyors };
}
