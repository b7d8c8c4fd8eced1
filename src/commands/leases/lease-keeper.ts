import type { Stations } from "../../contracts/stations.ts";
import type { FleetNotice, LeaseReason } from "../../domain/change.ts";
import { clip, quoted } from "../../domain/clip.ts";
import type { Source } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { AuditSink } from "../audit/audit.ts";
import type { Observations } from "../evidence/observations.ts";
import type { StoredLease } from "../journal/journal.ts";
import type { StationOptions } from "../options.ts";
import {
  beaten,
  changedLeases,
  describeLease,
  grant,
  isAt,
  type Lease,
  type Leases,
  lapsed,
  resumed,
  rolled,
  sameSource,
  withoutLease,
} from "./lease.ts";

const LONGEST_NAME = 64;
/** In the words of the audit log, which is for people. */
const reasonTexts: Readonly<Record<LeaseReason, string>> = {
  asked: "asked for",
  released: "released",
  overridden: "overridden",
  left: "the robot has left",
  out_of_sight: "the robot is out of sight",
  lapsed: "the station's heartbeat has lapsed",
  not_configured: "the station is no longer configured",
  not_allowed: "its owner may no longer use the station for the robot",
};

export interface LeaseParts {
  readonly stations: readonly StationOptions[];
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: AuditSink;
  /** Where the begin and the end of every lease go as events. Synchronous; never throws. */
  readonly notify: (notice: FleetNotice) => void;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
  readonly observations: Observations;
  /** Whether the robot's place is known to be true now, or was a moment ago. */
  readonly isVisible: (robotId: RobotId) => boolean;
  /** The refusal of a robot that was never heard of; null for others. */
  readonly refusedName: (robotId: RobotId) => Outcome | null;
  /** Sends the stop of conveyors that a station has left running. */
  readonly stopConveyors: (lease: Lease) => void;
  /** Why a source may not lease the robot, whatever station it is of; null when it may. */
  readonly refusedLease: (source: Source, robotId: RobotId) => string | null;
  /** Why a source may not end another's lease; null when it may. */
  readonly refusedOverride: (source: Source, robotId: RobotId) => string | null;
  /** Keeps a lease over a restart; null: there is none any more. Never throws. */
  readonly remember: (robotId: RobotId, lease: StoredLease | null) => void;
}

/** Keeps the leases, and ends them when the robot leaves or the station falls silent. */
export interface LeaseKeeper extends Stations {
  /** Takes up the leases of the run before this one. */
  resume(stored: readonly StoredLease[]): void;
  /** Why the robot is kept from `source`; null when it is not. Null for a robot: the service picks one, and may pick any that is leased. */
  refusalFor(robotId: RobotId | null, source: Source): string | null;
  rolled(
    source: Source,
    robotId: RobotId,
    conveyors: { readonly started: readonly number[]; readonly stopped: readonly number[] },
  ): void;
  /** Ends what has lapsed, and what a robot has left. To be called about once a second. */
  tick(): void;
  count(): number;
}

