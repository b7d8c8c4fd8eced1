import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { Stations } from "../../contracts/stations.ts";
import { type Source, sameSource } from "../../domain/command.ts";
import type { LeaseReason } from "../../domain/event.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { type Clock, noLaterThan } from "../../platform/clock.ts";
import type { StopReason } from "../conveyors/run.ts";
import type { Observations } from "../evidence/evidence.ts";
import type { Job } from "../job.ts";
import type { StoredLease } from "../journal/journal.ts";
import { createLatestWrites, type LatestWrites } from "../journal/latest-writes.ts";
import type { StationOptions } from "../options.ts";
import type { Shared } from "../parts.ts";
import type { PublishLease } from "./lease-events.ts";
import {
  changedLeases,
  describeLease,
  grant,
  type Lease,
  type LeaseRules,
  type Leases,
  lapsed,
  renewed,
  resumed,
  storedOf,
  withoutLease,
} from "./lease-rules.ts";

interface LeaseControlParts extends Pick<Shared, "journal" | "stations" | "clock" | "log"> {
  readonly rules: LeaseRules;
  readonly publish: PublishLease;
  readonly observations: Pick<Observations, "missions" | "position">;
  /** A lease has ended: conveyors that its owner has started for the station must be stopped. */
  readonly onEnd: (lease: Lease, reason: StopReason) => void;
}

/** Keeps the leases, and ends them when the robot leaves or the station falls silent. */
export interface LeaseControl extends Stations {
  /**
   * Begins the lease of `station` on a robot that stands at or drives to one of its destinations; a present
   * lease is confirmed, not renewed. Null: it is given, and on the disk; otherwise the refusal. Never
   * rejects.
   */
  ask(station: string, source: Source, robotId: RobotId): Promise<Outcome | null>;
  /**
   * Ends the lease, by its owner. Null: it is ended, or there was none; UNKNOWN_ROBOT: there is no such
   * robot.
   */
  release(station: string, source: Source, robotId: RobotId): Outcome | null;
  /** The heartbeat of this user of the station has changed. It renews the user's leases for that station. */
  heartbeat(station: string, source: Source): void;
  /**
   * Ends the lease of any owner. Null: it is ended, or there was none, as with `release`. It does not check
   * rights.
   */
  override(source: Source, robotId: RobotId): Outcome | null;
  /** The robots that this user leases for the station now; null: there is no such station. */
  leased(station: string, source: Source): readonly RobotId[] | null;
  /** Takes over the leases of an earlier run. */
  resume(stored: readonly StoredLease[]): void;
  /**
   * Why another's lease keeps this source from the robot, or (null) from a robot that the service chooses;
   * null: none does.
   */
  refusalFor(robotId: RobotId | null, source: Source): string | null;
  /**
   * The refusal of a start of conveyors through a station that does not lease the robot; null for every other
   * command.
   */
  refusedStart(job: Pick<Job, "command" | "request" | "robotId">): Outcome | null;
  /** Ends leases that have lapsed, or whose robot has left. Call it about once a second. */
  tick(): void;
  /** Rights have changed: ends the leases that would not be granted now, and those of users that are gone. */
  review(isGone: (owner: Source) => boolean): void;
  /** Which leases forbid that the stations of the configuration become `next`. */
  refusedStations(next: readonly StationOptions[]): readonly ReloadRefusal[];
  count(): number;
  /** Resolves when no write is under way: before the journal is closed. */
  settled(): Promise<void>;
}

