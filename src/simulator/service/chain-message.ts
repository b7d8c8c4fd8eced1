import type { MessageInitShape } from "@bufbuild/protobuf";
import type { QueryTaskChainInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import type { Chain, ChainStatus, TaskStatus } from "../world/chain.ts";
import { taskTypeOf } from "./chain-request.ts";

/**
 * `comeFrom` of a chain that came over this interface. A number of our own: its meaning is not documented.
 */
const COME_FROM_INTERFACE = 1;

/** A chain as QueryTaskChain answers it; `wallMs` turns world time into wall time. */
export function toQueryInfo(
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
