import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import { createSteadyWall } from "../platform/clock-watch.ts";
import { createAcceptance, createCheck } from "./acceptance.ts";
import {
  type Attribution,
  createAttribution,
  createForeignWatch,
  type ForeignWatch,
} from "./attribution/attribution.ts";
import { type Conclusion, createConclusion } from "./conclusion.ts";
import { type ConveyorRuns, createConveyorRuns } from "./conveyors/conveyor-runs.ts";
import { createEvidenceSearch, type EvidenceSearch } from "./evidence/evidence-search.ts";
import { createObservations, type Observations } from "./evidence/observations.ts";
import { createFleetLink } from "./fleet-link.ts";
import { createHoldControl, type HoldControl } from "./holds/hold-control.ts";
import type { Execution } from "./intake/execution.ts";
import { refuseUnknown, SERVICE_PICKS } from "./intake-checks.ts";
import type { Job } from "./job.ts";
import { watchJournal } from "./journal/watched-journal.ts";
import { createLeaseControl, type LeaseControl } from "./leases/lease-control.ts";
import { createOwnStops, type OwnStops } from "./own-stops.ts";
import type { DispatcherParts, Shared } from "./parts.ts";
import { createPermitControl, type PermitControl } from "./permits/permit-control.ts";
import { createQueueRunner, type QueueRunner } from "./robot-queues/queue-runner.ts";

/** Evidence and attribution: compares the messages of robots with commands. */
interface Evidence {
  readonly foreign: ForeignWatch;
  readonly attribution: Attribution;
  readonly search: EvidenceSearch;
  readonly observations: Observations;
}

/** All that may keep a command from being sent. */
interface Guards {
  readonly leases: LeaseControl;
  readonly holds: HoldControl;
  readonly permits: PermitControl;
  readonly conveyors: ConveyorRuns;
}

/** The files of this module, joined. */
export interface Composition extends Shared, Evidence, Guards {
  readonly conclusion: Conclusion;
  readonly runner: QueueRunner;
  readonly begin: Execution["begin"];
  readonly check: Execution["check"];
}

/** Joins the files of this module: intake → robot queues → calls → evidence → conclusion. */
export function composeCommands(parts: DispatcherParts): Composition {
  const { clock, journal } = parts;
  const shared: Shared = {
    ...parts,
    notify: (event) => parts.deliver({ changes: [], events: [event] }),
    journal: watchJournal(journal, clock),
    running: new Map(),
    stopping: new AbortController(),
    wall: createSteadyWall(clock),
    link: createFleetLink(clock),
  };
  const evidence = composeEvidence(shared, (id, text) => conclusion.foundLater(id, text));
  const ownStops = createOwnStops({ ...parts, begin: (accepted) => begin(accepted) });
  const guards = composeGuards(shared, evidence, ownStops, {
    onHold: (robotId) =>
      refuseStarts((job) => (isConcerned(job, robotId) ? guards.holds.refusalFor(job.robotId) : null)),
    onNoPermit: () => refuseStarts((job) => guards.permits.refusalFor(job.request, job.robotId)),
  });
  const conclusion = createConclusion({ ...shared, ...evidence });
  const runner = createQueueRunner({ ...shared, ...evidence, ...guards, conclusion });
  const begin = createAcceptance({ ...shared, ...evidence, ...guards, conclusion, runner });

  const check = createCheck({ ...shared, ...evidence, ...guards });

  /** Refuses the waiting starts for which this returns a refusal. */
  function refuseStarts(refusalOf: (job: Job) => Outcome | null): void {
    for (const job of shared.running.values()) {
      const refused = job.request.effect === "moves" ? refusalOf(job) : null;
      if (refused === null) continue;
      job.heldBack ??= refused;
      runner.withdraw(job, job.heldBack);
    }
  }

  return { ...shared, ...evidence, ...guards, conclusion, runner, begin, check };
}

/** Whether a hold of this robot, or (null) of all robots, concerns the job's robot, or may. */
function isConcerned(job: Job, robotId: RobotId | null): boolean {
  return robotId === null || job.robotId === robotId || job.queue === SERVICE_PICKS;
}

function composeEvidence(shared: Shared, onLate: (commandId: string, text: string) => void): Evidence {
  const foreign = createForeignWatch(shared);
  const attribution = createAttribution({ ...shared, onForeign: foreign.seen });
  const search = createEvidenceSearch({ ...shared, attribution, onLate });
  const observations = createObservations({
    missions: search.missions,
    conveyor: search.conveyor,
    newMission: attribution.seen,
  });
  return { foreign, attribution, search, observations };
}

/** What to do about starts that have not left. */
interface OnRefusal {
  /** A hold of this robot, or (null) of all robots, has begun. */
  readonly onHold: (robotId: RobotId | null) => void;
  readonly onNoPermit: () => void;
}

function composeGuards(
  shared: Shared,
  { observations }: Evidence,
  ownStops: OwnStops,
  { onHold, onNoPermit }: OnRefusal,
): Guards {
  const refusedName = (robotId: RobotId) =>
    shared.robot(robotId) === undefined ? refuseUnknown(shared, robotId) : null;
  const common = { ...shared, observations, refusedName };
  const conveyors = createConveyorRuns({
    ...common,
    leaseOf: (robotId) => leases.leaseOf(robotId),
    stop: ownStops.conveyor,
  });
  const leases = createLeaseControl({ ...common, onEnd: conveyors.leaseEnded });
  const holds = createHoldControl({ ...common, refuseStarts: onHold, sendStop: ownStops.hold });
  const permits = createPermitControl({ ...common, refuseStarts: onNoPermit, pause: ownStops.permit });
  return { leases, holds, permits, conveyors };
}
