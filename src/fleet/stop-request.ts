import type { StopRequest } from "../contracts/fleet-port.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Stop } from "../domain/stops.ts";

/**
 * The request of the catalogue for a stop: UpdateMission, ControlConveyor or PauseRobot.
 */
export function stopRequest(robotId: RobotId, stop: Stop): StopRequest {
  switch (stop.kind) {
    case "pause_mission": {
      const missionCommand = { command: "COMMAND_PAUSE", missionId: stop.missionId };
      return { operation: "UpdateMission", request: { missionCommand, robotId } };
    }
    case "pause_chain":
      return { operation: "PauseRobot", request: { amrId: stop.amrId, stopNow: true } };
    case "stop_conveyors": {
      const commands = stop.indexes.map((index) => ({ command: "COMMAND_CONVEYOR_MOTOR_STOP", index }));
      return { operation: "ControlConveyor", request: { commands, robotId } };
    }
  }
}
