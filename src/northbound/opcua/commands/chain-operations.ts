import type { SlotCommand, SlotRequest } from "./slot-command.ts";
import type { Argument, Meaning, MissionParameters, MissionRobot, SlotOperation } from "./slot-operation.ts";

type MissionCommand = "COMMAND_CANCEL" | "COMMAND_PAUSE" | "COMMAND_RESUME" | "COMMAND_FINISH";

/**
 * Operations on what a robot does now: 10 to 13 on its mission, and in the same order 14 to 17 on its task
 * chain. 18 and 19 are other forms of 14 and 15. Cancel and pause are stops.
 */
export const chainOperations: readonly SlotOperation[] = [
  ofMission(10, "Cancel", ["cancel", "abbrechen"], true, "COMMAND_CANCEL"),
  ofMission(11, "Pause", ["pause", "pausieren"], true, "COMMAND_PAUSE"),
  ofMission(12, "Resume", ["resume", "fortsetzen"], false, "COMMAND_RESUME"),
  ofMission(13, "Finish", ["finish", "beenden"], false, "COMMAND_FINISH"),
  row(
    [14, "CancelChain", ["cancel the task chain", "die Aufgabenkette abbrechen"], true, "CancelTaskChain"],
    "task_chain",
    cancelChain("cancel task chain", false),
  ),
  row(
    [15, "PauseNow", ["pause the robot now", "den Roboter jetzt pausieren"], true, "PauseRobot"],
    "nothing",
    pauseRobot("pause the robot now", true),
  ),
  row(
    [16, "ResumeNow", ["resume the robot", "den Roboter fortsetzen"], false, "ResumeRobot"],
    "nothing",
    resumeRobot,
  ),
  row(
    [
      17,
      "ConfirmTask",
      ["confirm the waiting task of the chain", "die wartende Aufgabe der Kette bestätigen"],
      false,
      "FinishTaskChain",
    ],
    "task_chain",
    confirmTask,
  ),
  row(
    [
      18,
      "ForceCancelChain",
      ["cancel the task chain by force", "die Aufgabenkette mit Zwang abbrechen"],
      true,
      "CancelTaskChain",
    ],
    "task_chain",
    cancelChain("cancel by force task chain", true),
  ),
  row(
    [
      19,
      "PauseAtWaypoint",
      ["pause the robot at the next waypoint", "den Roboter am nächsten Wegpunkt pausieren"],
      true,
      "PauseRobot",
    ],
    "nothing",
    pauseRobot("pause the robot at the next waypoint", false),
  ),
];

type MakeCommand = SlotOperation["command"];

function row(
  [number, name, meaning, isStop, operation]: readonly [number, string, Meaning, boolean, string],
  argument: Argument,
  command: MakeCommand,
): SlotOperation {
  return { number, name, meaning, operation, argument, family: null, isStop, command };
}

function ofMission(number: number, name: string, meaning: Meaning, isStop: boolean, command: MissionCommand) {
  const [text] = meaning;
  return row([number, name, meaning, isStop, "UpdateMission"], "mission", ({ targetMissionId }, robot) => {
    const isUnnamed = targetMissionId === "";
    const pause = isUnnamed && command === "COMMAND_PAUSE" ? robot.pauseNow() : null;
    if (pause !== null) return pause;
    const missionId = isUnnamed ? robot.currentMissionId : targetMissionId;
    if (missionId === null && !isStop) {
      return { problem: "the command names no mission, and no current mission of the robot is known" };
    }
    return missionRequest(text, robot, command, missionId);
  });
}

/**
 * A stop is sent also if no mission is known, then without one: it cancels the starts that wait in the
 * gateway for this robot. The service refuses a command that names no mission.
 */
function missionRequest(
  text: string,
  { robotId }: MissionRobot,
  command: MissionCommand,
  missionId: string | null,
): SlotRequest {
  return {
    text: `${text} ${missionId === null ? "whatever waits" : `mission ${missionId}`}`,
    operation: "UpdateMission",
    request: { robotId, missionCommand: { missionId: missionId ?? "", command } },
    missionId,
  };
}

/** Without a chain the stop is sent all the same, like that of a mission. */
function cancelChain(text: string, force: boolean): MakeCommand {
  return ({ targetTaskChainId }, robot) => {
    const chainId = targetTaskChainId === 0 ? (robot.taskChain?.chainId ?? null) : targetTaskChainId;
    if (chainId === null) return missionRequest("cancel", robot, "COMMAND_CANCEL", null);
    return chainRequest("CancelTaskChain", { taskChainId: chainId, force }, `${text} ${chainId}`);
  };
}

/**
 * A robot that was never listed has no number: then its mission is paused, or its waiting starts are
 * canceled.
 */
function pauseRobot(text: string, stopNow: boolean): MakeCommand {
  return (_parameters, robot) => {
    if (robot.amrId !== null) return chainRequest("PauseRobot", { amrId: robot.amrId, stopNow }, text);
    return robot.pauseNow() ?? missionRequest("pause", robot, "COMMAND_PAUSE", robot.currentMissionId);
  };
}

function resumeRobot(_parameters: MissionParameters, { amrId }: MissionRobot): SlotCommand {
  if (amrId !== null) return chainRequest("ResumeRobot", { amrId }, "resume the robot");
  return { problem: "the number of the robot is not known: the service has not listed it yet" };
}

/**
 * A confirmation is for the chain at which the robot is seen (docs/internals/decisions.md, A confirmation is
 * for the chain that the robot is seen at).
 */
function confirmTask({ targetTaskChainId }: MissionParameters, robot: MissionRobot): SlotCommand {
  const { taskChain } = robot;
  if (taskChain === null || !taskChain.isSeenNow) {
    return { problem: "no task chain of the robot is known now, so none can be confirmed" };
  }
  const { chainId } = taskChain;
  if (targetTaskChainId !== 0 && targetTaskChainId !== chainId) {
    return {
      problem: `the command names chain ${targetTaskChainId}, and the robot executes chain ${chainId}`,
    };
  }
  return chainRequest(
    "FinishTaskChain",
    { taskChainId: chainId },
    `confirm the waiting task of task chain ${chainId}`,
  );
}

function chainRequest(
  operation: string,
  request: Readonly<Record<string, unknown>>,
  text: string,
): SlotRequest {
  return { text, operation, request, missionId: null };
}
