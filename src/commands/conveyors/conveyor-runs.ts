import type { StateChange } from "../../domain/change.ts";
import { sameSource } from "../../domain/command.ts";
import type { Quality } from "../../domain/observed.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Observations } from "../evidence/evidence.ts";
import type { Job } from "../job.ts";
import type { StoredLease, StoredRun } from "../journal/journal.ts";
import type { Shared } from "../parts.ts";
import {
  type ConveyorRun,
  isKnownToStand,
  isWatched,
  pauseMs,
  type RunRegistry,
  type StopReason,
  stopReasons,
} from "./run.ts";

interface ConveyorRunParts extends Pick<Shared, "clock" | "stations" | "options" | "link"> {
  readonly registry: RunRegistry;
  readonly owedStops: OwedStops;
  /** The present lease of a robot; null: none. */
  readonly leaseOf: (robotId: RobotId) => Pick<StoredLease, "station" | "owner"> | null;
}

/**
 * The conveyors that were started through this gateway, and those that it must stop. The gateway stops what a
 * station has started when its lease ends, when it has run for too long, and when the gateway stops or has
 * restarted. It owes such a stop until a good value shows that the conveyor stands, or until somebody starts
 * the conveyor again (docs/internals/decisions.md, A stop that is owed is repeated until the conveyor is seen
 * to stand).
 */
export interface ConveyorRuns {
  /** The conveyors that an earlier run of the gateway has started: each is owed a stop. */
  resume(stored: ReadonlyMap<RobotId, readonly StoredRun[]>): void;
  /** A start of an earlier run of the gateway, with an unknown outcome. */
  recovered(job: Job): void;
  /** The call of a command leaves. */
  left(job: Job): void;
  ended(job: Job, outcome: Outcome): void;
  /** A lease has ended: conveyors that its owner has started for the station are owed a stop. */
  leaseEnded(lease: Pick<StoredLease, "robotId" | "station" | "owner">, reason: StopReason): void;
  /** The changes of robots, after the observations have them. */
  observed(changes: readonly StateChange[]): void;
  /** The service is reached again: owed stops go first. */
  linkUp(): void;
  /**
   * Finds conveyors that have run for too long, and sends stops that are due. Call it about once a second.
   */
  tick(): void;
  /** The gateway stops, and with it all watched conveyors. */
  shutDown(): void;
  /** Whether a conveyor has to be stopped and no stop that could do it has reached its robot yet. */
  isOwing(): boolean;
  /** Resolves when no write is under way: before the journal is closed. */
  settled(): Promise<void>;
  figures(): Readonly<Record<string, number>>;
}

/**
 * A service that waits for its robot must not gather calls. Calls that it holds for a robot that was away are
 * of no use once the robot is back, so they do not count then.
 */
const MOST_UNDER_WAY = 3;

