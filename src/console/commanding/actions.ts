import type { Mission, Robot } from "../../northbound/web/api/robot.ts";
import { hasEnded } from "../fleet/goal-text.ts";
import type { Wanted } from "./asked.ts";

/** An action of a user on a robot, with a second step. */
export interface Action {
  readonly label: string;
  /** Whether it starts the robot: from some addresses that is refused. */
  readonly moves: boolean;
  /** What it does, for the second step. */
  readonly effect: string;
  readonly wanted: Wanted;
}

/** The actions that the robot's state allows. The fleet service decides. */
export function actionsOf(robot: Robot): readonly Action[] {
  const { robot_id: robotId, missions } = robot;
  const queue = missions?.state ?? null;
  const mission = queue?.missions[queue.current_mission_index];
  if (mission === undefined || hasEnded(mission)) return [charge(robotId)];
  const cancel: Action = {
    label: "Cancel mission",
    moves: false,
    effect: "its mission ends as canceled, and is not resumed",
    wanted: missionCommand(robotId, mission, "COMMAND_CANCEL"),
  };
  if (mission.state !== "STATE_PAUSED") return [cancel];
  const resume: Action = {
    label: "Resume mission",
    moves: true,
    effect: "it drives on",
    wanted: missionCommand(robotId, mission, "COMMAND_RESUME"),
  };
  return [resume, cancel];
}

/** What must not change between the two steps. */
export function basisOf({ quality, standing, missions, lease, hold, place }: Robot): string {
  const queue = missions?.state;
  const current = queue?.missions[queue.current_mission_index];
  return JSON.stringify([
    quality,
    standing.reason,
    current?.mission_id,
    current?.state,
    current?.current_goal_index,
    lease,
    hold.by,
    place?.point,
  ]);
}

function charge(robotId: string): Action {
  return {
    label: "Send to charge",
    moves: true,
    effect: "it drives to a charger",
    wanted: { operation: "ChargeRobot", request: { robotId } },
  };
}

function missionCommand(robotId: string, { mission_id: missionId }: Mission, command: string): Wanted {
  return { operation: "UpdateMission", request: { robotId, missionCommand: { missionId, command } } };
}
