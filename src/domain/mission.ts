import { type Coded, codeNumber, codeText } from "./coded.ts";

/** MissionState.State by number (proto/fleet/v1/mission.proto). */
export const missionStateNames = [
  "STATE_UNKNOWN",
  "STATE_DEFAULT",
  "STATE_RUNNING",
  "STATE_PAUSED",
  "STATE_CANCELED",
  "STATE_SUCCEEDED",
  "STATE_FAILED",
] as const;
export type MissionStateName = (typeof missionStateNames)[number];

/** Feedback status of serve and cart robots by number. Base robots use the first two. */
export const feedbackStatusNames = [
  "STATUS_UNKNOWN",
  "STATUS_NAVIGATING",
  "STATUS_ARRIVED",
  "STATUS_DOCKING",
  "STATUS_UNDOCKING",
] as const;
export type FeedbackStatusName = (typeof feedbackStatusNames)[number];

/** MissionType by family and number. */
export const missionTypeNames = {
  base: ["BASE_TYPE_UNKNOWN", "BASE_TYPE_NAVIGATE", "BASE_TYPE_NAVIGATE_AUTO"],
  serve: [
    "SERVE_TYPE_UNKNOWN",
    "SERVE_TYPE_SERVING",
    "SERVE_TYPE_SERVING_PATROL",
    "SERVE_TYPE_BUSSING",
    "SERVE_TYPE_BUSSING_PATROL",
    "SERVE_TYPE_NAVIGATE",
    "SERVE_TYPE_NAVIGATE_AUTO",
  ],
  cart: [
    "CART_TYPE_UNKNOWN",
    "CART_TYPE_TRAVERSE",
    "CART_TYPE_TRAVERSE_PATROL",
    "CART_TYPE_NAVIGATE",
    "CART_TYPE_NAVIGATE_AUTO",
  ],
} as const;
type MissionFamily = keyof typeof missionTypeNames;
type MissionTypeName = (typeof missionTypeNames)[MissionFamily][number];

/** A family's value, or a message whose member is not set (`none`). */
export type Feedback =
  | { readonly family: MissionFamily; readonly status: Coded<FeedbackStatusName> }
  | { readonly family: "none" };
export type MissionType =
  | { readonly family: MissionFamily; readonly type: Coded<MissionTypeName> }
  | { readonly family: "none" };

/** One mission of a robot's queue. `feedback` and `type` are null if the message left them unset. */
export interface Mission {
  readonly missionId: string;
  readonly state: Coded<MissionStateName>;
  readonly goals: readonly Goal[];
  readonly currentGoalIndex: number;
  readonly feedback: Feedback | null;
  readonly type: MissionType | null;
  readonly owner: string;
}

/**
 * A robot's missions from the first assigned to the last. The index is -1 before the first one, and stays on
 * the last one when that has ended.
 */
export interface MissionQueue {
  readonly missions: readonly Mission[];
  readonly currentMissionIndex: number;
}

/** The mission that `currentMissionIndex` names. */
export function currentMission(queue: MissionQueue): Mission | undefined {
  return queue.missions[queue.currentMissionIndex];
}

/** The number of the current mission's state; 0 without one. */
export function currentStateNumber(queue: MissionQueue): number {
  const mission = currentMission(queue);
  return mission === undefined ? 0 : codeNumber(missionStateNames, mission.state);
}

/** The goal of a mission at which the robot is, or to which it drives. */
export function currentGoal(mission: Mission): Goal | undefined {
  return mission.goals[mission.currentGoalIndex];
}

/** Whether a mission has ended: canceled, succeeded or failed (docs/internals/service.md, TRN-07). */
export function isTerminal(state: Coded<MissionStateName>): boolean {
  return state === "STATE_CANCELED" || state === "STATE_SUCCEEDED" || state === "STATE_FAILED";
}

/** Missions of these types leave a goal after a set time, or when the weight on the robot has changed. */
const typesThatGoOn: ReadonlySet<unknown> = new Set<MissionTypeName>([
  "CART_TYPE_TRAVERSE",
  "CART_TYPE_TRAVERSE_PATROL",
  "SERVE_TYPE_SERVING",
  "SERVE_TYPE_SERVING_PATROL",
  "SERVE_TYPE_BUSSING",
  "SERVE_TYPE_BUSSING_PATROL",
]);

/** Why the robot will leave its current goal without a command; null if its mission ends there. */
export function whyGoesOn(queue: MissionQueue): string | null {
  const mission = currentMission(queue) ?? queue.missions.at(-1);
  if (mission === undefined) return null;
  const { state, type } = mission;
  if (!isTerminal(state) && type !== null && type.family !== "none" && typesThatGoOn.has(type.type)) {
    return `its mission is of ${codeText(type.type)}`;
  }
  const isWaiting = queue.missions.some((other) => other !== mission && !isTerminal(other.state));
  return isWaiting ? "another mission waits behind this one" : null;
}

/**
 * Whether the robot may stand at the goal of a mission that has succeeded. A mission that was finished or
 * skipped before its goal succeeds too (docs/internals/service.md, TRN-06 and TRN-33), and its robot stands
 * somewhere else. Serve robots and carts report their arrival; base robots cannot.
 */
export function mayHaveArrived({ feedback }: Mission): boolean {
  if (feedback === null || (feedback.family !== "cart" && feedback.family !== "serve")) return true;
  return feedback.status === "STATUS_ARRIVED";
}

/** A place on the map in metres and radians. */
interface Pose {
  readonly xMeters: number;
  readonly yMeters: number;
  readonly headingRadians: number;
}

/**
 * Where a mission sends a robot: a destination's display name, a pose, or a kind
 * of goal that this version does not know.
 */
export type Goal =
  | { readonly kind: "destination"; readonly destinationId: string }
  | { readonly kind: "pose"; readonly pose: Pose }
  | { readonly kind: "none" };

/** A task chain as QueryTaskChain shows it; `info` is published as it is, in snake_case. */
export interface TaskChain {
  readonly chainId: number;
  readonly amrId: number;
  readonly taskSeq: string;
  readonly status: string;
  readonly finished: boolean;
  readonly info: Readonly<Record<string, unknown>>;
}

/** The task of a chain that is executed now. */
interface CurrentTask {
  /** Its index in the chain, from 0. */
  readonly index: number;
  readonly type: string;
  /** The code of its point; empty: it has no point. */
  readonly point: string;
}

/** The task that is executed now; null: none is. */
export function currentTask({ info }: TaskChain): CurrentTask | null {
  const tasks = tasksOf(info);
  const index = tasks.findIndex(({ status }) => status === "TASK_STATUS_EXECUTING");
  const task = tasks[index];
  if (task === undefined) return null;
  return { index, type: String(task.task_type ?? ""), point: String(task.end_point_code ?? "") };
}

/** How many tasks it has. */
export function taskCount({ info }: TaskChain): number {
  return tasksOf(info).length;
}

/**
 * Whether a task waits for FinishTaskChain. A task that names a point drives there first, and then waits
 * (docs/internals/service.md, TRN-52). `position` is the code of the point where the robot is.
 */
export function waitsForConfirmation(task: CurrentTask | null, position: string): boolean {
  if (task?.type !== "TASK_TYPE_SYSTEM_CONFIRM") return false;
  return task.point === "" || task.point === position;
}

function tasksOf(info: TaskChain["info"]): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(info.task_states) ? info.task_states : [];
}

/** Whether a mission has reached its goal, and waits there. */
export function isArrived({ feedback }: Mission): boolean {
  return feedback !== null && feedback.family !== "none" && feedback.status === "STATUS_ARRIVED";
}
