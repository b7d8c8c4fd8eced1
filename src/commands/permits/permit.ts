import type { Destination, ParsedRequest } from "../../contracts/operation.ts";
import { type Source, sourceKey } from "../../domain/command.ts";
import { currentMission, isTerminal, type Mission, type MissionQueue } from "../../domain/mission.ts";
import { goalsAhead } from "../../domain/station-sight.ts";

/** What a station's PLC has written, and when it last showed a sign of life. Times are monotonic. */
export interface Permit {
  /** Null: nothing was written since the gateway started. */
  readonly level: {
    readonly isGiven: boolean;
    readonly owner: Source;
    /** The owner may not give it any more. */
    readonly isRevoked?: boolean;
  } | null;
  /** The last heartbeat of each user of the station, by `sourceKey`. */
  readonly heartbeats: ReadonlyMap<string, number>;
}

export const noPermit: Permit = { level: null, heartbeats: new Map() };

/** The last level counts, whichever user wrote it; the heartbeat of that user renews it. */
export function written(permit: Permit, isGiven: boolean, owner: Source): Permit {
  return { ...permit, level: { isGiven, owner } };
}

/** The configuration has taken the right from the user that wrote it: it must be written anew. */
export function revoked(permit: Permit): Permit {
  return permit.level === null ? permit : { ...permit, level: { ...permit.level, isRevoked: true } };
}

export function renewed(permit: Permit, source: Source, nowMs: number): Permit {
  return { ...permit, heartbeats: new Map(permit.heartbeats).set(sourceKey(source), nowMs) };
}

/** Why the permit is not given, in words that follow the station's name; null: it is given. */
export function whyNotGiven(
  { level, heartbeats }: Permit,
  heartbeatMs: number,
  nowMs: number,
): string | null {
  if (level === null) return "Permit has not been written since the gateway started";
  if (!level.isGiven) return "Permit is FALSE";
  if (level.isRevoked === true)
    return `${level.owner.protocol} "${level.owner.name}", which wrote Permit, may not give it any more`;
  const heartbeatAtMs = heartbeats.get(sourceKey(level.owner));
  // A driver may repeat TRUE for a program that does not run: only a change of the heartbeat counts.
  if (heartbeatAtMs === undefined) return "Heartbeat has not changed since the gateway started";
  return nowMs - heartbeatAtMs > heartbeatMs ? `Heartbeat has not changed for ${heartbeatMs} ms` : null;
}

/**
 * The names of the goals to which a start sends its robot, or may: those that it names, or those of the
 * robot's missions that it lets go on. Empty: not known.
 *
 * @param queue the missions of the robot; undefined: not known
 */
export function goalsOf(
  { destination }: Pick<ParsedRequest, "destination">,
  queue: MissionQueue | undefined,
) {
  if (destination === null) return [];
  if (destination.kind === "goals") return destination.names;
  if (queue === undefined) return [];
  return missionsAfter(destination, queue).flatMap((mission) => namesAhead(mission));
}

/** The missions that go on with a start, each with its remaining goals. */
function missionsAfter(
  destination: Exclude<Destination, { kind: "goals" }>,
  queue: MissionQueue,
): readonly Mission[] {
  const { missions } = queue;
  const current = currentMission(queue);
  const named =
    destination.missionId === ""
      ? current
      : missions.find((each) => each.missionId === destination.missionId);
  if (named === undefined) return [];
  if (destination.kind === "mission") return [named];
  const skipped: Mission = { ...named, currentGoalIndex: named.currentGoalIndex + 1 };
  if (destination.kind === "next_goal" && skipped.currentGoalIndex < named.goals.length) return [skipped];
  // It ends the mission: the next one begins.
  return missions
    .slice(missions.indexOf(named) + 1)
    .filter(({ state }) => !isTerminal(state))
    .slice(0, 1);
}

function namesAhead(mission: Mission): readonly string[] {
  return goalsAhead(mission).filter((name) => name !== null);
}
