import { StatusCodes } from "node-opcua";
import { type Standing, standReasons } from "../../domain/standing.ts";
import { createEnumTable } from "./enumeration.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, type TagTimes } from "./node-opcua/tag.ts";

const reasonTable = createEnumTable("StandReason", standReasons);

/**
 * Why a robot stands, and whether it takes commands: findings of the gateway's own, always of status Good.
 */
export interface StandingTags {
  show(standing: Standing, times: TagTimes): void;
}

/** Adds them to a robot's folder. */
export function addStandingTags(builder: NodeBuilder, robot: Folder): StandingTags {
  const ready = builder.tag(robot, "ReadyForCommand", "Boolean");
  const notReadyReason = builder.tag(robot, "NotReadyReason", "String");
  const reasonTag = builder.enumeration(robot, "StandReason", reasonTable);
  const textTag = builder.tag(robot, "StandText", "String");
  const good = StatusCodes.Good;

  return {
    show({ reason, text, isNotReady }, times) {
      ready.set(!isNotReady, good, times);
      notReadyReason.set(isNotReady ? fittingText(text) : "", good, times);
      reasonTag.set(standReasons.indexOf(reason), good, times);
      textTag.set(fittingText(text), good, times);
    },
  };
}
