import type { RobotLease } from "../../contracts/stations.ts";
import { type Source, sameSource } from "../../domain/command.ts";
import {
  currentGoal,
  currentMission,
  isTerminal,
  type MissionQueue,
  mayHaveArrived,
} from "../../domain/mission.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { StoredLease } from "../journal/journal.ts";
import type { StationOptions } from "../options.ts";

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
export function isAt(
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
