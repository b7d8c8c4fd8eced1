import type { Stamp } from "../domain/observed.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";

/** Finds robots with wrong clocks, by the times of their messages. */
export interface RobotClocks {
  /**
   * The stamp, marked if the robot's clock is wrong. `isChange`: the message came because of a change, so it
   * is new. A snapshot may be old: a robot that stands for a week sends what it recorded then.
   */
  evaluate(robotId: RobotId, stamp: Stamp, isChange: boolean): Stamp;
  /** How many robots have a wrong clock now. */
  wrong(): number;
}

export interface RobotClocksParts {
  readonly clock: Pick<Clock, "nowMs">;
  /** The service's clock minus this machine's; null: not known. This machine's clock may be the wrong one. */
  readonly serviceAheadMs: () => number | null;
  readonly log: Log;
}

/** Robots without a time server drift by minutes a month; a message is delivered within seconds. */
const MOST_CLOCK_DISTANCE_MS = 10 * 60_000;
/** No robot recorded anything earlier: a clock with an earlier time was never set. */
const EARLIEST_ROBOT_TIME_MS = Date.UTC(2020, 0, 1);

export function createRobotClocks({ clock, serviceAheadMs, log }: RobotClocksParts): RobotClocks {
  const wrong = new Set<RobotId>();
  const reported = new Set<RobotId>();

  /** How far a robot's time is ahead; negative: behind. Compared with the nearer one of the two clocks. */
  function aheadMs(sourceTimeMs: number): number {
    const byOurs = sourceTimeMs - clock.nowMs();
    const byService = byOurs - (serviceAheadMs() ?? 0);
    return Math.abs(byService) < Math.abs(byOurs) ? byService : byOurs;
  }

  function isWrong(robotId: RobotId, sourceTimeMs: number, distanceMs: number, isChange: boolean): boolean {
    if (sourceTimeMs < EARLIEST_ROBOT_TIME_MS || distanceMs > MOST_CLOCK_DISTANCE_MS) return true;
    if (distanceMs >= -MOST_CLOCK_DISTANCE_MS) return false;
    return isChange || wrong.has(robotId);
  }

  return {
    evaluate(robotId, stamp, isChange) {
      const { sourceTimeMs } = stamp;
      if (sourceTimeMs === null) return stamp;
      const distanceMs = aheadMs(sourceTimeMs);
      if (!isWrong(robotId, sourceTimeMs, distanceMs, isChange)) {
        wrong.delete(robotId);
        return stamp;
      }
      wrong.add(robotId);
      if (!reported.has(robotId)) {
        reported.add(robotId);
        const seconds = Math.round(distanceMs / 1_000);
        log.warn({ robotId, aheadSeconds: seconds }, "a robot's clock is wrong: its times are not used");
      }
      return { ...stamp, isClockWrong: true };
    },
    wrong: () => wrong.size,
  };
}

/** The service's clock compared with this machine's, by the Date of its HTTP answers. */
export interface ClockSkew {
  /** Takes the Date of an answer that begins now, and the monotonic time at which its request left. */
  received(date: string | undefined, sentAtMs: number): void;
  /**
   * How many milliseconds the service's clock is ahead of this machine's at least, at this moment; negative:
   * behind. Null before the first answer with a Date. A wall clock that is set shows at once, because the
   * service's time is carried on by the monotonic clock.
   */
  nowMs(): number | null;
}

/** A Date has whole seconds, rounded down (RFC 9110, 5.6.7). */
const DATE_STEP_MS = 1_000;

export function createClockSkew(clock: Pick<Clock, "nowMs" | "monotonicMs">): ClockSkew {
  /**
   * The service's clock minus the monotonic one: the Date was made at some moment between sending and answer.
   */
  let offset: { readonly leastMs: number; readonly mostMs: number } | null = null;

  return {
    received(date, sentAtMs) {
      const serviceMs = Date.parse(date ?? "");
      if (Number.isNaN(serviceMs)) return;
      offset = { leastMs: serviceMs - clock.monotonicMs(), mostMs: serviceMs + DATE_STEP_MS - sentAtMs };
    },
    nowMs() {
      if (offset === null) return null;
      const aheadMs = clock.monotonicMs() - clock.nowMs();
      const least = offset.leastMs + aheadMs;
      const most = offset.mostMs + aheadMs;
      return Math.max(least, Math.min(most, 0));
    },
  };
}
