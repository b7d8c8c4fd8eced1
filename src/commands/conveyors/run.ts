import type { LeaseReason } from "../../domain/event.ts";
import type { Observed } from "../../domain/observed.ts";
import type { Conveyor, RobotId } from "../../domain/robot.ts";
import type { Job } from "../job.ts";
import type { StoredRun } from "../journal/journal.ts";
import { createLatestWrites } from "../journal/latest-writes.ts";
import type { Shared } from "../parts.ts";

/** Why the gateway itself stops a conveyor. */
export type StopReason =
  | Exclude<LeaseReason, "asked">
  | "too_long"
  | "stopped_early"
  | "restart"
  | "shutdown";

/** The words of the log and of the alarm, for people. */
export const stopReasons: Readonly<Record<StopReason, string>> = {
  released: "the station released the robot",
  overridden: "an engineer ended the lease",
  left: "the robot has left the station",
  out_of_sight: "the robot is out of sight",
  lapsed: "the station's heartbeat has lapsed",
  not_configured: "the station is no longer configured",
  not_allowed: "the owner of the lease may no longer use the station",
  too_long: "it has run for maxRunMs",
  stopped_early: "an earlier start command may still take effect",
  restart: "the gateway has restarted, or has taken over",
  shutdown: "the gateway shuts down",
};

/** A stop that the gateway sends until the conveyor is known to stand. Times are monotonic. */
export interface OwedStop {
  readonly reason: StopReason;
  readonly sinceMs: number;
  /** When the next stop may be sent. */
  nextAtMs: number;
  /** How many stops have no outcome yet, since the robot last sent something. */
  calls: { underWay: number };
  /** When the first stop succeeded that left after the start could act; null: none has. */
  stoppedAtMs: number | null;
}

/**
 * A conveyor that a command of this gateway has started, until a later stop succeeds. Times are monotonic.
 */
export interface ConveyorRun extends StoredRun {
  readonly robotId: RobotId;
  /** When its start left. */
  readonly startedAtMs: number;
  /** Until when the start may take effect at the robot. */
  mayStartUntilMs: number;
  /** Null: no limit. */
  readonly maxRunMs: number | null;
  /** The start, while it has no outcome. */
  start: Job | null;
  /** The run before that start; it counts again if the service refuses the start. */
  before: ConveyorRun | null;
  owed: OwedStop | null;
  /** The newest message about the conveyor since the start, and when it came. */
  seen: { readonly stamp: unknown; readonly atMs: number } | null;
}

/** The robot has a moment to show what it was told. */
const SHOWS_WITHIN_MS = 1_000;
/** A stop that the robot has taken is seen within this time. */
const STANDS_WITHIN_MS = 2_000;
const SOON_MS = 60_000;
/** Less than the second between two looks: a timer may come some milliseconds early. */
const EACH_MS = 900;
const LATER_MS = 9_900;

/** Whether the gateway watches it: without a station and a limit nothing would ever stop it. */
export function isWatched({ station, maxRunMs }: ConveyorRun): boolean {
  return station !== null || maxRunMs !== null;
}

/**
 * Whether the conveyor is known to stand for good. A good value shows it standing, and came after the start
 * could act, or still shows it a moment after a stop that left after that.
 */
export function isKnownToStand(
  { seen, owed, mayStartUntilMs }: ConveyorRun,
  shown: Observed<Conveyor> | undefined,
  nowMs: number,
): boolean {
  if (shown?.quality !== "good" || shown.value.operation !== "OPERATION_STATE_STOP") return false;
  if (seen !== null && seen.atMs >= mayStartUntilMs + SHOWS_WITHIN_MS) return true;
  const stoppedAtMs = owed?.stoppedAtMs ?? null;
  return stoppedAtMs !== null && nowMs - stoppedAtMs >= STANDS_WITHIN_MS;
}

/** The pause until the next stop: a second for the first minute, then ten. */
export function pauseMs({ sinceMs }: OwedStop, nowMs: number): number {
  return nowMs - sinceMs < SOON_MS ? EACH_MS : LATER_MS;
}

/** The part of a run that survives the gateway. */
function storedOf({ index, station, owner }: ConveyorRun): StoredRun {
  return { index, station, owner };
}

/** The started conveyors of all robots. Watched ones are kept on the disk, and an owed stop is an alarm. */
export interface RunRegistry {
  all(): readonly ConveyorRun[];
  of(robotId: RobotId): readonly ConveyorRun[];
  find(robotId: RobotId, index: number): ConveyorRun | undefined;
  /** Replaces the run of its conveyor. */
  put(run: ConveyorRun): void;
  remove(run: ConveyorRun): void;
  /** Sets or clears the alarm of the robot by its owed stops. */
  showOwed(robotId: RobotId): void;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

export function createRunRegistry({
  journal,
  alarmRegistry,
  log,
}: Pick<Shared, "journal" | "alarmRegistry" | "log">): RunRegistry {
  const robots = new Map<RobotId, Map<number, ConveyorRun>>();
  const { remember, settled } = createLatestWrites(journal.writeRuns, (robotId, error) => {
    log.error(
      { err: error, robotId },
      "started conveyors could not be recorded: a restart or another leader will not stop them",
    );
  });
  const of = (robotId: RobotId) => [...(robots.get(robotId)?.values() ?? [])];

  function keep(robotId: RobotId): void {
    const watched = of(robotId).filter(isWatched).map(storedOf);
    remember(robotId, watched.length === 0 ? null : watched);
    showOwed(robotId);
  }

  function showOwed(robotId: RobotId): void {
    const owing = of(robotId).flatMap(({ index, owed }) =>
      owed === null ? [] : [`conveyor ${index} (${stopReasons[owed.reason]})`],
    );
    const holds = owing.length > 0;
    const text = `${robotId} may still turn ${owing.join(", ")}: the gateway sends stops until it is seen to stand`;
    alarmRegistry.state({ kind: "robot", robotId }, "CONVEYOR_NOT_STOPPED", { holds, text });
  }

  return {
    all: () => [...robots.keys()].flatMap(of),
    of,
    find: (robotId, index) => robots.get(robotId)?.get(index),
    put(run) {
      const runs = robots.get(run.robotId) ?? new Map<number, ConveyorRun>();
      robots.set(run.robotId, runs.set(run.index, run));
      keep(run.robotId);
    },
    remove({ robotId, index }) {
      const runs = robots.get(robotId);
      runs?.delete(index);
      if (runs?.size === 0) robots.delete(robotId);
      keep(robotId);
    },
    showOwed,
    settled,
  };
}
