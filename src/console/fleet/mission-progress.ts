import type { Robot } from "../../northbound/web/api/robot.ts";
import { say } from "../texts/texts.ts";

/** Of these, success says only that the fleet service has taken a mission. */
const missionMakers = ["CreateMission", "CreateMissionWorkflow", "AppendMission", "ChargeRobot"];

export function makesMission(operation: string): boolean {
  return missionMakers.includes(operation);
}

/**
 * What has become of a mission, as far as its robot shows it. Empty: the robot does not show it, or nothing
 * of it yet.
 *
 * @param isSilent nothing has come of the fleet service lately
 */
export function progressText(robot: Robot | null, missionId: string | null, isSilent: boolean): string {
  const progress = robot === null || missionId === null ? "" : stateText(robot, missionId);
  if (progress === "") return "";
  const isOld = isSilent || robot?.mission?.quality !== "good";
  return isOld ? say("reason.last", { word: progress }) : progress;
}

function stateText({ mission, idle }: Robot, missionId: string): string {
  const own = mission?.state?.missions.find((each) => each.mission_id === missionId);
  switch (own?.state) {
    case "STATE_RUNNING":
      return say(idle.reason === "MOVING" ? "asked.drives" : "asked.underWay");
    case "STATE_PAUSED":
      return say("asked.paused");
    case "STATE_SUCCEEDED":
      return say("asked.arrived");
    case "STATE_FAILED":
      return say("asked.failed");
    case "STATE_CANCELED":
      return say("asked.canceled");
    default:
      return "";
  }
}
