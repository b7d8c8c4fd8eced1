import type { Draft, RequestDraft } from "./draft.ts";
import type { Argument, MissionParameters, MissionRobot, SlotOperation } from "./slot-operation.ts";

type MissionCommand = "COMMAND_CANCEL" | "COMMAND_PAUSE" | "COMMAND_RESUME" | "COMMAND_FINISH";

/**
 * Operations on what a robot does now: 10 to 13 on its mission, and in the same order 14 to 17 on its task
 * chain. 18 and 19 are other forms of 14 and 15. Cancel and pause are stops.
 */
export const chainOperations: readonly SlotOperation[] = [
  ofMission(10, "Cancel", "cancel", true, "COMMAND_CANCEL"),
  ofMission(11, "Pause", "pause", true, "COMMAND_PAUSE"),
  ofMission(12, "Resume", "resume", false, "COMMAND_RESUME"),
  ofMission(13, "Finish", "finish", false, "COMMAND_FINISH"),
  ofChain(14, "CancelChain", "cancel task chain", true, "CancelTaskChain", cancelChain(false)),
  ofRobot(15, "PauseNow", "pause the robot now", true, "PauseRobot", pauseRobot(true)),
  ofRobot(16, "ResumeNow", "resume the robot", false, "ResumeRobot", resumeRobot),
  ofChain(17, "ConfirmTask", "confirm the waiting task of task chain", false, "FinishTaskChain", confirmTask),
  ofChain(18, "ForceCancelChain", "cancel by force task chain", true, "CancelTaskChain", cancelChain(true)),
  ofRobot(
    19,
    "PauseAtWaypoint",
    "pause the robot at the next waypoint",
    true,
    "PauseRobot",
    pauseRobot(false),
  ),
];

type MakeDraft = (text: string, parameters: MissionParameters, robot: MissionRobot) => Draft;

type Row = readonly [number: number, name: string, text: string, isStop: boolean, operation: string];

function row(
  [number, name, text, isStop, operation]: Row,
  argument: Argument,
  make: MakeDraft,
): SlotOperation {
  const draft = (parameters: MissionParameters, robot: MissionRobot) => make(text, parameters, robot);
  return { number, name, operation, text, argument, family: null, isStop, draft };
}

function ofChain(...[number, name, text, isStop, operation, make]: [...Row, MakeDraft]): SlotOperation {
  return row([number, name, text, isStop, operation], "task_chain", make);
}

function ofRobot(...[number, name, text, isStop, operation, make]: [...Row, MakeDraft]): SlotOperation {
  return row([number, name, text, isStop, operation], "nothing", make);
}

function ofMission(number: number, name: string, text: string, isStop: boolean, command: MissionCommand) {
  return row(
    [number, name, text, isStop, "UpdateMission"],
    "mission",
    (_text, { targetMissionId }, robot) => {
      const isUnnamed = targetMissionId === "";
      const pause = isUnnamed && command === "COMMAND_PAUSE" ? robot.pauseNow() : null;
      if (pause !== null) return pause;
      const missionId = isUnnamed ? robot.currentMissionId : targetMissionId;
      if (missionId === null && !isStop) {
        return { problem: "the command names no mission, and no current mission of the robot is known" };
      }
      return missionRequest(text, robot, command, missionId);
    },
  );
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
): RequestDraft {
  return {
    text: `${text} ${missionId === null ? "whatever waits" : `mission ${missionId}`}`,
    operation: "UpdateMission",
    request: { robotId, missionCommand: { missionId: missionId ?? "", command } },
    missionId,
  };
}

/** Without a chain the stop is sent all the same, like that of a mission. */
function cancelChain(force: boolean): MakeDraft {
  return (text, { targetTaskChainId }, robot) => {
    const chainId = targetTaskChainId === 0 ? (robot.taskChain?.chainId ?? null) : targetTaskChainId;
    if (chainId === null) return missionRequest("cancel", robot, "COMMAND_CANCEL", null);
    return chainRequest("CancelTaskChain", { taskChainId: chainId, force }, `${text} ${chainId}`);
  };
}

/**
 * A robot that was never listed has no number: then its mission is paused, or its waiting starts are
 * canceled.
 */
function pauseRobot(stopNow: boolean): MakeDraft {
  return (text, _parameters, robot) => {
    if (robot.amrId !== null) return chainRequest("PauseRobot", { amrId: robot.amrId, stopNow }, text);
    return robot.pauseNow() ?? missionRequest("pause", robot, "COMMAND_PAUSE", robot.currentMissionId);
  };
}

function resumeRobot(text: string, _parameters: MissionParameters, { amrId }: MissionRobot): Draft {
  if (amrId !== null) return chainRequest("ResumeRobot", { amrId }, text);
  return { problem: "the number of the robot is not known: the service has not listed it yet" };
}

/**
 * A confirmation is for the chain at which the robot is seen (docs/decisions.md, A confirmation is for the
 * chain that the robot is seen at).
 */
function confirmTask(text: string, { targetTaskChainId }: MissionParameters, robot: MissionRobot): Draft {
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
  return chainRequest("FinishTaskChain", { taskChainId: chainId }, `${text} ${chainId}`);
}

function chainRequest(
  operation: string,
  request: Readonly<Record<string, unknown>>,
  text: string,
): RequestDraft {
  return { text, operation, request, missionId: null };
}
