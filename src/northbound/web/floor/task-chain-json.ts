import { currentTask, type TaskChain, waitsForConfirmation } from "../../../domain/task-chain.ts";
import type { TaskChain as ChainJson } from "../api/robot.ts";

/** @param position the code of the point where the robot is */
export function chainJson(chain: TaskChain, position: string): ChainJson {
  const current = currentTask(chain);
  const tasks: readonly unknown[] = Array.isArray(chain.info.task_states) ? chain.info.task_states : [];
  return {
    chain_id: chain.chainId,
    task_seq: chain.taskSeq,
    status: chain.status,
    finished: chain.finished,
    tasks: tasks.map(taskJson),
    current_task_index: current?.index ?? null,
    waits_for_confirmation: waitsForConfirmation(current, position),
  };
}

function taskJson(task: unknown): ChainJson["tasks"][number] {
  const field = (name: string) => {
    const value: unknown = typeof task === "object" && task !== null ? Reflect.get(task, name) : undefined;
    return value === undefined || value === null ? "" : String(value);
  };
  return { type: field("task_type"), point: field("end_point_code"), status: field("status") };
}
