import type { JsonObject } from "@bufbuild/protobuf";
import type { TestRobot } from "./contract-harness.ts";
import { tasks } from "./requests.ts";
import type { Service } from "./service.ts";

interface ChainView {
  readonly amrId: number;
  readonly status: string;
  readonly finishTime: string;
  readonly tasks: ReadonlyArray<{
    readonly point: string;
    readonly status: string;
    readonly finishTime: string;
  }>;
}

/** A chain as QueryTaskChain tells it, its words without what all of them begin with. */
export async function queried({ done }: Service, chainId: number): Promise<ChainView> {
  const { taskChains } = (await done("QueryTaskChain", { task_chain_ids: [chainId] })) as {
    taskChains: Array<{
      taskChainState: { amrId: number; status: string; finishTime: string };
      taskStates: Array<{ endPointCode: string; status: string; finishTime: string }>;
    }>;
  };
  const [info] = taskChains;
  if (info === undefined) throw new Error(`chain ${chainId} is not there`);
  const { amrId, status, finishTime } = info.taskChainState;
  return {
    amrId,
    status: status.replace("TASK_CHAIN_STATUS_", ""),
    finishTime,
    tasks: info.taskStates.map((task) => ({
      point: task.endPointCode,
      status: task.status.replace("TASK_STATUS_", ""),
      finishTime: task.finishTime,
    })),
  };
}

export const taskStatuses = async (service: Service, chainId: number) =>
  (await queried(service, chainId)).tasks.map(({ status }) => status);

export type Steps = ReadonlyArray<readonly [string, string]>;

/** Gives a robot a chain. @returns its id. */
export async function added(
  service: Service,
  robot: TestRobot,
  steps: Steps,
  chain: JsonObject = {},
): Promise<number> {
  const { taskChainId } = await service.done("AddTaskChain", {
    taskChain: { amrId: robot.amrId, ...chain },
    tasks: tasks(robot.mapId, ...steps),
  });
  return Number(taskChainId);
}
