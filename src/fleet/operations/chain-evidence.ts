import type { ChainQuery, EvidenceQuery, EvidenceRule } from "../../contracts/operation.ts";
import { type Task, TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { listIn, valueIn } from "./answer.ts";
import { requestOf } from "./row.ts";

const onlineRobots: EvidenceQuery = {
  operation: "GetOnlineRobots",
  request: () => requestOf(TaskService.method.getOnlineRobots, {}),
};

const chainsRequest = (taskChainIds: number[]) =>
  requestOf(TaskService.method.queryTaskChain, { taskChainIds });

/** Queries the chains with these numbers; null without any. */
function chainsQuery(chainIds: (answers: readonly unknown[]) => readonly number[]): EvidenceQuery {
  return {
    operation: "QueryTaskChain",
    request(answers) {
      const wanted = chainIds(answers);
      return wanted.length === 0 ? null : chainsRequest([...wanted]);
    },
  };
}

/** The chains of robots in the online list, or that of the robot with this number. */
function chainsOfRobots(answers: readonly unknown[], amrId?: number): readonly number[] {
  return listIn(answers[0], "robots")
    .filter((robot) => amrId === undefined || valueIn(robot, "id") === String(amrId))
    .map((robot) => Number(valueIn(robot, "task_chain_id")))
    .filter((chainId) => chainId > 0);
}

const chainsIn = (answer: unknown) => (answer === undefined ? [] : listIn(answer, "task_chains"));
const chainIdOf = (chain: unknown) => Number(valueIn(chain, "task_chain_state", "id"));
const tasksOf = (chain: unknown) => listIn(chain, "task_states");
const taskIdOf = (task: unknown) => Number(valueIn(task, "id"));

/** Queries the robot that executes a chain (QueryTaskChain). */
export function robotOfChain(chainId: number): ChainQuery {
  return {
    request: () => chainsRequest([chainId]),
    amrId(answer) {
      const chain = chainsIn(answer)[0];
      return chain === undefined ? null : Number(valueIn(chain, "task_chain_state", "amr_id"));
    },
  };
}

/**
 * A chain that has this reference now and had it not before, found through
 * GetOnlineRobots and QueryTaskChain. A chain that still waits for a robot is
 * not found, which proves nothing.
 */
export function chainWithReference(taskSeq: string): EvidenceRule {
  if (taskSeq === "") return { kind: "none" };
  const carriers = (answers: readonly unknown[]) =>
    chainsIn(answers[1])
      .filter((chain) => valueIn(chain, "task_chain_state", "task_seq") === taskSeq)
      .map(chainIdOf);
  return {
    kind: "query",
    queries: [onlineRobots, chainsQuery((answers) => chainsOfRobots(answers))],
    baseline: carriers,
    evaluate(answers, baseline) {
      if (!Array.isArray(baseline)) return null;
      const fresh = carriers(answers).filter((chainId) => !baseline.includes(chainId));
      return fresh.length === 1
        ? `QueryTaskChain shows chain ${fresh[0]} with taskSeq ${JSON.stringify(taskSeq)}, which was not there before`
        : null;
    },
  };
}

/** A request to reassign tasks, of either operation. */
interface Reassignment {
  /** Where the new tasks go, counted from 1. */
  readonly sequence: number;
  /** Whether the tasks from there on stay, behind the new ones. */
  readonly isRetained: boolean;
  readonly reassignTasks: readonly Task[];
}

/** The new tasks of a reassignment are at their place, in the chain of a robot or in this chain. */
export function tasksReassigned(
  chain: { readonly amrId: number } | { readonly chainId: number },
  { sequence, isRetained, reassignTasks: tasks }: Reassignment,
): EvidenceRule {
  if (tasks.length === 0) return { kind: "none" };
  const byRobot = "amrId" in chain;
  const queries = byRobot
    ? [onlineRobots, chainsQuery((answers) => chainsOfRobots(answers, chain.amrId))]
    : [chainsQuery(() => [chain.chainId])];
  const tasksNow = (answers: readonly unknown[]) => chainsIn(answers[queries.length - 1]).flatMap(tasksOf);
  return {
    kind: "query",
    queries,
    baseline: (answers) => tasksNow(answers).map(taskIdOf),
    evaluate(answers, baseline) {
      if (!Array.isArray(baseline)) return null;
      const now = tasksNow(answers);
      const point = sequence - 1;
      // The service may make the tasks behind the new ones anew, so their ids show nothing.
      const behind = isRetained ? baseline.length - point : 0;
      if (now.length !== point + tasks.length + behind) return null;
      const fresh = now.slice(point, point + tasks.length);
      const ids = fresh.map(taskIdOf);
      const isSame = tasks.every((task, index) => isTask(fresh[index], task));
      if (!isSame || ids.some((id) => baseline.includes(id))) return null;
      return `QueryTaskChain shows the new tasks ${ids.join(", ")} as they were asked for`;
    },
  };
}

function isTask(state: unknown, task: Task): boolean {
  return (
    valueIn(state, "task_type") === task.taskType &&
    valueIn(state, "map_id") === task.mapId &&
    valueIn(state, "end_point_code") === task.endPointCode
  );
}

/** The confirmation task that was waiting when the call left has been completed since. */
export function taskConfirmed(chainId: number): EvidenceRule {
  return {
    kind: "query",
    queries: [chainsQuery(() => [chainId])],
    baseline(answers) {
      const waiting = chainsIn(answers[0])
        .flatMap(tasksOf)
        .find(
          (task) =>
            valueIn(task, "task_type") === "TASK_TYPE_SYSTEM_CONFIRM" &&
            valueIn(task, "status") === "TASK_STATUS_EXECUTING",
        );
      return waiting === undefined ? null : taskIdOf(waiting);
    },
    evaluate(answers, baseline) {
      if (typeof baseline !== "number") return null;
      const task = chainsIn(answers[0])
        .flatMap(tasksOf)
        .find((each) => taskIdOf(each) === baseline);
      return valueIn(task, "status") === "TASK_STATUS_COMPLETED"
        ? `QueryTaskChain shows confirmation task ${baseline} as TASK_STATUS_COMPLETED`
        : null;
    },
  };
}

/** The chain was under way and has ended since without completing its tasks. */
export function chainCanceled(chainId: number): EvidenceRule {
  const finishTime = (answers: readonly unknown[]) =>
    valueIn(chainsIn(answers[0])[0], "task_chain_state", "finish_time");
  return {
    kind: "query",
    queries: [chainsQuery(() => [chainId])],
    baseline: (answers) => finishTime(answers) === "",
    evaluate(answers, wasUnderWay) {
      const finishedAt = finishTime(answers);
      if (wasUnderWay !== true || typeof finishedAt !== "string" || finishedAt === "") return null;
      const chain = chainsIn(answers[0])[0];
      const isComplete = tasksOf(chain).every((task) => valueIn(task, "status") === "TASK_STATUS_COMPLETED");
      if (isComplete) return null;
      const status = String(valueIn(chain, "task_chain_state", "status"));
      return `QueryTaskChain shows chain ${chainId} as ${status}, finished at ${finishedAt} with tasks not completed`;
    },
  };
}
