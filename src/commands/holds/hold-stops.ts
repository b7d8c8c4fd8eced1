import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import {
  type Activity,
  activitiesOf,
  activityKey,
  hasStopFailed,
  type RobotSight,
  type SeenActivity,
  type Stop,
  stopsOf,
} from "../../domain/stops.ts";
import type { Clock } from "../../platform/clock.ts";
import type { StoredHold } from "../journal/journal.ts";
import type { HoldRegistry } from "./hold-store.ts";

export interface HoldStopParts {
  readonly clock: Clock;
  readonly sight: (robotId: RobotId) => RobotSight;
  /** Sends a stop. Never rejects. */
  readonly send: (robotId: RobotId, stop: Stop) => Promise<Outcome>;
}

/** Stops the activities of held robots. */
export interface HoldStops {
  /** A hold begins: stops all that the robot does, and all that it may do. */
  begin(robotId: RobotId): void;
  /** A held robot has sent something: stops new activities. */
  look(robotId: RobotId): void;
  /** No hold is left on the robot. */
  end(robotId: RobotId): void;
  /** Looks again at robots whose stop failed, or came a moment ago. Call it about once a second. */
  tick(): void;
}

/** The last stop of one activity. */
interface Sent {
  /** The message that showed it, and whether its value was good. */
  readonly seen: Pick<SeenActivity, "stamp" | "isSeen">;
  readonly atMs: number;
  state: "under_way" | "done" | "failed";
}

/** Messages from before the effect of a stop are at most this late: they cause no second stop. */
const AGAIN_MS = 1_000;
const RETRY_MS = 10_000;

/**
 * Each activity is stopped once when it is seen, and once more if a newer message shows it under way after
 * its stop has ended. A stop that failed is tried again every 10 s while the activity is seen. So a robot
 * that keeps moving costs a bounded number of calls, and a robot out of sight none.
 */
export function createHoldStops({ clock, sight, send }: HoldStopParts): HoldStops {
  const robots = new Map<RobotId, Map<string, Sent>>();

  function isDue(sent: Sent | undefined, { isSeen, stamp }: SeenActivity): boolean {
    if (!isSeen) return false;
    if (sent === undefined) return true;
    const sinceMs = clock.monotonicMs() - sent.atMs;
    if (sent.state === "under_way" || sinceMs < AGAIN_MS) return false;
    const isNew = sent.seen.stamp !== stamp || !sent.seen.isSeen;
    return isNew || (sent.state === "failed" && sinceMs >= RETRY_MS);
  }

  function sendStops(robotId: RobotId, sentOf: Map<string, Sent>, due: readonly SeenActivity[]): void {
    for (const { stop, ends } of stopsOf(due)) {
      const entries = ends.map(({ activity, stamp, isSeen }) => {
        const entry: Sent = { seen: { stamp, isSeen }, atMs: clock.monotonicMs(), state: "under_way" };
        sentOf.set(activityKey(activity), entry);
        return entry;
      });
      void send(robotId, stop).then((outcome) => {
        for (const entry of entries) entry.state = hasStopFailed(outcome) ? "failed" : "done";
      });
    }
  }

  function sightOf(robotId: RobotId, sentOf: Map<string, Sent>): readonly SeenActivity[] {
    const activities = activitiesOf(sight(robotId));
    const keys = new Set(activities.map(({ activity }) => activityKey(activity)));
    for (const key of sentOf.keys()) if (!keys.has(key)) sentOf.delete(key);
    return activities;
  }

  function look(robotId: RobotId): void {
    const sentOf = robots.get(robotId) ?? new Map<string, Sent>();
    robots.set(robotId, sentOf);
    const isDueNow = (seen: SeenActivity) => isDue(sentOf.get(activityKey(seen.activity)), seen);
    sendStops(robotId, sentOf, sightOf(robotId, sentOf).filter(isDueNow));
    if (sentOf.size === 0) robots.delete(robotId);
  }

  return {
    begin(robotId) {
      const sentOf = robots.get(robotId) ?? new Map<string, Sent>();
      robots.set(robotId, sentOf);
      const isUnderWay = (activity: Activity) => sentOf.get(activityKey(activity))?.state === "under_way";
      sendStops(
        robotId,
        sentOf,
        sightOf(robotId, sentOf).filter(({ activity }) => !isUnderWay(activity)),
      );
      if (sentOf.size === 0) robots.delete(robotId);
    },
    look,
    end: (robotId) => void robots.delete(robotId),
    tick() {
      for (const robotId of [...robots.keys()]) look(robotId);
    },
  };
}

/** The stops of the robots that a hold concerns. */
export interface RobotStops {
  begin(hold: StoredHold): void;
  /** Robots that another hold concerns are stopped still. */
  end(hold: StoredHold): void;
}

interface RobotStopsParts {
  readonly stops: Pick<HoldStops, "begin" | "end">;
  readonly registry: Pick<HoldRegistry, "isHeld">;
  /** Null: all robots. */
  readonly robotsOf: (robotId: RobotId | null) => readonly RobotId[];
}

export function createRobotStops({ stops, registry, robotsOf }: RobotStopsParts): RobotStops {
  return {
    begin({ robotId }) {
      for (const each of robotsOf(robotId)) stops.begin(each);
    },
    end({ robotId }) {
      for (const each of robotsOf(robotId)) if (!registry.isHeld(each)) stops.end(each);
    },
  };
}
