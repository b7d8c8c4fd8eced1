import type { RobotId } from "../../domain/robot.ts";

/**
 * A robot id as one step of a string NodeId: percent-encoded, including dots, which separate the steps, and
 * tildes, which mark a name that was taken.
 */
export function nodeName(robotId: RobotId): string {
  return encodeURIComponent(Buffer.from(robotId).toString()).replaceAll(".", "%2E").replaceAll("~", "%7E");
}
