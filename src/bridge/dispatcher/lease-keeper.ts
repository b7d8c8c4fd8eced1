import type { Stations } from "../../contracts/stations.ts";
import { clip, quoted } from "../../domain/clip.ts";
import type { Source } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { AuditSink } from "./audit.ts";
import type { StoredLease } from "./journal.ts";
import {
  beaten,
  changedLeases,
  describeHolder,
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
import type { StationOptions } from "./options.ts";
import type { Sightings } from "./sightings.ts";

const LONGEST_NAME = 64;

export interface LeaseParts {
  readonly stations: readonly StationOptions[];
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: AuditSink;
  readonly sightings: Sightings;
  /** Whether the robot's place is known to be true now, or was a moment ago. */
  readonly isVisible: (robotId: RobotId) => boolean;
  /** The refusal of a robot that was never heard of; null for others. */
  readonly refusedName: (robotId: RobotId) => Outcome | null;
  /** Sends the stop of conveyors that a station has left running. */
  readonly stopConveyors: (lease: Lease) => void;
  /** Why a source may not hold the robot, whatever station it is of; null when it may. */
  readonly refusedHold: (source: Source, robotId: RobotId) => string | null;
  /** Why a source may not end another's lease; null when it may. */
  readonly refusedOverride: (source: Source, robotId: RobotId) => string | null;
  /** Keeps a lease over a restart; null: there is none any more. Never throws. */
  readonly remember: (robotId: RobotId, lease: StoredLease | null) => void;
}

/** Holds the leases, and ends them when the robot leaves or the station falls silent. */
export interface LeaseKeeper extends Stations {
  /** Takes up the leases of the run before this one. */
  resume(stored: readonly StoredLease[]): void;
  /** Why the robot is kept from `source`; null when it is not. Null for a robot: the service picks one, and may pick any that is held. */
  holdOf(robotId: RobotId | null, source: Source): string | null;
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
  const { stations, clock, log, audit, sightings } = parts;
  let leases: Leases = new Map();
  /** Robots of resumed leases that have not been seen yet: nobody knows whether they have left. */
  const unseen = new Set<RobotId>();

  function change(next: Leases): void {
    const changed = changedLeases(leases, next);
    leases = next;
    for (const robotId of changed) {
      const lease = leases.get(robotId);
      if (lease === undefined) unseen.delete(robotId);
      parts.remember(robotId, lease === undefined ? null : storedOf(lease));
    }
  }

  function record(what: string, robotId: RobotId, station: string, source: Source, reason: string): void {
    log.info({ robotId, station, user: source.name, reason }, `lease ${what}`);
    audit({
      at: new Date(clock.nowMs()).toISOString(),
      event: "lease",
      lease: what,
      robot_id: robotId,
      station,
      door: source.door,
      user: source.name,
      reason,
    });
  }

  function end(lease: Lease, by: Source, reason: string): void {
    change(withoutLease(leases, lease.robotId));
    record("ended", lease.robotId, lease.station, by, reason);
  }

  function stationOf(name: string): StationOptions | undefined {
    return stations.find((station) => station.name === name);
  }

  function isHere(station: string, robotId: RobotId): boolean {
    const { destinations } = stationOf(station) ?? { destinations: [] };
    return isAt(destinations, sightings.missions(robotId), sightings.position(robotId));
  }

  function isUnseen(robotId: RobotId): boolean {
    if (!unseen.has(robotId)) return false;
    const isPlaced = sightings.missions(robotId) !== undefined || sightings.position(robotId) !== undefined;
    if (parts.isVisible(robotId) && isPlaced) unseen.delete(robotId);
    return unseen.has(robotId);
  }

  function refusedAsk(station: string, source: Source, robotId: RobotId): Outcome | null {
    const known = stationOf(station);
    if (known === undefined) return refusal("MALFORMED", `there is no station ${quoted(station)}`);
    if (known.users !== undefined && !known.users.some((user) => sameSource(user, source))) {
      return refusal("NOT_ALLOWED", `${source.door} "${source.name}" is not a user of station ${station}`);
    }
    const right = parts.refusedHold(source, robotId);
    if (right !== null) return refusal("NOT_ALLOWED", right);
    const held = leases.get(robotId);
    if (held !== undefined && !(held.station === station && sameSource(held.owner, source))) {
      return refusal("LEASE_HELD", describeHolder(held, robotId));
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

  return {
    resume(stored) {
      const nowMs = clock.monotonicMs();
      const held = new Map(leases);
      for (const each of stored) {
        const lease = resumed(each, nowMs);
        if (stationOf(lease.station) !== undefined) {
          held.set(lease.robotId, lease);
          unseen.add(lease.robotId);
          continue;
        }
        record("ended", lease.robotId, lease.station, lease.owner, "the station is no longer configured");
        parts.remember(lease.robotId, null);
        if (lease.rolling.length > 0) parts.stopConveyors(lease);
      }
      leases = held;
    },
    ask(station, source, robotId) {
      const refused = refusedAsk(station, source, robotId);
      if (refused !== null) return refused;
      if (!leases.has(robotId)) record("begun", robotId, station, source, "asked for");
      change(grant(leases, station, source, robotId, clock.monotonicMs()));
      return null;
    },
    release(station, source, robotId) {
      const held = leases.get(robotId);
      if (held === undefined) return null;
      if (held.station !== station || !sameSource(held.owner, source)) {
        return refusal("LEASE_HELD", describeHolder(held, robotId));
      }
      end(held, source, "released");
      return null;
    },
    beat(station, source) {
      change(beaten(leases, station, source, clock.monotonicMs()));
    },
    override(source, robotId) {
      const held = leases.get(robotId);
      const refused = parts.refusedOverride(source, robotId);
      if (refused !== null) return refusal("NOT_ALLOWED", refused);
      if (held !== undefined) end(held, source, "overridden");
      return null;
    },
    holder: (robotId) => leases.get(robotId) ?? null,
    held(station, source) {
      if (stationOf(station) === undefined) return null;
      const isOwn = (lease: Lease) => lease.station === station && sameSource(lease.owner, source);
      return Array.from(leases.values())
        .filter(isOwn)
        .map(({ robotId }) => robotId);
    },
    holdOf(robotId, source) {
      const candidates = robotId === null ? [...leases.values()] : [leases.get(robotId)];
      const held = candidates.find((lease) => lease !== undefined && !sameSource(lease.owner, source));
      if (held === undefined) return null;
      const holder = describeHolder(held, held.robotId);
      return robotId === null ? `the service picks the robot, and ${holder}: name one` : holder;
    },
    rolled(source, robotId, conveyors) {
      change(rolled(leases, source, robotId, conveyors));
    },
    tick() {
      const nowMs = clock.monotonicMs();
      for (const lease of leases.values()) {
        if (isUnseen(lease.robotId)) continue;
        // A healthy heartbeat alone must not keep a robot that has left.
        if (!isHere(lease.station, lease.robotId)) end(lease, lease.owner, "the robot has left");
        else if (!parts.isVisible(lease.robotId)) end(lease, lease.owner, "the robot is out of sight");
      }
      for (const lease of lapsed(leases, stations, nowMs)) {
        end(lease, lease.owner, "the station's heartbeat has lapsed");
        if (lease.rolling.length > 0) parts.stopConveyors(lease);
      }
    },
    count: () => leases.size,
  };
}

function storedOf({ robotId, station, owner, rolling }: Lease): StoredLease {
  return { robotId, station, owner, rolling };
}
