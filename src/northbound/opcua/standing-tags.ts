import { StatusCodes } from "node-opcua";
import { type Standing, standReasons } from "../../domain/standing.ts";
import { standingTags } from "./model/robot.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, type TagTimes } from "./node-opcua/tag.ts";

/**
 * Why a robot stands, and whether it takes commands: findings of the gateway's own, always of status Good.
 */
export interface StandingTags {
  show(standing: Standing, times: TagTimes): void;
}

/** Adds them to a robot's folder. */
export function addStandingTags(builder: NodeBuilder, robot: Folder): StandingTags {
  const tags = builder.tags(robot, standingTags);
  const good = StatusCodes.Good;

  return {
    show({ reason, text, isNotReady }, times) {
      tags.ReadyForCommand.set(!isNotReady, good, times);
      tags.NotReadyReason.set(isNotReady ? fittingText(text) : "", good, times);
      tags.StandReason.set(standReasons.indexOf(reason), good, times);
      tags.StandText.set(fittingText(text), good, times);
    },
  };
}
