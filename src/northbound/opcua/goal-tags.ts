import { type StatusCode, StatusCodes } from "node-opcua";
import type { Goal } from "../../domain/goal.ts";
import { goalTags, LISTED_GOALS } from "./model/mission.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { isTooLong, type TagTimes } from "./node-opcua/tag.ts";

const MILLI = 1_000;
const LARGEST_INT32 = 2_147_483_647;

/** The goals of a robot's current mission, as fixed arrays in its `Mission` folder. */
export interface GoalTags {
  show(goals: readonly Goal[], status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

export function addGoalTags(builder: NodeBuilder, folder: Folder): GoalTags {
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

/** A goal in words: the destination, or the pose in metres and radians. */
export function goalText(goal: Goal | undefined): string {
  if (goal === undefined || goal.kind === "none") return "";
  if (goal.kind === "destination") return goal.destinationId;
  const { xMeters, yMeters, headingRadians } = goal.pose;
  return `pose ${xMeters} ${yMeters} ${headingRadians}`;
}

/** 0 for a value that is no place on any map. */
function millimetres(metres: number | undefined): number {
  const value = Math.round((metres ?? 0) * MILLI);
  return Math.abs(value) <= LARGEST_INT32 ? value : 0;
}
