import type { Command } from "../../northbound/web/api/command.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";

/** Whether its mission runs again: after a resume the online list is the older one, until the next answer. */
export function isResumed({ mission }: Robot): boolean {
  return mission?.state?.current_mission?.state === "STATE_RUNNING";
}

/** Whether its mission is known to be paused. */
export function hasPausedMission({ mission }: Robot): boolean {
  return mission?.quality === "good" && mission.state?.current_mission?.state === "STATE_PAUSED";
}

/** Whether a robot stands because something has paused it. */
export function isPaused(robot: Robot): boolean {
  return robot.idle.reason === "PAUSED" && !isResumed(robot);
}

/** What has paused a robot, by the newest command that has paused or resumed it; null: none has paused it. */
export function pauseOf(commands: readonly Command[], robot: Robot): Command | null {
  const missionId = robot.mission?.state?.current_mission?.mission_id;
  const newest = commands.findLast(
    (command) =>
      command.robot_id === robot.robot_id && hadEffect(command) && switchOf(command, missionId) !== null,
  );
  return newest !== undefined && switchOf(newest, missionId) === "pause" ? newest : null;
}

function hadEffect({ outcome }: Command): boolean {
  return outcome === "succeeded" || outcome === "probably_succeeded";
}

/** Whether a command pauses or resumes what the robot does now; null: neither. */
function switchOf({ operation, request }: Command, missionId: string | undefined): "pause" | "resume" | null {
  if (operation === "PauseRobot") return "pause";
  if (operation === "ResumeRobot") return "resume";
  if (operation !== "UpdateMission" || request === null) return null;
  const { missionCommand } = JSON.parse(request) as { readonly missionCommand?: MissionCommand };
  if (missionId !== undefined && missionCommand?.missionId !== missionId) return null;
  if (missionCommand?.command === "COMMAND_PAUSE") return "pause";
  return missionCommand?.command === "COMMAND_RESUME" ? "resume" : null;
}

interface MissionCommand {
  readonly missionId?: string;
  readonly command?: string;
}
