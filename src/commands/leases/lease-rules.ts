import { isDeepStrictEqual } from "node:util";
import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { RobotLease } from "../../contracts/stations.ts";
import { type Source, sameSource } from "../../domain/command.ts";
import type { LeaseReason } from "../../domain/event.ts";
import { clip, quoted } from "../../domain/foreign-text.ts";
import {
  currentGoal,
  currentMission,
  isTerminal,
  type MissionQueue,
  mayHaveArrived,
  whyGoesOn,
} from "../../domain/mission.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Observations } from "../evidence/evidence.ts";
import type { StoredLease } from "../journal/journal.ts";
import type { StationOptions } from "../options.ts";
import type { Shared } from "../parts.ts";
import { refusedRight, refusedStationUser } from "../rights.ts";

/** A station's lease of one robot. */
export interface Lease extends RobotLease, StoredLease {
  readonly sinceMs: number;
  /** When its station's heartbeat last changed, on the monotonic clock. */
  readonly heartbeatAtMs: number;
}

type LeaseClock = Pick<Clock, "nowMs" | "monotonicMs">;

/** All leases, by robot. Immutable. */
export type Leases = ReadonlyMap<RobotId, Lease>;

export function describeLease({ station, owner }: RobotLease, robotId: RobotId): string {
  return `robot ${robotId} is leased to station ${station} for ${owner.protocol} "${owner.name}"`;
}

/**
 * Grants the lease. The caller has checked the robot's place. An existing lease stays as it is: asking for it
 * again is no sign of life.
 */
export function grant(
  leases: Leases,
  station: string,
  owner: Source,
  robotId: RobotId,
  clock: LeaseClock,
): Leases {
  if (leases.has(robotId)) return leases;
  const at = { sinceMs: clock.nowMs(), heartbeatAtMs: clock.monotonicMs() };
  return new Map(leases).set(robotId, { station, owner, robotId, ...at });
}

export function withoutLease(leases: Leases, robotId: RobotId): Leases {
  if (!leases.has(robotId)) return leases;
  const next = new Map(leases);
  next.delete(robotId);
  return next;
}

/** The heartbeat of a station renews its leases. */
export function renewed(leases: Leases, station: string, owner: Source, nowMs: number): Leases {
  const next = new Map(leases);
  for (const [robotId, lease] of leases) {
    if (lease.station === station && sameSource(lease.owner, owner)) {
      next.set(robotId, { ...lease, heartbeatAtMs: nowMs });
    }
  }
  return next;
}

/** A lease of an earlier run. Its station has the whole heartbeat time again. */
export function resumed(stored: StoredLease, clock: LeaseClock): Lease {
  return { ...stored, heartbeatAtMs: clock.monotonicMs() };
}

/** The robots whose stored lease is not up to date. */
export function changedLeases(before: Leases, after: Leases): readonly RobotId[] {
  const robots = new Set([...before.keys(), ...after.keys()]);
  return [...robots].filter((robotId) => {
    const [old, now] = [before.get(robotId), after.get(robotId)];
    return old?.station !== now?.station || old?.owner !== now?.owner;
  });
}

/** The leases whose station sent no heartbeat for too long. */
export function lapsed(leases: Leases, stations: readonly StationOptions[], nowMs: number): readonly Lease[] {
  return [...leases.values()].filter((lease) => {
    const station = stations.find(({ name }) => name === lease.station);
    return station !== undefined && nowMs - lease.heartbeatAtMs > station.heartbeatMs;
  });
}

/**
 * Whether a robot stands at or drives to one of these destinations: by its mission under way, otherwise by
 * the goal that its last mission reached, otherwise by the point of the online list.
 */
function isAt(
  destinations: readonly string[],
  queue: MissionQueue | undefined,
  position: string | undefined,
): boolean {
  const mission = queue === undefined ? undefined : (currentMission(queue) ?? queue.missions.at(-1));
  if (mission !== undefined) {
    const goal = currentGoal(mission);
    const isDestined = goal?.kind === "destination" && destinations.includes(goal.destinationId);
    if (!isTerminal(mission.state)) return isDestined;
    if (mission.state === "STATE_SUCCEEDED" && isDestined && mayHaveArrived(mission)) return true;
  }
  return position !== undefined && destinations.includes(position);
}

/** The part of a lease that survives the gateway. */
export function storedOf({ robotId, station, owner, sinceMs }: Lease): StoredLease {
  return { robotId, station, owner, sinceMs };
}

const LONGEST_NAME = 64;

