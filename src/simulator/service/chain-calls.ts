import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type QueryTaskChainInfoSchema,
  type Task,
  type TaskChain,
  TaskService,
} from "../../wire/fleet/http/v1/task_pb.js";
import { invalid } from "../refusal.ts";
import {
  type Chain,
  type ChainOrder,
  type ChainStatus,
  isChainOver,
  MOST_TASKS,
  type TaskKind,
  type TaskOrder,
  type TaskStatus,
} from "../world/chain.ts";
import { type FleetMap, targetOf } from "../world/map.ts";
import type { Robot } from "../world/robot.ts";
import { type Call, type CallHandler, type CallParts, handler } from "./calls.ts";
import type { Caller } from "./contract.ts";
import type { Ownership } from "./ownership.ts";

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

/** The service repeats a chain's labels in each answer; they are not for whole documents. */
const LONGEST_LABEL = 1_024;

const taskKinds: ReadonlyMap<string, TaskKind> = new Map([
  ["TASK_TYPE_LOAD", "load"],
  ["TASK_TYPE_UNLOAD", "unload"],
  ["TASK_TYPE_SYSTEM_CONFIRM", "confirm"],
]);

/** The task_type of a kind of task. */
function taskTypeOf(kind: TaskKind): string {
  return `TASK_TYPE_${kind === "confirm" ? "SYSTEM_CONFIRM" : kind.toUpperCase()}`;
}

/** A well-formed task whose point is not looked up yet. */
interface TaskWish {
  readonly kind: TaskKind;
  readonly mapId: number;
  readonly endPointCode: string;
}

/** Reads tasks. Throws INVALID_ARGUMENT for what is not well-formed. */
function readTasks(field: string, tasks: readonly Task[]): readonly TaskWish[] {
  if (tasks.length === 0) throw invalid(`${field}: at least one task is required`);
  if (tasks.length > MOST_TASKS) throw invalid(`${field}: more than ${MOST_TASKS}`);
  return tasks.map(({ taskType, mapId, endPointCode }) => {
    const kind = taskKinds.get(taskType);
    if (kind === undefined) throw invalid(`${field}: ${taskType || "an empty string"} is not a task type`);
    if (endPointCode === "" && kind !== "confirm") throw invalid(`${field}: ${taskType} needs an end point`);
    if (endPointCode !== "" && mapId < 1) throw invalid(`${field}: map_id ${mapId} is not a positive number`);
    return { kind, mapId, endPointCode };
  });
}

/**
 * The requested chain, and the robots that could execute it: the robot of `amr_id`; or, with a group or
 * without a robot, any of them in the order of their numbers. Throws a Refusal.
 */
function toChainOrder(
  ownership: Ownership,
  caller: Caller,
  chain: TaskChain,
  wishes: readonly TaskWish[],
): ChainOrder {
  if (chain.amrId < 0) throw invalid(`task_chain.amr_id: ${chain.amrId} is negative`);
  for (const label of [chain.taskSeq, chain.name, chain.fromDetail]) {
    if (label.length > LONGEST_LABEL)
      throw invalid(`task_chain: a label is longer than ${LONGEST_LABEL} characters`);
  }
  if (chain.groupId < 0) throw invalid(`task_chain.group_id: ${chain.groupId} is negative`);
  const asked = chain.amrId === 0 ? undefined : ownership.robotByAmrId(caller, chain.amrId);
  const maps = [...new Set(wishes.filter(hasPoint).map(({ mapId }) => mapId))].map((id) =>
    ownership.map(caller, id),
  );
  if (maps.length > 1) throw invalid("tasks: all points of a chain are on one map");
  const map = maps[0];
  const candidates = candidatesFor(ownership.robotsOf(caller), chain, asked, map);
  return {
    distributor: caller.distributor,
    candidates,
    amrId: chain.groupId === 0 ? chain.amrId : 0,
    mapId: map?.id ?? 0,
    labels: {
      areaId: chain.areaId,
      groupId: chain.groupId,
      priority: chain.priority,
      isReturn: chain.isReturn,
      taskSeq: chain.taskSeq,
      name: chain.name,
      fromDetail: chain.fromDetail,
    },
    tasks: toTasks(wishes, map),
  };
}

function candidatesFor(
  owned: readonly Robot[],
  chain: TaskChain,
  asked: Robot | undefined,
  map: FleetMap | undefined,
): readonly Robot[] {
  const { groupId } = chain;
  const named = asked !== undefined && groupId === 0 ? [asked] : owned;
  const grouped = named.filter((robot) => groupId === 0 || robot.group === groupId);
  if (grouped.length === 0) throw invalid(`task_chain.group_id: no robot is in group ${groupId}`);
  const candidates = grouped.filter((robot) => map === undefined || robot.map === map);
  if (candidates.length === 0) throw invalid(`tasks: no robot that is meant drives on map ${map?.id ?? 0}`);
  const rank = (robot: Robot) => (robot === asked ? 0 : robot.amrId);
  return [...candidates].sort((a, b) => rank(a) - rank(b));
}

/** The new tasks of a chain, whose points must be on its map. Throws a Refusal. */
function toReassigned(
  ownership: Ownership,
  caller: Caller,
  mapId: number,
  wishes: readonly TaskWish[],
): readonly TaskOrder[] {
  for (const wish of wishes.filter(hasPoint)) {
    const map = ownership.map(caller, wish.mapId);
    if (mapId !== 0 && map.id !== mapId) throw invalid(`tasks: the chain is on map ${mapId}`);
  }
  const id = mapId === 0 ? wishes.find(hasPoint)?.mapId : mapId;
  return toTasks(wishes, id === undefined ? undefined : ownership.map(caller, id));
}

function toTasks(wishes: readonly TaskWish[], map: FleetMap | undefined): readonly TaskOrder[] {
  return wishes.map((wish) => {
    if (!hasPoint(wish)) return { ...wish, target: undefined };
    const vertex = map?.byCode(wish.endPointCode);
    if (vertex === undefined) {
      throw invalid(`point ${wish.endPointCode} is not on map ${wish.mapId}`);
    }
    return { ...wish, target: targetOf(vertex) };
  });
}

function hasPoint(wish: TaskWish): boolean {
  return wish.endPointCode !== "";
}
