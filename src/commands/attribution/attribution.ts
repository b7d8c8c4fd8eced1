import type { CommandIdentity } from "../../domain/command.ts";
import type { Mission } from "../../domain/mission.ts";
import type { RobotId } from "../../domain/robot.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Clock } from "../../platform/clock.ts";

/**
 * Which command made which mission. A mission of owner `api` that no command of this gateway made is foreign:
 * another client made it, often a duplicate gateway (design, Commands).
 */
export interface Attribution {
  /** A command has made this mission, as the service or evidence says. */
  claim(missionId: string, command: CommandIdentity): void;
  /** A command for this robot had an unknown outcome: it may have made missions. */
  suspect(robotId: RobotId): void;
  /** The command that made a mission; null where none is known. */
  commandOf(missionId: string): CommandIdentity | null;
  /** A call has left that makes a mission for the robot of the command. Its answer will name the mission. */
  expect(command: Maker): void;
  /** The missions of the command are known, or will not be known any more. */
  settle(command: Maker): void;
  /** Whether a mission that is new on this robot may still be attributed to a command. */
  isExpected(robotId: RobotId): boolean;
  /** A mission was seen for the first time. */
  seen(robotId: RobotId, mission: Mission): void;
  /** Counts missions as foreign that no answer has named in time. To be called now and then. */
  judge(): void;
  /** Foreign missions since the start. */
  foreignMissions(): number;
}

/** A command that makes missions. */
interface Maker {
  readonly id: string;
  readonly robotId: RobotId | null;
}

interface Unclaimed {
  readonly robotId: RobotId;
  readonly missionId: string;
  readonly seenAtMs: number;
}

const MAX_CLAIMS = 20_000;
const MAX_UNCLAIMED = 2_000;

/**
 * @param claimMs how long a new mission may wait for the answer that names it
 * @param onForeign called for each foreign mission
 * @param onSettled called when nothing more is expected for a robot
 */
export function createAttribution(
  clock: Clock,
  claimMs: number,
  onForeign: (robotId: RobotId) => void,
  onSettled: (robotId: RobotId) => void,
): Attribution {
  /** One for a robot: its queue has one command in flight. */
  const expected = new Map<RobotId, string>();
  const claims = new BoundedMap<string, CommandIdentity>(MAX_CLAIMS);
  const suspects = new Map<RobotId, number>();
  const unclaimed: Unclaimed[] = [];
  let foreign = 0;

  function judge(): void {
    const nowMs = clock.monotonicMs();
    for (let oldest = unclaimed[0]; oldest !== undefined; oldest = unclaimed[0]) {
      if (nowMs - oldest.seenAtMs < claimMs && unclaimed.length <= MAX_UNCLAIMED) return;
      unclaimed.shift();
      if (!claims.has(oldest.missionId) && !isSuspect(oldest)) {
        foreign += 1;
        onForeign(oldest.robotId);
      }
    }
  }

  /** A command whose ending is unknown may have made it. */
  function isSuspect({ robotId, seenAtMs }: Unclaimed): boolean {
    const sinceMs = suspects.get(robotId);
    return sinceMs !== undefined && Math.abs(seenAtMs - sinceMs) <= 2 * claimMs;
  }

  return {
    claim(missionId, { source, requestId }) {
      if (claims.has(missionId)) return;
      // Not the command itself, whose request may be long.
      claims.set(missionId, { source, requestId });
    },
    suspect: (robotId) => void suspects.set(robotId, clock.monotonicMs()),
    expect({ id, robotId }) {
      if (robotId !== null) expected.set(robotId, id);
    },
    settle({ id, robotId }) {
      if (robotId === null || expected.get(robotId) !== id) return;
      expected.delete(robotId);
      onSettled(robotId);
    },
    isExpected: (robotId) => expected.has(robotId),
    commandOf: (missionId) => claims.get(missionId) ?? null,
    seen(robotId, mission) {
      if (mission.owner !== "api" || claims.has(mission.missionId)) return;
      unclaimed.push({ robotId, missionId: mission.missionId, seenAtMs: clock.monotonicMs() });
      judge();
    },
    judge,
    foreignMissions: () => foreign,
  };
}