export function createLeaseControl({
  journal,
  stations,
  clock,
  log,
  rules,
  publish,
  observations,
  onEnd,
}: LeaseControlParts): LeaseControl {
  const memory = createLatestWrites(journal.writeLease, (robotId, error) => {
    log.error(
      { err: error, robotId },
      "a lease could not be recorded: a restart or another leader will not know of it",
    );
  });
  const { remember, settled } = memory;
  const registry = createLeaseRegistry(observations, rules, remember);
  const recordings = createRecordings(memory, clock);

  /** The end of a lease that was never granted is not published. */
  function end(lease: Lease, reason: EndReason, by: Source | null = null): void {
    const isGranted = !recordings.isUnderWay(lease.robotId);
    registry.change(withoutLease(registry.leases(), lease.robotId));
    if (isGranted) publish("free", lease, reason, by);
    onEnd(lease, reason);
  }

  /**
   * A lease that a crash could lose is granted to nobody. Others are kept out from the moment when it is
   * requested.
   */
  async function ask(station: string, source: Source, robotId: RobotId): Promise<Outcome | null> {
    const leases = registry.leases();
    const refused = rules.refusedAsk(leases, station, source, robotId);
    if (refused !== null) return refused;
    const isNew = !leases.has(robotId);
    registry.change(grant(leases, station, source, robotId, clock));
    if (!isNew && !recordings.isUnderWay(robotId)) return null;
    const isStored = await recordings.follow(robotId);
    const lease = registry.leases().get(robotId);
    const isOwn = lease?.station === station && sameSource(lease.owner, source);
    if (!isStored) {
      if (isNew && isOwn) registry.change(withoutLease(registry.leases(), robotId));
      return refusal("JOURNAL_FAILED", "the lease was not granted: the disk did not take it");
    }
    if (!isOwn) return refusal("NOT_AT_STATION", "the lease ended while it was recorded: ask again");
    if (isNew) publish("leased", { robotId, station, owner: source }, "asked", source);
    return null;
  }

  return {
    resume(stored) {
      for (const each of stored) {
        const lease = resumed(each, clock);
        const reason = rules.whyNotResumed(lease);
        if (reason === null) {
          registry.resume(lease);
          continue;
        }
        publish("free", lease, reason, null);
        remember(lease.robotId, null);
        onEnd(lease, reason);
      }
    },
    ask,
    release(station, source, robotId) {
      const lease = registry.leases().get(robotId);
      if (lease === undefined) return rules.refusedEnd(robotId);
      if (lease.station !== station || !sameSource(lease.owner, source)) {
        return refusal("LEASE_HELD", describeLease(lease, robotId));
      }
      end(lease, "released", source);
      return null;
    },
    heartbeat: (station, source) =>
      registry.change(renewed(registry.leases(), station, source, clock.monotonicMs())),
    override(source, robotId) {
      const lease = registry.leases().get(robotId);
      if (lease === undefined) return rules.refusedEnd(robotId);
      end(lease, "overridden", source);
      return null;
    },
    leaseOf: (robotId) => (recordings.isUnderWay(robotId) ? null : (registry.leases().get(robotId) ?? null)),
    leased(station, source) {
      if (!rules.isStation(station)) return null;
      const own = [...registry.leases().values()].filter(
        (lease) =>
          lease.station === station &&
          sameSource(lease.owner, source) &&
          !recordings.isUnderWay(lease.robotId),
      );
      return own.map(({ robotId }) => robotId);
    },
    refusalFor: (robotId, source) => othersLease(registry.leases(), robotId, source),
    refusedStart: (job) => withoutLeaseRefusal(registry.leases(), recordings.isUnderWay, job),
    ...createLeaseEnds({ clock, stations, registry, rules, end }),
    refusedStations: (next) => rules.refusedStations(registry.leases(), next),
    count: () => registry.leases().size,
    settled,
  };
}

function withoutLeaseRefusal(
  leases: Leases,
  isUnderWay: (robotId: RobotId) => boolean,
  { command, request, robotId }: Pick<Job, "command" | "request" | "robotId">,
): Outcome | null {
  const { station, source } = command;
  if (station === undefined || (request.conveyors?.started.length ?? 0) === 0) return null;
  const lease = robotId === null ? undefined : leases.get(robotId);
  const isOwn = lease?.station === station && sameSource(lease.owner, source);
  if (isOwn && !isUnderWay(lease.robotId)) return null;
  const message = `station ${station} does not lease robot ${robotId} for ${source.protocol} "${source.name}": through its slot conveyors start only while it does`;
  return refusal("NO_LEASE", message);
}

