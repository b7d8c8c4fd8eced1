import type { MessageInitShape } from "@bufbuild/protobuf";
import { type QueryTaskChainInfoSchema, TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { type Chain, type ChainStatus, isChainOver, type TaskStatus } from "../world/chain.ts";
import type { Robot } from "../world/robot.ts";
import { type Call, type CallHandler, type CallParts, handler } from "./calls.ts";
import { readTasks, taskTypeOf, toChainOrder, toReassigned } from "./chain-request.ts";
import { invalid } from "./mission-request.ts";

const MOST_QUERIED = 10_000;

/** The task-chain operations of TaskService. */
export function chainCalls(parts: CallParts): readonly CallHandler[] {
  const { world, ownership, confirmation, driver } = parts;
  const { chains } = world;
  const { method } = TaskService;
  return [
    handler(method.addTaskChain, async ({ operation, caller, by }, { taskChain, tasks }) => {
      if (taskChain === undefined) throw invalid("task_chain is required");
      const wishes = readTasks("tasks", tasks);
      const order = toChainOrder(ownership, caller, taskChain, wishes);
      return confirmation.perform(operation, undefined, () => ({ taskChainId: chains.add(order, by) }));
    }),
    handler(method.reassignTaskByAmrId, async (call, request) => {
      const wishes = readReassignment(request);
      const robot = ownership.robotByAmrId(call.caller, request.amrId);
      driver.sync();
      return reassign(parts, call, parts.world.chains.chainOf(robot), request, wishes);
    }),
    handler(method.reassignTaskByTaskChainId, async (call, request) => {
      const wishes = readReassignment(request);
      return reassign(parts, call, ownership.chain(call.caller, request.taskChainId), request, wishes);
    }),
    handler(method.finishTaskChain, async ({ operation, caller, by }, { taskChainId }) => {
      const chain = ownership.chain(caller, taskChainId);
      return confirmation.perform(operation, robotOn(chain), () => {
        chains.finish(chain, by);
        return {};
      });
    }),
    handler(method.cancelTaskChain, async ({ operation, caller, by }, { taskChainId, force }) => {
      const chain = ownership.chain(caller, taskChainId);
      return confirmation.perform(operation, robotOn(chain), () => {
        chains.cancel(chain, force, by);
        return {};
      });
    }),
    handler(method.queryTaskChain, async ({ operation, caller }, { taskChainIds }) => {
      if (taskChainIds.length === 0) throw invalid("task_chain_ids: at least one id is required");
      if (taskChainIds.length > MOST_QUERIED) throw invalid(`task_chain_ids: more than ${MOST_QUERIED}`);
      const known = [...new Set(taskChainIds)].filter((id) => chains.get(id) !== undefined);
      const found = known.map((id) => ownership.chain(caller, id));
      return confirmation.answer(operation, "", () => ({
        taskChains: found.map((chain) => toQueryInfo(chain, driver.wallMs)),
      }));
    }),
  ];
}

/** The robot that has to confirm a change of the chain: none before it starts and after it is over. */
function robotOn(chain: Chain): Robot | undefined {
  return isChainOver(chain) ? undefined : chain.robot;
}

interface Reassignment {
  readonly sequence: number;
  readonly isRetained: boolean;
  readonly reassignTasks: Parameters<typeof readTasks>[1];
}

function readReassignment({ sequence, reassignTasks }: Reassignment): ReturnType<typeof readTasks> {
  if (sequence < 1) throw invalid(`sequence: ${sequence}, but it counts from 1`);
  return readTasks("reassign_tasks", reassignTasks);
}

function reassign(
  { ownership, confirmation, world }: CallParts,
  { operation, caller, by }: Call,
  chain: Chain,
  { sequence, isRetained }: Reassignment,
  wishes: ReturnType<typeof readTasks>,
) {
  const tasks = toReassigned(ownership, caller, chain.mapId, wishes);
  return confirmation.perform(operation, robotOn(chain), () => {
    world.chains.reassign(chain, sequence, isRetained, tasks, by);
    return {};
  });
}

/**
 * `comeFrom` of a chain that came over this interface. A number of our own: its meaning is not documented.
 */
const COME_FROM_INTERFACE = 1;

/** A chain as QueryTaskChain answers it; `wallMs` turns world time into wall time. */
function toQueryInfo(
  chain: Chain,
  wallMs: (worldMs: number) => number,
): MessageInitShape<typeof QueryTaskChainInfoSchema> {
  const time = (worldMs: number | undefined) =>
    worldMs === undefined ? "" : new Date(wallMs(worldMs)).toISOString();
  return {
    taskChainState: {
      id: chain.id,
      amrId: chain.amrId,
      ...chain.labels,
      createTime: time(chain.createdMs),
      startTime: time(chain.startedMs),
      finishTime: time(chain.finishedMs),
      comeFrom: COME_FROM_INTERFACE,
      status: chainStatusName(chain.status),
    },
    taskStates: chain.tasks.map((task) => ({
      id: task.id,
      taskChainId: chain.id,
      amrId: task.amrId,
      taskType: taskTypeOf(task.kind),
      mapId: task.mapId,
      endPointCode: task.endPointCode,
      status: taskStatusName(task.status),
      createTime: time(task.createdMs),
      startTime: time(task.startedMs),
      finishTime: time(task.finishedMs),
      loading: task.kind === "load" ? 1 : 0,
    })),
  };
}

function chainStatusName(status: ChainStatus): string {
  return `TASK_CHAIN_STATUS_${status.replace("-", "_").toUpperCase()}`;
}

function taskStatusName(status: TaskStatus): string {
  return `TASK_STATUS_${status.toUpperCase()}`;
}
