import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { Stations } from "../../contracts/stations.ts";
import { type Source, sameSource } from "../../domain/command.ts";
import type { LeaseReason } from "../../domain/event.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { noLaterThan } from "../../platform/no-later-than.ts";
import type { Job } from "../job.ts";
import type { StoredLease } from "../journal/journal.ts";
import type { StationOptions } from "../options.ts";
import type { Shared } from "../parts.ts";
import { refusedRight } from "../rights.ts";
import {
  changedLeases,
  describeLease,
  grant,
  type Lease,
  type Leases,
  lapsed,
  renewed,
  resumed,
  rolled,
  storedOf,
  withoutLease,
} from "./lease.ts";
import { createLeaseEvents, type LeaseEventParts } from "./lease-events.ts";
import { createLeaseMemory, type LeaseMemory } from "./lease-memory.ts";
import { createLeaseRules, type LeaseRuleParts, type LeaseRules } from "./lease-rules.ts";

export interface LeaseParts extends LeaseEventParts, LeaseRuleParts, Pick<Shared, "journal"> {
  /** Sends the stop of conveyors that a station has left running. */
  readonly stopConveyors: (lease: Lease) => void;
}

/** Keeps the leases, and ends them when the robot leaves or the station falls silent. */
export interface LeaseKeeper extends Stations {
  /** Takes over the leases of an earlier run. */
  resume(stored: readonly StoredLease[]): void;
  /**
   * Why another's lease keeps this source from the robot, or (null) from one that the service picks; null
   * when none does.
   */
  refusalFor(robotId: RobotId | null, source: Source): string | null;
  /** A call leaves: the conveyors that it starts count as rolling from now on. */
  called(job: Job): void;
  /**
   * A command has its outcome: a stop of conveyors counts if it succeeded and no start was called after it.
   */
  ended(job: Job, outcome: Outcome): void;
  /** Ends what has lapsed, and what a robot has left. To be called about once a second. */
  tick(): void;
  /** Rights have changed: ends the leases that would not be granted now, and those of users that are gone. */
  review(isGone: (owner: Source) => boolean): void;
  /** Which leases forbid that the stations of the configuration become `next`. */
  refusedStations(next: readonly StationOptions[]): readonly ReloadRefusal[];
  count(): number;
  /** Resolves when nothing is being written any more: before the journal is closed. */
  settled(): Promise<void>;
}

export function createLeaseKeeper(parts: LeaseParts): LeaseKeeper {
  const publish = createLeaseEvents(parts);
  const rules = createLeaseRules(parts);
  const memory = createLeaseMemory(parts.journal, parts.log);
  const { remember, settled } = memory;
  const book = createLeaseBook(parts.observations, rules, remember);
  const recordings = createRecordings(memory, parts.clock);

  /** The end of a lease that was never granted is no news. */
  function end(lease: Lease, reason: LeaseReason, by: Source | null = null): void {
    const isGranted = !recordings.isUnderWay(lease.robotId);
    book.change(withoutLease(book.leases(), lease.robotId));
    if (isGranted) publish("free", lease, reason, by);
  }

  /**
   * A lease that a crash could lose is granted to nobody. Others are kept out from the moment it is asked
   * for.
   */
  async function ask(station: string, source: Source, robotId: RobotId): Promise<Outcome | null> {
    const leases = book.leases();
    const refused = rules.refusedAsk(leases, station, source, robotId);
    if (refused !== null) return refused;
    const isNew = !leases.has(robotId);
    book.change(grant(leases, station, source, robotId, parts.clock));
    if (!isNew && !recordings.isUnderWay(robotId)) return null;
    const isStored = await recordings.follow(robotId);
    const lease = book.leases().get(robotId);
    const isOwn = lease?.station === station && sameSource(lease.owner, source);
    if (!isStored) {
      if (isNew && isOwn) book.change(withoutLease(book.leases(), robotId));
      return refusal("JOURNAL_FAILED", "the lease was not granted: the disk did not take it");
    }
    if (!isOwn) return refusal("NOT_AT_STATION", "the lease ended while it was recorded: ask again");
    if (isNew) publish("leased", { robotId, station, owner: source }, "asked", source);
    return null;
  }

  return {
    resume(stored) {
      for (const each of stored) {
        const lease = resumed(each, parts.clock);
        const reason = rules.whyNotResumed(lease);
        if (reason === null) {
          book.resume(lease);
          continue;
        }
        publish("free", lease, reason, null);
        remember(lease.robotId, null);
        if (lease.rolling.length > 0) parts.stopConveyors(lease);
      }
    },
    ask,
    release(station, source, robotId) {
      const lease = book.leases().get(robotId);
      if (lease === undefined) return rules.refusedEnd(robotId);
      if (lease.station !== station || !sameSource(lease.owner, source)) {
        return refusal("LEASE_HELD", describeLease(lease, robotId));
      }
      end(lease, "released", source);
      return null;
    },
    heartbeat: (station, source) =>
      book.change(renewed(book.leases(), station, source, parts.clock.monotonicMs())),
    override(source, robotId) {
      const lease = book.leases().get(robotId);
      const asked = { source, operation: "an override", role: "engineer", robotId } as const;
      const refused = refusedRight(parts.rights, asked);
      if (refused !== null) return refusal("NOT_ALLOWED", refused);
      if (lease === undefined) return rules.refusedEnd(robotId);
      end(lease, "overridden", source);
      return null;
    },
    leaseOf: (robotId) => (recordings.isUnderWay(robotId) ? null : (book.leases().get(robotId) ?? null)),
    leased(station, source) {
      if (!rules.isStation(station)) return null;
      const own = [...book.leases().values()].filter(
        (lease) =>
          lease.station === station &&
          sameSource(lease.owner, source) &&
          !recordings.isUnderWay(lease.robotId),
      );
      return own.map(({ robotId }) => robotId);
    },
    refusalFor: (robotId, source) => othersLease(book.leases(), robotId, source),
    ...createConveyorCalls(book),
    ...createLeaseEnds(parts, book, rules, end),
    refusedStations: (next) => rules.refusedStations(book.leases(), next),
    count: () => book.leases().size,
    settled,
  };
}

