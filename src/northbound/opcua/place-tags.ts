import { type StatusCode, StatusCodes } from "node-opcua";
import { amrExceptionOf } from "../../domain/idle-reason.ts";
import { currentTask, type TaskChain, taskCount, waitsForConfirmation } from "../../domain/mission.ts";
import type { Observed } from "../../domain/observed.ts";
import { coordinateOf, type Presence } from "../../domain/robot.ts";
import {
  ageTags,
  chainTags,
  coordinateTags,
  exceptionTags,
  LISTED_EXCEPTIONS,
  listTags,
} from "./model/place.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, type Tag, type TagTimes, timesAt } from "./node-opcua/tag.ts";
import type { Ages } from "./robot-state-tags.ts";
import { isShown, statusOfQuality } from "./status.ts";

/** The folders `Position`, `TaskChain` and `AmrException` of a robot, from the online list. */
export interface PlaceTags {
  show(presence: Observed<Presence>, status: StatusCode, times: TagTimes): void;
  /** The data of the chain in the list; undefined: none. */
  showChain(chain: Observed<TaskChain> | undefined): void;
}

/** Adds the folders under a robot. */
export function addPlaceTags(builder: NodeBuilder, robot: Folder, ages: Ages): PlaceTags {
  const position = addPositionTags(builder, robot);
  const showAge = ages.ofValue(position.ageSeconds);
  const chain = addChainTags(builder, robot);
  const exception = addExceptionTags(builder, robot);
  showAge(false);

  return {
    show({ value, quality }, status, times) {
      showAge(quality === "good");
      if (isShown(quality)) {
        position.show(value, status, times);
        chain.show(value.taskChainId, value.position, status, times);
        exception.show(value, status, times);
      } else {
        for (const tags of [position, chain, exception]) tags.fail(status, times);
      }
    },
    showChain: chain.showChain,
  };
}

/** A robot's `AmrException` folder, as the field of the online list is called. */
interface ExceptionTags {
  show(presence: Presence, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
function addExceptionTags(builder: NodeBuilder, robot: Folder): ExceptionTags {
  const folder = builder.folder(robot, "AmrException");
  const tags = builder.tags(folder, exceptionTags);

  return {
    show(presence, status, times) {
      const found = amrExceptionOf(presence);
      tags.Exception.setList(filled(found.exception), status, times);
      tags.ExceptionCodes.setList(filled(found.exceptionCodes), status, times);
      tags.Level.set(found.level, status, times);
    },
    fail(status, times) {
      for (const tag of Object.values(tags)) tag.fail(status, times);
    },
  };
}

function filled(texts: readonly string[]): readonly string[] {
  return Array.from({ length: LISTED_EXCEPTIONS }, (_unused, index) => fittingText(texts[index] ?? ""));
}

/** A robot's `Position` folder: its place in the last GetOnlineRobots. */
interface PositionTags {
  readonly ageSeconds: Tag;
  show(presence: Presence, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
function addPositionTags(builder: NodeBuilder, robot: Folder): PositionTags {
  const folder = builder.folder(robot, "Position");
  const tags = builder.tags(folder, listTags);
  const { X: x, Y: y, Heading: heading } = builder.tags(folder, coordinateTags);
  const { AgeSeconds: ageSeconds } = builder.tags(folder, ageTags);
  const places = [
    [x, "x"],
    [y, "y"],
    [heading, "theta"],
  ] as const;

  return {
    ageSeconds,
    show(presence, status, times) {
      tags.AmrId.set(presence.amrId, status, times);
      tags.MapId.set(presence.mapId, status, times);
      tags.PointCode.set(presence.position, status, times);
      tags.StateId.set(presence.stateId, status, times);
      tags.TaskChainId.set(presence.taskChainId, status, times);
      for (const [tag, name] of places) {
        const value = coordinateOf(presence, name);
        if (value === null) tag.fail(StatusCodes.BadNoDataAvailable, times);
        else tag.set(value, status, times);
      }
    },
    fail(status, times) {
      for (const tag of [...Object.values(tags), x, y, heading]) tag.fail(status, times);
    },
  };
}

/** A robot's `TaskChain` folder: the chain that the online list names. */
interface ChainTags {
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
function addChainTags(builder: NodeBuilder, robot: Folder): ChainTags {
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
