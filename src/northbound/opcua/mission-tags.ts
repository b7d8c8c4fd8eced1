import { type StatusCode, StatusCodes } from "node-opcua";
import { type Coded, codeNumber, codeText } from "../../domain/coded.ts";
import {
  currentGoal,
  currentMission,
  feedbackStatusNames,
  type Mission,
  type MissionQueue,
  missionStateNames,
} from "../../domain/mission.ts";
import { createEnumTable } from "./enumeration.ts";
import { addGoalTags, goalText } from "./goal-tags.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";

/** How many missions of the queue the arrays show: the newest, when there are more. */
const LISTED_MISSIONS = 8;
const ARRIVED = feedbackStatusNames.indexOf("STATUS_ARRIVED");

export const missionStateTable = createEnumTable("MissionState", missionStateNames);
const feedbackTable = createEnumTable("MissionFeedback", feedbackStatusNames);

/** A robot's `Mission` folder. */
export interface MissionTags {
  show(queue: MissionQueue, sequence: number | null, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot: the current mission as flat tags, the queue as fixed arrays. */
export function addMissionTags(builder: NodeBuilder, robot: Folder): MissionTags {
  const folder = builder.folder(robot, "Mission");
  const missionId = builder.tag(folder, "MissionId", "String");
  const state = builder.enumeration(folder, "State", missionStateTable);
  const stateText = builder.tag(folder, "StateText", "String");
  const currentMissionIndex = builder.tag(folder, "CurrentMissionIndex", "Int32");
  const missionCount = builder.tag(folder, "MissionCount", "Int32");
  const owner = builder.tag(folder, "Owner", "String");
  const missionType = builder.tag(folder, "MissionType", "String");
  const currentGoalIndex = builder.tag(folder, "CurrentGoalIndex", "Int32");
  const goalCount = builder.tag(folder, "GoalCount", "Int32");
  const goal = builder.tag(folder, "CurrentGoal", "String");
  const feedback = builder.enumeration(folder, "Feedback", feedbackTable);
  const arrived = builder.tag(folder, "Arrived", "Boolean");
  const sequenceNumber = builder.tag(folder, "SequenceNumber", "Double");
  const missionIds = builder.list(folder, "MissionIds", "String", LISTED_MISSIONS);
  const missionStates = builder.list(folder, "MissionStates", "Int32", LISTED_MISSIONS);
  const goals = addGoalTags(builder, folder);
  const every = [
    ...[missionId, state, stateText, currentMissionIndex, missionCount, owner, missionType, currentGoalIndex],
    ...[goalCount, goal, feedback, arrived, sequenceNumber, missionIds, missionStates],
  ];

  return {
    show(queue, sequence, status, times) {
      const mission = currentMission(queue);
      missionId.set(mission?.missionId ?? "", status, times);
      state.set(mission === undefined ? 0 : codeNumber(missionStateNames, mission.state), status, times);
      stateText.set(mission === undefined ? "" : codeName(mission.state), status, times);
      currentMissionIndex.set(queue.currentMissionIndex, status, times);
      missionCount.set(queue.missions.length, status, times);
      owner.set(mission?.owner ?? "", status, times);
      missionType.set(mission === undefined ? "" : typeName(mission), status, times);
      currentGoalIndex.set(mission?.currentGoalIndex ?? 0, status, times);
      goalCount.set(mission?.goals.length ?? 0, status, times);
      goal.set(mission === undefined ? "" : goalText(currentGoal(mission)), status, times);
      const feedbackNumber = feedbackOf(mission);
      feedback.set(feedbackNumber, status, times);
      arrived.set(feedbackNumber === ARRIVED, status, times);
      if (sequence === null) sequenceNumber.fail(StatusCodes.BadNoDataAvailable, times);
      else sequenceNumber.set(sequence, status, times);
      goals.show(mission?.goals ?? [], status, times);
      fillLists(queue);
      missionIds.setList(shownIds, status, times);
      missionStates.setList(shownStates, status, times);
    },
    fail(status, times) {
      for (const tag of every) tag.fail(status, times);
      goals.fail(status, times);
    },
  };
}

/** Filled anew for each message and copied by the tag only when it differs: a message allocates no list. */
const shownIds: string[] = new Array(LISTED_MISSIONS).fill("");
const shownStates: number[] = new Array(LISTED_MISSIONS).fill(0);

function fillLists(queue: MissionQueue): void {
  const first = Math.max(0, queue.missions.length - LISTED_MISSIONS);
  for (let place = 0; place < LISTED_MISSIONS; place += 1) {
    const mission = queue.missions[first + place];
    shownIds[place] = mission?.missionId ?? "";
    shownStates[place] = mission === undefined ? 0 : codeNumber(missionStateNames, mission.state);
  }
}

/** Whether a mission's robot says that it has arrived at the current goal. */
export function hasArrived(mission: Mission): boolean {
  return feedbackOf(mission) === ARRIVED;
}

function feedbackOf(mission: Mission | undefined): number {
  const feedback = mission?.feedback;
  if (feedback === undefined || feedback === null || feedback.family === "none") return 0;
  return codeNumber(feedbackStatusNames, feedback.status);
}

function codeName(value: Coded<string>): string {
  return String(codeText(value));
}

function typeName(mission: Mission): string {
  return mission.type === null || mission.type.family === "none" ? "" : codeName(mission.type.type);
}