/** Ends the leases that must not go on. */
function createLeaseEnds(
  { clock, stations, stopConveyors }: LeaseParts,
  book: LeaseBook,
  rules: LeaseRules,
  end: (lease: Lease, reason: LeaseReason) => void,
): Pick<LeaseKeeper, "tick" | "review"> {
  function endAndStop(lease: Lease, reason: LeaseReason): void {
    end(lease, reason);
    if (lease.rolling.length > 0) stopConveyors(lease);
  }
  return {
    tick() {
      for (const lease of book.leases().values()) {
        if (book.isUnseen(lease.robotId)) continue;
        // A heartbeat alone does not keep a robot that has left.
        if (!rules.isHere(lease.station, lease.robotId)) end(lease, "left");
        else if (!rules.isVisible(lease.robotId)) end(lease, "out_of_sight");
      }
      for (const lease of lapsed(book.leases(), stations, clock.monotonicMs())) endAndStop(lease, "lapsed");
    },
    review(isGone) {
      for (const lease of book.leases().values()) {
        const reason = isGone(lease.owner) ? "not_allowed" : rules.whyNotResumed(lease);
        if (reason !== null) endAndStop(lease, reason);
      }
    },
  };
}

/** A disk that takes longer has failed. */
const RECORD_WITHIN_MS = 1_000;

/** Leases that are asked for, and not on the disk yet. */
function createRecordings({ stored }: LeaseMemory, clock: LeaseParts["clock"]) {
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

/** The leases of this moment. Whatever changes them is stored. */
interface LeaseBook {
  leases(): Leases;
  change(next: Leases): void;
  /** A lease of an earlier run, which is stored already. */
  resume(lease: Lease): void;
  /** Whether its robot has not been seen since the start: then it is not known whether it has left. */
  isUnseen(robotId: RobotId): boolean;
}

function createLeaseBook(
  observations: LeaseParts["observations"],
  { isVisible }: LeaseRules,
  remember: LeaseMemory["remember"],
): LeaseBook {
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

/** Keeps which conveyors the owners of leases have started and not stopped. */
function createConveyorCalls(book: LeaseBook): Pick<LeaseKeeper, "called" | "ended"> {
  /** The order of calls that concern conveyors; one number for each robot that ever had any. */
  const calledAs = new WeakMap<Job, number>();
  const lastStart = new Map<RobotId, number>();
  let calls = 0;

  return {
    called(job) {
      const { command, request, robotId } = job;
      if (request.conveyors === null || robotId === null) return;
      calls += 1;
      calledAs.set(job, calls);
      const { started } = request.conveyors;
      if (started.length === 0) return;
      lastStart.set(robotId, calls);
      book.change(rolled(book.leases(), command.source, robotId, { started, stopped: [] }));
    },
    ended(job, { outcome }) {
      const { command, request, robotId } = job;
      if (request.conveyors === null || robotId === null) return;
      if (outcome !== "succeeded" && outcome !== "probably_succeeded") return;
      if ((lastStart.get(robotId) ?? 0) > (calledAs.get(job) ?? 0)) return;
      const { stopped } = request.conveyors;
      book.change(rolled(book.leases(), command.source, robotId, { started: [], stopped }));
    },
  };
}
