import type { FleetPort } from "../contracts/fleet-port.ts";
import type { RobotSummary } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { MakeStopRequest } from "../contracts/stop-request.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createSteadyWall, type SteadyWall } from "../platform/steady-wall.ts";
import { createAcceptance } from "./acceptance.ts";
import { SERVICE_PICKS, unheardOf } from "./admission.ts";
import { type Attribution, createAttribution } from "./attribution/attribution.ts";
import { createForeignWatch, type ForeignWatch } from "./attribution/foreign-watch.ts";
import type { AuditSink } from "./audit/audit.ts";
import type { AuditLines } from "./audit/missing-records.ts";
import { type Conclusion, createConclusion } from "./conclusion.ts";
import { createEvidenceSearch, type EvidenceSearch } from "./evidence/evidence-search.ts";
import { createObservations, type Observations } from "./evidence/observations.ts";
import { createFleetLink, type FleetLink } from "./fleet-link.ts";
import { createHoldKeeper, type HoldKeeper } from "./holds/hold-keeper.ts";
import type { Execution } from "./intake/execution.ts";
import type { Job } from "./job.ts";
import type { Journal } from "./journal/journal.ts";
import { type WatchedJournal, watchJournal } from "./journal/watched-journal.ts";
import { createLeaseKeeper, type LeaseKeeper } from "./leases/lease-keeper.ts";
import type { DispatcherOptions, StationOptions } from "./options.ts";
import { createOwnStops, type OwnStops } from "./own-stops.ts";
import type { Rights } from "./rights.ts";
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
  /** The commands in hand, by identity. */
  readonly running: Map<string, Job>;
  readonly stopping: AbortController;
  readonly wall: SteadyWall;
  readonly link: FleetLink;
  readonly rights: Rights;
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
  readonly holds: HoldKeeper;
}

/** The files of this room, joined. */
export interface Composition extends Shared, Evidence, Guards {
  readonly conclusion: Conclusion;
  readonly runner: QueueRunner;
  readonly begin: Execution["begin"];
}

/** Joins the files of this room: intake → robot queues → calls → evidence → conclusion. */
export function composeCommands(parts: DispatcherParts): Composition {
  const { options, clock, journal } = parts;
  const shared: Shared = {
    ...parts,
    notify: (event) => evidence.attribution.deliver({ changes: [], events: [event] }),
    journal: watchJournal(journal, clock),
    running: new Map(),
    stopping: new AbortController(),
    wall: createSteadyWall(clock),
    link: createFleetLink(clock),
    rights: { rules: options.rights, accounts: options.accounts },
  };
  const evidence = composeEvidence(shared, (id, text) => conclusion.foundLater(id, text));
  const ownStops = createOwnStops({ ...parts, begin: (accepted) => begin(accepted) });
  const guards = composeGuards(shared, evidence, ownStops, (robotId) => refuseStarts(robotId));
  const conclusion = createConclusion({ ...shared, ...evidence });
  const runner = createQueueRunner({ ...shared, ...evidence, ...guards, conclusion });
  const begin = createAcceptance({ ...shared, ...evidence, ...guards, conclusion, runner });

  /** A hold of this robot, or (null) of all, has begun: its starts are not sent any more. */
  function refuseStarts(robotId: RobotId | null): void {
    for (const job of shared.running.values()) {
      const isConcerned = robotId === null || job.robotId === robotId || job.queue === SERVICE_PICKS;
      if (job.request.effect !== "moves" || !isConcerned) continue;
      job.heldBack ??= guards.holds.refusalFor(job.robotId);
      if (job.heldBack !== null) runner.withdraw(job, job.heldBack);
    }
  }

  return { ...shared, ...evidence, ...guards, conclusion, runner, begin };
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

function composeGuards(
  shared: Shared,
  { observations }: Evidence,
  ownStops: OwnStops,
  refuseStarts: (robotId: RobotId | null) => void,
): Guards {
  const refusedName = (robotId: RobotId) =>
    shared.robot(robotId) === undefined ? unheardOf(shared, robotId) : null;
  const common = { ...shared, observations, refusedName };
  const leases = createLeaseKeeper({ ...common, stopConveyors: ownStops.lapse });
  const holds = createHoldKeeper({ ...common, refuseStarts, sendStop: ownStops.hold });
  return { leases, holds };
}
