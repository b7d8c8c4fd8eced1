import type { Target } from "./map.ts";
import type { Robot } from "./robot.ts";

/** A chain has no more tasks than this, however often it is reassigned. */
export const MOST_TASKS = 200;

/** The work of a task at its point. */
export type TaskKind = "load" | "unload" | "confirm";

export type TaskStatus = "waiting" | "executing" | "completed" | "canceled" | "failed";
export type ChainStatus = "waiting" | "in-progress" | "completed" | "canceled" | "failed";

/** A task of a request. Only a confirmation may lack a point. */
export interface TaskOrder {
  readonly kind: TaskKind;
  readonly mapId: number;
  readonly endPointCode: string;
  readonly target: Target | undefined;
}

export interface Task extends TaskOrder {
  readonly id: number;
  readonly createdMs: number;
  status: TaskStatus;
  startedMs: number | undefined;
  finishedMs: number | undefined;
  /** The robot that executes it; 0 before one does. */
  amrId: number;
  /** A confirmation whose robot stands at its point and waits. */
  awaitsConfirmation: boolean;
}

/** The client's own labels of a chain; the service repeats them. */
export interface ChainLabels {
  readonly areaId: number;
  readonly groupId: number;
  readonly priority: number;
  readonly isReturn: number;
  readonly taskSeq: string;
  readonly name: string;
  readonly fromDetail: string;
}

/** A chain of a request. */
export interface ChainOrder {
  readonly distributor: string;
  /** The robots that may execute it, the preferred one first. */
  readonly candidates: readonly Robot[];
  readonly amrId: number;
  readonly mapId: number;
  readonly labels: ChainLabels;
  readonly tasks: readonly TaskOrder[];
}

export interface Chain extends Omit<ChainOrder, "tasks" | "amrId"> {
  readonly id: number;
  readonly createdMs: number;
  tasks: Task[];
  /** The robot's number, once one is requested or found; 0 before. */
  amrId: number;
  status: ChainStatus;
  startedMs: number | undefined;
  finishedMs: number | undefined;
  robot: Robot | undefined;
}

/** Whether a chain is over. */
export function isChainOver(chain: Chain): boolean {
  return chain.status !== "waiting" && chain.status !== "in-progress";
}

/** The task that a chain's robot executes. */
export function executingTask(chain: Chain): Task | undefined {
  return chain.tasks.find((task) => task.status === "executing");
}
