import type { FleetNotice } from "../domain/change.ts";
import type { RobotId } from "../domain/robot.ts";

/** The alarms that the fleet state raises. A conveyor's code carries its index. */
export type AlarmCode = "ROBOT_LOST" | "ROBOT_EXCEPTION" | "MISSION_FAILED" | `CONVEYOR_ERROR_${number}`;

/** What every notice needs from outside. */
export interface EventContext {
  /** Unique over all sessions of this gateway. */
  nextEventId(): string;
  /** The identity of our command that made a mission; null where it was not ours. */
  commandOf(missionId: string): string | null;
  alarm(robotId: RobotId, atMs: number, code: AlarmCode, active: boolean, text: string): FleetNotice;
}

/**
 * @param sessionId names this run of the gateway: event ids are counted within it
 * @param commandOf finds our command by the mission that it made
 */
export function createEventContext(
  sessionId: string,
  commandOf: (missionId: string) => string | null,
): EventContext {
  let count = 0;
  const nextEventId = () => {
    count += 1;
    return `${sessionId}-${count}`;
  };
  return {
    nextEventId,
    commandOf,
    alarm: (robotId, atMs, code, active, text) => ({
      kind: "alarm",
      eventId: nextEventId(),
      robotId,
      atMs,
      code,
      active,
      text,
    }),
  };
}
