import { type StatusCode, StatusCodes } from "node-opcua";
import { currentTask, type TaskChain, taskCount, waitsForConfirmation } from "../../domain/mission.ts";
import type { Observed } from "../../domain/observed.ts";
import { chainTags } from "./model/place.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { type TagTimes, timesAt } from "./node-opcua/tag.ts";
import { isShown, statusOfQuality } from "./status.ts";

/** A robot's `TaskChain` folder: the chain that the online list names. */
export interface ChainTags {
  /** The robot is at this chain (0: none); `position` is the code of the point where it is. */
  show(chainId: number, position: string, status: StatusCode, times: TagTimes): void;
  /** The data of QueryTaskChain; undefined: none yet. */
  showChain(chain: Observed<TaskChain> | undefined): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** The robot's place in the last online list. */
interface Place {
  readonly chainId: number;
  readonly position: string;
  readonly status: StatusCode;
  readonly times: TagTimes;
}

/** Adds the folder under a robot. */
export function addChainTags(builder: NodeBuilder, robot: Folder): ChainTags {
  const folder = builder.folder(robot, "TaskChain");
  const { Id: id, ...tags } = builder.tags(folder, chainTags);
  const ofChain = Object.values(tags);
  let chain: Observed<TaskChain> | undefined;
  let seen: Place | null = null;

  function refresh(): void {
    if (seen === null) return;
    const { chainId, position, status, times } = seen;
    id.set(chainId, status, times);
    if (chainId === 0) showTask("", 0, null, position, status, times);
    else if (chain !== undefined && isShown(chain.quality)) showKnown(chain, seen);
    else {
      const why = chain === undefined ? StatusCodes.BadWaitingForInitialData : statusOfQuality[chain.quality];
      for (const tag of ofChain) tag.fail(why, times);
    }
  }

  function showKnown({ value, stamp, quality }: Observed<TaskChain>, { status, position }: Place): void {
    const ownStatus = status === StatusCodes.Good ? statusOfQuality[quality] : status;
    const times = timesAt(stamp.receivedAtMs);
    showTask(value.status, taskCount(value), currentTask(value), position, ownStatus, times);
  }

  function showTask(
    word: string,
    tasks: number,
    task: ReturnType<typeof currentTask>,
    position: string,
    status: StatusCode,
    times: TagTimes,
  ): void {
    tags.Status.set(word, status, times);
    tags.TaskCount.set(tasks, status, times);
    tags.CurrentTaskIndex.set(task?.index ?? -1, status, times);
    tags.CurrentTaskType.set(task?.type ?? "", status, times);
    tags.CurrentTaskPoint.set(task?.point ?? "", status, times);
    tags.WaitsForConfirmation.set(waitsForConfirmation(task, position), status, times);
  }

  return {
    show(chainId, position, status, times) {
      seen = { chainId, position, status, times };
      refresh();
    },
    showChain(next) {
      chain = next;
      refresh();
    },
    fail(status, times) {
      seen = null;
      for (const tag of [id, ...ofChain]) tag.fail(status, times);
    },
  };
}
