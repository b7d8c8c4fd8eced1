import type { StopRequest } from "../contracts/stop-request.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Stop } from "../domain/stops.ts";

/**
 * The request of the catalogue for a stop, as canonical JSON: its keys are in order (fleet-service-interface,
 * UpdateMission, ControlConveyor, PauseRobot).
 */
export function stopRequest(robotId: RobotId, stop: Stop): StopRequest {
  switch (stop.kind) {
    case "pause_mission": {
      const missionCommand = { command: "COMMAND_PAUSE", missionId: stop.missionId };
      return { operation: "UpdateMission", requestJson: JSON.stringify({ missionCommand, robotId }) };
    }
    case "pause_chain":
      return { operation: "PauseRobot", requestJson: JSON.stringify({ amrId: stop.amrId, stopNow: true }) };
    case "stop_conveyors": {
      const commands = stop.indexes.map((index) => ({ command: "COMMAND_CONVEYOR_MOTOR_STOP", index }));
      return { operation: "ControlConveyor", requestJson: JSON.stringify({ commands, robotId }) };
    }
  }
}