export function createLeaseKeeper(parts: LeaseParts): LeaseKeeper {
  const { stations, clock, log, audit, observations } = parts;
  let leases: Leases = new Map();
  /** Robots of resumed leases that have not been seen yet: nobody knows whether they have left. */
  const unseen = new Set<RobotId>();
  let events = 0;

  function change(next: Leases): void {
    const changed = changedLeases(leases, next);
    leases = next;
    for (const robotId of changed) {
      const lease = leases.get(robotId);
      if (lease === undefined) unseen.delete(robotId);
      parts.remember(robotId, lease === undefined ? null : storedOf(lease));
    }
  }

  /** @param by who did it; null: the gateway by itself, which the audit log puts down to the owner */
  function tell(
    to: "leased" | "free",
    { robotId, station, owner }: Pick<Lease, "robotId" | "station" | "owner">,
    reason: LeaseReason,
    by: Source | null,
  ): void {
    const what = to === "leased" ? "begun" : "ended";
    const source = by ?? owner;
    const reasonText = reasonTexts[reason];
    const atMs = clock.nowMs();
    log.info({ robotId, station, user: source.name, reason: reasonText }, `lease ${what}`);
    audit({
      at: new Date(atMs).toISOString(),
      event: "lease",
      lease: what,
      robot_id: robotId,
      station,
      door: source.door,
      user: source.name,
      owner: { door: owner.door, user: owner.name },
      reason: reasonText,
    });
    events += 1;
    const eventId = `${parts.sessionId}.l${events}`;
    parts.notify({ kind: "lease", eventId, robotId, atMs, station, owner, to, reason, by });
  }

  function end(lease: Lease, reason: LeaseReason, by: Source | null = null): void {
    change(withoutLease(leases, lease.robotId));
    tell("free", lease, reason, by);
  }

  function stationOf(name: string): StationOptions | undefined {
    return stations.find((station) => station.name === name);
  }

  function isHere(station: string, robotId: RobotId): boolean {
    const { destinations } = stationOf(station) ?? { destinations: [] };
    return isAt(destinations, observations.missions(robotId), observations.position(robotId));
  }

  function isUnseen(robotId: RobotId): boolean {
    if (!unseen.has(robotId)) return false;
    const isPlaced =
      observations.missions(robotId) !== undefined || observations.position(robotId) !== undefined;
    if (parts.isVisible(robotId) && isPlaced) unseen.delete(robotId);
    return unseen.has(robotId);
  }

  /** Why the source may not lease the robot for this station at all; null when it may. */
  function refusedUse({ name, users }: StationOptions, source: Source, robotId: RobotId): string | null {
    if (users !== undefined && !users.some((user) => sameSource(user, source)))
      return `${source.door} "${source.name}" is not a user of station ${name}`;
    return parts.refusedLease(source, robotId);
  }

  /** The configuration that a gateway was started with may have taken the station away, or its owner's right. */
  function whyNotResumed({ station, owner, robotId }: Lease): LeaseReason | null {
    const known = stationOf(station);
    if (known === undefined) return "not_configured";
    return refusedUse(known, owner, robotId) === null ? null : "not_allowed";
  }

  function refusedAsk(station: string, source: Source, robotId: RobotId): Outcome | null {
    const known = stationOf(station);
    if (known === undefined) return refusal("MALFORMED", `there is no station ${quoted(station)}`);
    const refused = refusedUse(known, source, robotId);
    if (refused !== null) return refusal("NOT_ALLOWED", refused);
    const lease = leases.get(robotId);
    if (lease !== undefined && !(lease.station === station && sameSource(lease.owner, source))) {
      return refusal("LEASE_HELD", describeLease(lease, robotId));
    }
    const unheard = parts.refusedName(robotId);
    if (unheard !== null) return unheard;
    if (!parts.isVisible(robotId)) {
      return refusal("ROBOT_NOT_GOOD", `where robot ${clip(robotId, LONGEST_NAME)} is now is not known`);
    }
    if (isHere(station, robotId)) return null;
    return refusal(
      "NOT_AT_STATION",
      `robot ${robotId} neither stands at nor heads for a destination of station ${station}`,
    );
  }

  /**
   * This robot has no lease, so there is nothing to end: but a mistyped name must not be answered as done.
   * While it cannot be known whether there is such a robot, it is done: no robot of that name is leased.
   */
  function mistaken(robotId: RobotId): Outcome | null {
    const unheard = parts.refusedName(robotId);
    return unheard?.code === "UNKNOWN_ROBOT" ? unheard : null;
  }

  return {
    resume(stored) {
      const nowMs = clock.monotonicMs();
      const next = new Map(leases);
      for (const each of stored) {
        const lease = resumed(each, nowMs);
        const reason = whyNotResumed(lease);
        if (reason === null) {
          next.set(lease.robotId, lease);
          unseen.add(lease.robotId);
          continue;
        }
        tell("free", lease, reason, null);
        parts.remember(lease.robotId, null);
        if (lease.rolling.length > 0) parts.stopConveyors(lease);
      }
      leases = next;
    },
    ask(station, source, robotId) {
      const refused = refusedAsk(station, source, robotId);
      if (refused !== null) return refused;
      const isNew = !leases.has(robotId);
      change(grant(leases, station, source, robotId, clock.monotonicMs()));
      if (isNew) tell("leased", { robotId, station, owner: source }, "asked", source);
      return null;
    },
    release(station, source, robotId) {
      const lease = leases.get(robotId);
      if (lease === undefined) return mistaken(robotId);
      if (lease.station !== station || !sameSource(lease.owner, source)) {
        return refusal("LEASE_HELD", describeLease(lease, robotId));
      }
      end(lease, "released", source);
      return null;
    },
    beat(station, source) {
      change(beaten(leases, station, source, clock.monotonicMs()));
    },
    override(source, robotId) {
      const lease = leases.get(robotId);
      const refused = parts.refusedOverride(source, robotId);
      if (refused !== null) return refusal("NOT_ALLOWED", refused);
      if (lease === undefined) return mistaken(robotId);
      end(lease, "overridden", source);
      return null;
    },
    leaseOf: (robotId) => leases.get(robotId) ?? null,
    leased(station, source) {
      if (stationOf(station) === undefined) return null;
      const isOwn = (lease: Lease) => lease.station === station && sameSource(lease.owner, source);
      return Array.from(leases.values())
        .filter(isOwn)
        .map(({ robotId }) => robotId);
    },
    refusalFor(robotId, source) {
      const candidates = robotId === null ? [...leases.values()] : [leases.get(robotId)];
      const others = candidates.find((lease) => lease !== undefined && !sameSource(lease.owner, source));
      if (others === undefined) return null;
      const lease = describeLease(others, others.robotId);
      return robotId === null ? `the service picks the robot, and ${lease}: name one` : lease;
    },
    rolled(source, robotId, conveyors) {
      change(rolled(leases, source, robotId, conveyors));
    },
    tick() {
      const nowMs = clock.monotonicMs();
      for (const lease of leases.values()) {
        if (isUnseen(lease.robotId)) continue;
        // A healthy heartbeat alone must not keep a robot that has left.
        if (!isHere(lease.station, lease.robotId)) end(lease, "left");
        else if (!parts.isVisible(lease.robotId)) end(lease, "out_of_sight");
      }
      for (const lease of lapsed(leases, stations, nowMs)) {
        end(lease, "lapsed");
        if (lease.rolling.length > 0) parts.stopConveyors(lease);
      }
    },
    count: () => leases.size,
  };
}

function storedOf({ robotId, station, owner, rolling }: Lease): StoredLease {
  return { robotId, station, owner, rolling };
}
