import type { StatusCode } from "node-opcua";
import type { Observed } from "../../domain/observed.ts";
import type { Presence } from "../../domain/presence.ts";
import type { TaskChain } from "../../domain/task-chain.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Age, startAge } from "./age-tag.ts";
import { addChainTags } from "./chain-tags.ts";
import { addExceptionTags } from "./exception-tags.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";
import { addPositionTags } from "./position-tags.ts";
import { isShown } from "./status.ts";

/** The folders `Position`, `TaskChain` and `AmrException` of a robot, from the online list. */
export interface PlaceTags {
  show(presence: Observed<Presence>, status: StatusCode, times: TagTimes): void;
  /** The data of the chain in the list; undefined: none. */
  showChain(chain: Observed<TaskChain> | undefined): void;
}

/** Adds the folders under a robot. */
export function addPlaceTags(
  builder: NodeBuilder,
  robot: Folder,
  clock: Pick<Clock, "nowMs" | "monotonicMs">,
  ageing: Set<Age>,
): PlaceTags {
  const position = addPositionTags(builder, robot);
  const showAge = startAge(position.ageSeconds, clock, ageing);
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
