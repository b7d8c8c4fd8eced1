import type { Task, TaskChain } from "../../wire/fleet/http/v1/task_pb.js";
import { Refusal } from "../refusal.ts";
import { type ChainOrder, MOST_TASKS, type TaskKind, type TaskOrder } from "../world/chain.ts";
import { type FleetMap, targetOf } from "../world/map.ts";
import type { Robot } from "../world/robot.ts";
import type { Caller } from "./contract.ts";
import { invalid } from "./mission-request.ts";
import type { Ownership } from "./ownership.ts";

/** The service repeats a chain's labels in each answer; they are not for whole documents. */
const LONGEST_LABEL = 1_024;

const taskKinds: ReadonlyMap<string, TaskKind> = new Map([
  ["TASK_TYPE_LOAD", "load"],
  ["TASK_TYPE_UNLOAD", "unload"],
  ["TASK_TYPE_SYSTEM_CONFIRM", "confirm"],
]);

/** The task_type of a kind of task. */
export function taskTypeOf(kind: TaskKind): string {
  return `TASK_TYPE_${kind === "confirm" ? "SYSTEM_CONFIRM" : kind.toUpperCase()}`;
}

/** A well-formed task whose point is not looked up yet. */
interface TaskWish {
  readonly kind: TaskKind;
  readonly mapId: number;
  readonly endPointCode: string;
}

/** Reads tasks. Throws INVALID_ARGUMENT for what is not well-formed. */
export function readTasks(field: string, tasks: readonly Task[]): readonly TaskWish[] {
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
export function toChainOrder(
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
export function toReassigned(
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
      throw new Refusal("INVALID_ARGUMENT", `point ${wish.endPointCode} is not on map ${wish.mapId}`);
    }
    return { ...wish, target: targetOf(vertex) };
  });
}

function hasPoint(wish: TaskWish): boolean {
  return wish.endPointCode !== "";
}
