import type { AlarmConditionSink } from "../contracts/alarms.ts";
import type { SharedCommands } from "../contracts/cluster.ts";
import type { CommandProgress } from "../contracts/command-log.ts";
import type { FleetPort, MakeStopRequest } from "../contracts/fleet-port.ts";
import type { RobotSummary } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { Meter } from "../contracts/metrics.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { SteadyWall } from "../platform/clock-watch.ts";
import type { Live } from "../platform/live.ts";
import type { Log } from "../platform/log.ts";
import type { AuditSink } from "./audit/audit.ts";
import type { AuditLines } from "./audit/missing-records.ts";
import type { FleetLink } from "./fleet-link.ts";
import type { Job } from "./job.ts";
import type { Journal, WatchedJournal } from "./journal/journal.ts";
import type { DispatcherOptions, Rights, StationOptions } from "./options.ts";

/** What the configuration, and the start of the program, say of commands. */
interface CommandConfig {
  /** Whether this version of the program is on trial, and sends only stops and reads; absent: it is not. */
  readonly isOnTrial?: (() => boolean) | undefined;
  /** The journal is shared with other members of a cluster; null or absent: it is this gateway's own. */
  readonly shared?: SharedCommands | null;
  readonly options: DispatcherOptions;
  readonly rights: Live<Rights>;
  readonly stations: Live<readonly StationOptions[]>;
}

/** The fleet that commands are for. */
interface CommandedFleet {
  readonly catalogue: Catalogue;
  readonly port: FleetPort;
  /** The robot with its present quality; undefined: it was never seen. */
  readonly robot: (robotId: RobotId) => RobotSummary | undefined;
  readonly stopRequest: MakeStopRequest;
}

/** What is known of earlier runs, besides the journal. */
interface EarlierRuns {
  /** The records of earlier commands are lost: nobody knows which identities were sent. */
  readonly areRecordsLost?: boolean;
  /**
   * Since when (in running time) events of ended commands may have missed a northbound before the last run
   * crashed; null: none has.
   */
  readonly eventsLostSinceMs?: number | null;
  /** The audit log of earlier runs; absent: it does not outlive a run. */
  readonly auditLines?: AuditLines | undefined;
}

/** What is notified of commands, leases, holds and permits. */
interface CommandOutputs {
  /** Delivers a batch by way of the attribution of its events. Synchronous; never throws. */
  readonly deliver: (batch: Batch) => void;
  /** The hold on this robot, or (null) on all robots, has changed. Synchronous; never throws. */
  readonly onHold?: (robotId: RobotId | null) => void;
  readonly alarmRegistry: AlarmConditionSink;
  readonly audit: AuditSink;
  readonly meter?: Pick<Meter, "commandEnded"> | undefined;
  /** Receives the stages of each command; absent: nobody looks. */
  readonly progress?: CommandProgress | undefined;
}

/** The dependencies of the dispatcher. */
export interface DispatcherParts {
  readonly config: CommandConfig;
  readonly fleet: CommandedFleet;
  readonly journal: Journal;
  readonly earlierRuns: EarlierRuns;
  readonly outputs: CommandOutputs;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
}

/**
 * Names the types of this module's dependencies; no value has all of them. The journal is watched: nothing
 * here writes to one whose failures are not seen.
 */
export interface Shared
  extends CommandConfig,
    CommandedFleet,
    Omit<CommandOutputs, "deliver" | "onHold">,
    Pick<DispatcherParts, "clock" | "log" | "sessionId"> {
  readonly journal: WatchedJournal;
  readonly areRecordsLost: boolean;
  /** Null: no other member has the journal. */
  readonly shared: SharedCommands | null;
  /** Publishes an event, behind those of its robot that wait to be attributed. Synchronous; never throws. */
  readonly notify: (event: FleetEvent) => void;
  /** The commands in hand, by identity. */
  readonly running: Map<string, Job>;
  readonly stopping: AbortController;
  readonly isOnTrial: () => boolean;
  readonly wall: SteadyWall;
  readonly link: FleetLink;
}