export function createConveyorRuns(parts: ConveyorRunParts): ConveyorRuns {
  const { clock, link, registry, owedStops } = parts;
  const { owe, look } = owedStops;
  const { started, ended } = createStarts(parts);
  /** Robots with a watched conveyor whose last published quality is not good. */
  const away = new Set<RobotId>();

  function isBack(robotId: RobotId, quality: Quality): boolean {
    if (quality === "good") return away.delete(robotId);
    if (registry.of(robotId).length > 0) away.add(robotId);
    return false;
  }

  return {
    resume(stored) {
      const nowMs = clock.monotonicMs();
      for (const [robotId, runs] of stored) {
        for (const run of runs) registry.put(resumedRun(robotId, run, nowMs));
      }
      for (const run of registry.all()) owe(run, "restart");
    },
    recovered(job) {
      if (job.sendings === 0) return;
      for (const run of started(job)) owe(run, "restart");
    },
    left: started,
    ended,
    leaseEnded({ robotId, station, owner }, reason) {
      for (const run of registry.of(robotId)) {
        for (let each: ConveyorRun | null = run; each !== null; each = each.before) {
          if (each.station === station && sameSource(each.owner, owner)) owe(each, reason);
        }
      }
    },
    observed(changes) {
      for (const change of changes) {
        if (change.kind === "robot" && isBack(change.robotId, change.quality)) {
          for (const run of registry.of(change.robotId)) {
            seenAnew(run);
            if (run.owed !== null) run.owed.nextAtMs = clock.monotonicMs();
            look(run);
          }
        }
        if (change.kind !== "conveyor") continue;
        const run = registry.find(change.robotId, change.observed.value.index);
        if (run === undefined) continue;
        const { stamp } = change.observed;
        if (run.seen?.stamp !== stamp) {
          run.seen = { stamp, atMs: clock.monotonicMs() };
          seenAnew(run);
        }
        look(run);
      }
    },
    linkUp() {
      for (const run of registry.all()) {
        if (run.owed !== null) run.owed.nextAtMs = clock.monotonicMs();
        look(run);
      }
    },
    tick() {
      const nowMs = clock.monotonicMs();
      for (const run of registry.all()) {
        if (run.maxRunMs !== null && nowMs - run.startedAtMs >= run.maxRunMs) owe(run, "too_long");
        look(run);
      }
    },
    shutDown() {
      for (const run of registry.all()) owe(run, "shutdown");
    },
    isOwing: () =>
      link.isUp() && registry.all().some(({ owed }) => owed !== null && owed.stoppedAtMs === null),
    settled: registry.settled,
    figures: () => ({
      conveyorsStarted: registry.all().filter(isWatched).length,
      stopsOwed: registry.all().filter(({ owed }) => owed !== null).length,
    }),
  };
}

/** The robot has sent something: a stop may reach it now. */
function seenAnew({ owed }: ConveyorRun): void {
  if (owed !== null) owed.calls = { underWay: 0 };
}

interface OwedStopParts extends Pick<Shared, "clock" | "log" | "link"> {
  readonly registry: RunRegistry;
  readonly observations: Pick<Observations, "sight">;
  /** Sends one stop of a conveyor, on behalf of the user that started it. Never rejects. */
  readonly stop: (robotId: RobotId, run: StoredRun) => Promise<Outcome>;
}

/** Sends the owed stops until the conveyor is known to stand. */
interface OwedStops {
  owe(run: ConveyorRun, reason: StopReason): void;
  /** Ends the owed stop of a conveyor that stands, and sends a stop that is due. */
  look(run: ConveyorRun): void;
}

export function createOwedStops({
  clock,
  log,
  link,
  registry,
  observations,
  stop,
}: OwedStopParts): OwedStops {
  function isStanding(run: ConveyorRun): boolean {
    const { conveyors } = observations.sight(run.robotId);
    const shown = conveyors.find(({ value }) => value.index === run.index);
    return run.start === null && isKnownToStand(run, shown, clock.monotonicMs());
  }

  function owe(run: ConveyorRun, reason: StopReason): void {
    if (run.owed !== null || !isWatched(run)) return;
    const { robotId, index: conveyor, station, owner } = run;
    if (isStanding(run)) {
      registry.remove(run);
      return;
    }
    const nowMs = clock.monotonicMs();
    run.owed = { reason, sinceMs: nowMs, nextAtMs: nowMs, calls: { underWay: 0 }, stoppedAtMs: null };
    const names = { robotId, conveyor, station, user: owner.name };
    log.warn({ ...names, reason: stopReasons[reason] }, "the gateway stops a conveyor");
    registry.showOwed(robotId);
    look(run);
  }

  function look(run: ConveyorRun): void {
    const { robotId, index: conveyor, owed } = run;
    if (owed === null || registry.find(robotId, conveyor) !== run) return;
    if (isStanding(run)) {
      log.info({ robotId, conveyor }, "a conveyor that the gateway had to stop stands");
      registry.remove(run);
      return;
    }
    const nowMs = clock.monotonicMs();
    const { calls } = owed;
    if (nowMs < owed.nextAtMs || calls.underWay >= MOST_UNDER_WAY || !link.isUp()) return;
    calls.underWay += 1;
    owed.nextAtMs = nowMs + pauseMs(owed, nowMs);
    void stop(robotId, run).then(() => {
      calls.underWay -= 1;
    });
  }

  return { owe, look };
}

