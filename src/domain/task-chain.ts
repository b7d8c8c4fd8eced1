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
export interface CurrentTask {
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
