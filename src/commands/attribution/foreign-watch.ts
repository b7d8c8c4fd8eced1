import type { RobotId } from "../../domain/robot.ts";
import type { Shared } from "../parts.ts";

/** Raises an alarm while another client keeps sending missions to a robot: often a duplicate gateway. */
export interface ForeignWatch {
  /** A foreign mission was seen. */
  seen(robotId: RobotId): void;
  /** Ends the alarms of robots that had no foreign mission for long enough. Call it now and then. */
  tick(): void;
  /** Robots whose alarm is on. */
  count(): number;
}

/** A person with a service tool may send one foreign mission; so many within the time come from a program. */
const MISSIONS = 3;
const WITHIN_MS = 600_000;

interface Seen {
  /** Monotonic times of the newest missions, at most `MISSIONS` of them. */
  readonly timesMs: readonly number[];
  readonly isOn: boolean;
}

export function createForeignWatch({
  clock,
  log,
  alarmRegistry,
}: Pick<Shared, "clock" | "log" | "alarmRegistry">): ForeignWatch {
  const robots = new Map<RobotId, Seen>();

  function setCondition(robotId: RobotId, holds: boolean, text: string): void {
    log.warn({ robotId, active: holds }, text);
    alarmRegistry.state({ kind: "robot", robotId }, "FOREIGN_MISSIONS", { holds, text });
  }

  return {
    seen(robotId) {
      const nowMs = clock.monotonicMs();
      const { timesMs, isOn } = robots.get(robotId) ?? { timesMs: [], isOn: false };
      const recent = [...timesMs.filter((timeMs) => nowMs - timeMs < WITHIN_MS), nowMs].slice(-MISSIONS);
      const isMany = recent.length >= MISSIONS;
      robots.set(robotId, { timesMs: recent, isOn: isOn || isMany });
      if (isOn || !isMany) return;
      setCondition(
        robotId,
        true,
        `another client of the fleet service sends missions to ${robotId}: ${MISSIONS} within ${WITHIN_MS / 60_000} minutes that no command of this gateway has made`,
      );
    },
    tick() {
      const nowMs = clock.monotonicMs();
      for (const [robotId, { timesMs, isOn }] of robots) {
        if (nowMs - (timesMs.at(-1) ?? 0) < WITHIN_MS) continue;
        robots.delete(robotId);
        if (isOn)
          setCondition(
            robotId,
            false,
            `no other client has sent a mission to ${robotId} for ${WITHIN_MS / 60_000} minutes`,
          );
      }
    },
    count: () => [...robots.values()].filter(({ isOn }) => isOn).length,
  };
}