/** Follows the starts and stops that this gateway sends. */
function createStarts({ clock, stations, options, registry, owedStops, leaseOf }: ConveyorRunParts) {
  const { owe, look } = owedStops;
  /** The time at which the call of a command left. */
  const leftAtMs = new WeakMap<Job, number>();

  function begin(job: Job, robotId: RobotId, index: number): ConveyorRun {
    const { source: owner } = job.command;
    const lease = leaseOf(robotId);
    const leased = lease !== null && sameSource(lease.owner, owner) ? lease.station : null;
    const station = job.command.station ?? leased;
    const nowMs = clock.monotonicMs();
    const times = { startedAtMs: nowMs, mayStartUntilMs: nowMs + options.callDeadlineMs };
    const maxRunMs = maxRunMsOf({ stations, options }, station, index);
    const found = registry.find(robotId, index) ?? null;
    // A start whose token was refused leaves a second time.
    const before = found?.start === job ? found.before : found;
    const run = { robotId, index, station, owner, ...times, maxRunMs, start: job, before };
    return { ...run, owed: null, seen: null };
  }

  /** A start that the service has refused has started nothing: the earlier run counts again. */
  function startEnded(run: ConveyorRun, { outcome }: Outcome): void {
    const { before } = run;
    run.start = null;
    run.before = null;
    if (outcome === "refused" || outcome === "expired") {
      if (before === null) registry.remove(run);
      else {
        registry.put(before);
        look(before);
      }
      return;
    }
    if (outcome === "succeeded") run.mayStartUntilMs = clock.monotonicMs();
    if (!isWatched(run)) registry.remove(run);
  }

  /** A stop of any sender has succeeded. It ends a run only if no start can act after it. */
  function stopped(run: ConveyorRun, stopLeftAtMs: number): void {
    if (stopLeftAtMs < run.startedAtMs) return;
    const isLast = run.start === null && stopLeftAtMs >= run.mayStartUntilMs;
    if (run.owed !== null) {
      if (isLast) run.owed.stoppedAtMs ??= clock.monotonicMs();
    } else if (isLast || !isWatched(run)) registry.remove(run);
    else owe(run, "stopped_early");
  }

  return {
    started(job: Job): readonly ConveyorRun[] {
      const { request, robotId } = job;
      if (request.conveyors === null || robotId === null) return [];
      leftAtMs.set(job, clock.monotonicMs());
      const runs = request.conveyors.started.map((index) => begin(job, robotId, index));
      for (const run of runs) registry.put(run);
      return runs;
    },
    ended(job: Job, outcome: Outcome): void {
      const { request, robotId } = job;
      if (request.conveyors === null || robotId === null) return;
      for (const run of registry.of(robotId)) if (run.start === job) startEnded(run, outcome);
      const stopLeftAtMs = leftAtMs.get(job);
      const isDone = outcome.outcome === "succeeded" || outcome.outcome === "probably_succeeded";
      if (stopLeftAtMs === undefined || !isDone) return;
      const { stopped: indexes } = request.conveyors;
      for (const run of registry.of(robotId)) if (indexes.includes(run.index)) stopped(run, stopLeftAtMs);
    },
  };
}

/** How long a conveyor that was started in this way may run; null: without a limit. */
function maxRunMsOf(
  { stations, options }: Pick<ConveyorRunParts, "stations" | "options">,
  station: string | null,
  index: number,
): number | null {
  if (station === null) return options.maxRunMs;
  const found = stations.now().find(({ name }) => name === station);
  return found?.maxRunMsOf?.get(index) ?? found?.maxRunMs ?? options.maxRunMs;
}

/** The start left long ago, or is among the commands that are recovered. */
function resumedRun(robotId: RobotId, stored: StoredRun, nowMs: number): ConveyorRun {
  const times = { startedAtMs: nowMs, mayStartUntilMs: nowMs, maxRunMs: 0 };
  return { ...stored, robotId, ...times, start: null, before: null, owed: null, seen: null };
}
