import type { Stamp } from "../domain/observed.ts";
import type { RobotId } from "../domain/robot.ts";
import { contentId } from "../platform/json.ts";

/** Makes ids of events: unique over all sessions of this gateway. */
export interface EventIds {
  /**
   * The id of an event that a robot's message shows. It is a hash of the event if the message has the robot's
   * time.
   */
  of(kind: string, robotId: RobotId, stamp: Stamp, ...what: readonly string[]): string;
}

/** @param sessionId names this run of the gateway: an event without a hash gets a number within the run */
export function createEventIds(sessionId: string): EventIds {
  let count = 0;
  return {
    of(kind, robotId, { sourceTimeMs, sequence }, ...what) {
      if (sourceTimeMs !== null) return contentId(kind, robotId, sourceTimeMs, sequence, ...what);
      count += 1;
      return `${sessionId}-${count}`;
    },
  };
}