type EndReason = Exclude<LeaseReason, "asked">;

/** Ends the leases that must not go on. */
function createLeaseEnds({
  clock,
  stations,
  registry,
  rules,
  end,
}: Pick<LeaseControlParts, "clock" | "stations" | "rules"> & {
  readonly registry: LeaseRegistry;
  readonly end: (lease: Lease, reason: EndReason) => void;
}): Pick<LeaseControl, "tick" | "review"> {
  return {
    tick() {
      for (const lease of registry.leases().values()) {
        if (registry.isUnseen(lease.robotId)) continue;
        // A heartbeat alone does not keep a robot that has left.
        if (!rules.isHere(lease.station, lease.robotId)) end(lease, "left");
        else if (!rules.isVisible(lease.robotId)) end(lease, "out_of_sight");
      }
      for (const lease of lapsed(registry.leases(), stations.now(), clock.monotonicMs()))
        end(lease, "lapsed");
    },
    review(isGone) {
      for (const lease of registry.leases().values()) {
        const reason = isGone(lease.owner) ? "not_allowed" : rules.whyNotResumed(lease);
        if (reason !== null) end(lease, reason);
      }
    },
  };
}

/** A disk that takes longer has failed. */
const RECORD_WITHIN_MS = 1_000;

/** Leases that were requested, and are not on the disk yet. */
function createRecordings({ stored }: LatestWrites<StoredLease>, clock: Clock) {
  const underWay = new Map<RobotId, Promise<boolean>>();
  return {
    isUnderWay: (robotId: RobotId) => underWay.has(robotId),
    /** Resolves with whether the robot's lease is on the disk. */
    follow(robotId: RobotId): Promise<boolean> {
      const known = underWay.get(robotId);
      if (known !== undefined) return known;
      const recorded = noLaterThan(clock, RECORD_WITHIN_MS, stored(robotId), false).finally(() => {
        underWay.delete(robotId);
      });
      underWay.set(robotId, recorded);
      return recorded;
    },
  };
}

/** The registry of present leases. Every change is stored. */
interface LeaseRegistry {
  leases(): Leases;
  change(next: Leases): void;
  /** A lease of an earlier run, which is stored already. */
  resume(lease: Lease): void;
  /** Whether its robot was not seen since the start: then it is not known whether it has left. */
  isUnseen(robotId: RobotId): boolean;
}

function createLeaseRegistry(
  observations: LeaseControlParts["observations"],
  { isVisible }: LeaseRules,
  remember: LatestWrites<StoredLease>["remember"],
): LeaseRegistry {
  let leases: Leases = new Map();
  const unseen = new Set<RobotId>();
  return {
    leases: () => leases,
    change(next) {
      const changed = changedLeases(leases, next);
      leases = next;
      for (const robotId of changed) {
        const lease = leases.get(robotId);
        if (lease === undefined) unseen.delete(robotId);
        remember(robotId, lease === undefined ? null : storedOf(lease));
      }
    },
    resume(lease) {
      leases = new Map(leases).set(lease.robotId, lease);
      unseen.add(lease.robotId);
    },
    isUnseen(robotId) {
      if (!unseen.has(robotId)) return false;
      const isPlaced =
        observations.missions(robotId) !== undefined || observations.position(robotId) !== undefined;
      if (isVisible(robotId) && isPlaced) unseen.delete(robotId);
      return unseen.has(robotId);
    },
  };
}

function othersLease(leases: Leases, robotId: RobotId | null, source: Source): string | null {
  const candidates = robotId === null ? [...leases.values()] : [leases.get(robotId)];
  const others = candidates.find((lease) => lease !== undefined && !sameSource(lease.owner, source));
  if (others === undefined) return null;
  const lease = describeLease(others, others.robotId);
  return robotId === null ? `the service picks the robot, and ${lease}: name one` : lease;
}