interface LeaseRuleParts extends Pick<Shared, "stations" | "robot" | "rights"> {
  readonly observations: Observations;
  /** The refusal of a robot that was never seen; null for others. */
  readonly refusedName: (robotId: RobotId) => Outcome | null;
}

/** Which robot may be leased to which station. */
export interface LeaseRules {
  /** Whether the robot's place is known now, or was a moment ago. */
  isVisible(robotId: RobotId): boolean;
  isStation(name: string): boolean;
  /** Whether the robot stands at or drives to a destination of the station. */
  isHere(station: string, robotId: RobotId): boolean;
  /**
   * Why a lease of an earlier run does not go on; null: it does. The configuration may have changed since.
   */
  whyNotResumed(lease: Lease): Exclude<LeaseReason, "asked"> | null;
  refusedAsk(leases: Leases, station: string, source: Source, robotId: RobotId): Outcome | null;
  /** Which of these leases forbid that the stations become `next`, by the key of the configuration. */
  refusedStations(leases: Leases, next: readonly StationOptions[]): readonly ReloadRefusal[];
  /**
   * The refusal to end a lease that does not exist, so that the answer to a mistyped robot is no success.
   * Null for a known robot, and while it is not known whether the robot exists.
   */
  refusedEnd(robotId: RobotId): Outcome | null;
}

export function createLeaseRules(parts: LeaseRuleParts): LeaseRules {
  const { observations } = parts;
  const stationOf = (name: string) => parts.stations.now().find((station) => station.name === name);

  function refusedUse(station: StationOptions, source: Source, robotId: RobotId): string | null {
    const asked = { source, operation: null, role: "operator", robotId } as const;
    return refusedStationUser(station, source) ?? refusedRight(parts.rights.now(), asked);
  }

  function isVisible(robotId: RobotId): boolean {
    const quality = parts.robot(robotId)?.quality;
    return quality === "good" || quality === "stale";
  }

  function isHere(station: string, robotId: RobotId): boolean {
    return isAmong(stationOf(station)?.destinations ?? [], robotId);
  }

  function isAmong(destinations: readonly string[], robotId: RobotId): boolean {
    return isAt(destinations, observations.missions(robotId), observations.position(robotId));
  }

  return {
    isVisible,
    isStation: (name) => stationOf(name) !== undefined,
    isHere,
    whyNotResumed({ station, owner, robotId }) {
      const known = stationOf(station);
      if (known === undefined) return "not_configured";
      return refusedUse(known, owner, robotId) === null ? null : "not_allowed";
    },
    refusedAsk(leases, station, source, robotId) {
      const known = stationOf(station);
      if (known === undefined) return refusal("MALFORMED", `there is no station ${quoted(station)}`);
      const refused = refusedUse(known, source, robotId);
      if (refused !== null) return refusal("NOT_ALLOWED", refused);
      const lease = leases.get(robotId);
      if (lease !== undefined && !(lease.station === station && sameSource(lease.owner, source))) {
        return refusal("LEASE_HELD", describeLease(lease, robotId));
      }
      const unknownName = parts.refusedName(robotId);
      if (unknownName !== null) return unknownName;
      if (!isVisible(robotId)) {
        return refusal("ROBOT_NOT_GOOD", `where robot ${clip(robotId, LONGEST_NAME)} is now is not known`);
      }
      if (isHere(station, robotId)) {
        const queue = observations.missions(robotId);
        const reason = queue === undefined ? null : whyGoesOn(queue);
        if (reason === null) return null;
        return refusal("MISSION_GOES_ON", `robot ${robotId} leaves the station by itself: ${reason}`);
      }
      const message = `robot ${robotId} neither stands at nor heads for a destination of station ${station}`;
      return refusal("NOT_AT_STATION", message);
    },
    refusedStations: (leases, next) =>
      [...leases.values()].flatMap((lease): readonly ReloadRefusal[] => {
        const { station, robotId } = lease;
        const found = next.find(({ name }) => name === station);
        const reason = `${describeLease(lease, robotId)}: release it first, or restart`;
        if (found === undefined) return [{ path: `stations.${station}`, reason }];
        const isOther = !isDeepStrictEqual(found.destinations, stationOf(station)?.destinations);
        if (!isOther || isAmong(found.destinations, robotId)) return [];
        return [{ path: `stations.${station}.destinations`, reason }];
      }),
    refusedEnd(robotId) {
      const unknownName = parts.refusedName(robotId);
      return unknownName?.code === "UNKNOWN_ROBOT" ? unknownName : null;
    },
  };
}
