import type { FleetEvent } from "../domain/event.ts";
import type { RobotId } from "../domain/robot.ts";

/** The alarms that the fleet state raises. A conveyor's code carries its index. */
export type AlarmCode = "ROBOT_LOST" | "ROBOT_EXCEPTION" | "MISSION_FAILED" | `CONVEYOR_ERROR_${number}`;

/** What every event needs from outside. */
export interface EventContext {
  /** Unique over all sessions of this gateway. */
  nextEventId(): string;
  alarm(robotId: RobotId, atMs: number, code: AlarmCode, active: boolean, text: string): FleetEvent;
}

/** @param sessionId names this run of the gateway: event ids are counted within it */
export function createEventContext(sessionId: string): EventContext {
  let count = 0;
  const nextEventId = () => {
    count += 1;
    return `${sessionId}-${count}`;
  };
  return {
    nextEventId,
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
