import { type StatusCode, StatusCodes } from "node-opcua";
import { type Coded, codeNumber, codeText } from "../../domain/coded.ts";
import {
  currentGoal,
  currentMission,
  currentStateNumber,
  feedbackStatusNames,
  type Goal,
  type Mission,
  type MissionQueue,
  missionStateNames,
} from "../../domain/mission.ts";
import { goalText } from "../../models/flat-robot.ts";
import { goalTags, LISTED_GOALS, LISTED_MISSIONS, missionTags } from "./model/mission.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { isTooLong, type TagTimes } from "./node-opcua/tag.ts";

const MILLI = 1_000;
const LARGEST_INT32 = 2_147_483_647;

/** The goals of a robot's current mission, as fixed arrays in its `Mission` folder. */
export interface GoalTags {
  show(goals: readonly Goal[], status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

function addGoalTags(builder: NodeBuilder, folder: Folder): GoalTags {
  const { Goals: names, GoalXMm: xs, GoalYMm: ys } = builder.tags(folder, goalTags);

  let shown: readonly Goal[] | null = null;
  let shownStatus: StatusCode | null = null;

  return {
    show(goals, status, times) {
      if (status === shownStatus && shown !== null && areSame(shown, goals)) return;
      [shown, shownStatus] = [goals, status];
      for (let index = 0; index < LISTED_GOALS; index += 1) {
        const goal = goals[index];
        const pose = goal?.kind === "pose" ? goal.pose : null;
        shownNames[index] = goalText(goal);
        shownXs[index] = millimetres(pose?.xMeters);
        shownYs[index] = millimetres(pose?.yMeters);
      }
      if (shownNames.some(isTooLong)) names.fail(StatusCodes.BadOutOfRange, times);
      else names.setList(shownNames, status, times);
      xs.setList(shownXs, status, times);
      ys.setList(shownYs, status, times);
    },
    fail(status, times) {
      shown = null;
      for (const tag of [names, xs, ys]) tag.fail(status, times);
    },
  };
}

/** Nearly always true: then the lists need not be made. */
function areSame(ones: readonly Goal[], others: readonly Goal[]): boolean {
  if (ones.length !== others.length) return false;
  for (let index = 0; index < ones.length; index += 1) {
    const [one, other] = [ones[index], others[index]];
    if (one === undefined || other === undefined || !isSameGoal(one, other)) return false;
  }
  return true;
}

function isSameGoal(one: Goal, other: Goal): boolean {
  if (one.kind === "destination" && other.kind === "destination")
    return one.destinationId === other.destinationId;
  if (one.kind !== "pose" || other.kind !== "pose") return one.kind === other.kind;
  return (
    one.pose.xMeters === other.pose.xMeters &&
    one.pose.yMeters === other.pose.yMeters &&
    one.pose.headingRadians === other.pose.headingRadians
  );
}

/** Filled for each message, and copied by the tag only if it differs: a message allocates no list. */
const shownNames: string[] = new Array(LISTED_GOALS).fill("");
const shownXs: number[] = new Array(LISTED_GOALS).fill(0);
const shownYs: number[] = new Array(LISTED_GOALS).fill(0);

/** 0 for a value that is no place on any map. */
function millimetres(metres: number | undefined): number {
  const value = Math.round((metres ?? 0) * MILLI);
  return Math.abs(value) <= LARGEST_INT32 ? value : 0;
}

const ARRIVED = feedbackStatusNames.indexOf("STATUS_ARRIVED");

/** A robot's `Mission` folder. */
export interface MissionTags {
  show(queue: MissionQueue, status: StatusCode, times: TagTimes, sequence: number | null): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot: the current mission as flat tags, the queue as fixed arrays. */
export function addMissionTags(builder: NodeBuilder, robot: Folder): MissionTags {
  const folder = builder.folder(robot, "Mission");
  const tags = builder.tags(folder, missionTags);
  const goals = addGoalTags(builder, folder);

  return {
    show(queue, status, times, sequence) {
      const mission = currentMission(queue);
      tags.MissionId.set(mission?.missionId ?? "", status, times);
      tags.State.set(currentStateNumber(queue), status, times);
      tags.StateText.set(mission === undefined ? "" : codeName(mission.state), status, times);
      tags.CurrentMissionIndex.set(queue.currentMissionIndex, status, times);
      tags.MissionCount.set(queue.missions.length, status, times);
      tags.Owner.set(mission?.owner ?? "", status, times);
      tags.MissionType.set(mission === undefined ? "" : typeName(mission), status, times);
      tags.CurrentGoalIndex.set(mission?.currentGoalIndex ?? 0, status, times);
      tags.GoalCount.set(mission?.goals.length ?? 0, status, times);
      tags.CurrentGoal.set(mission === undefined ? "" : goalText(currentGoal(mission)), status, times);
      const feedbackNumber = feedbackOf(mission);
      tags.Feedback.set(feedbackNumber, status, times);
      tags.Arrived.set(feedbackNumber === ARRIVED, status, times);
      if (sequence === null) tags.SequenceNumber.fail(StatusCodes.BadNoDataAvailable, times);
      else tags.SequenceNumber.set(sequence, status, times);
      goals.show(mission?.goals ?? [], status, times);
      fillLists(queue);
      tags.MissionIds.setList(shownIds, status, times);
      tags.MissionStates.setList(shownStates, status, times);
    },
    fail(status, times) {
      for (const tag of Object.values(tags)) tag.fail(status, times);
      goals.fail(status, times);
    },
  };
}

/** Filled for each message, and copied by the tag only if it differs: a message allocates no list. */
const shownIds: string[] = new Array(LISTED_MISSIONS).fill("");
const shownStates: number[] = new Array(LISTED_MISSIONS).fill(0);

function fillLists(queue: MissionQueue): void {
  const first = Math.max(0, queue.missions.length - LISTED_MISSIONS);
  for (let index = 0; index < LISTED_MISSIONS; index += 1) {
    const mission = queue.missions[first + index];
    shownIds[index] = mission?.missionId ?? "";
    shownStates[index] = mission === undefined ? 0 : codeNumber(missionStateNames, mission.state);
  }
}

/** Whether the robot of a mission has arrived at the current goal, by its feedback. */
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
