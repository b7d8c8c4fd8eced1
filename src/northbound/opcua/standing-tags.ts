import { StatusCodes } from "node-opcua";
import { type Standing, standReasons } from "../../domain/standing.ts";
import { standingTags } from "./model/robot.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, timesAt } from "./node-opcua/tag.ts";

/**
 * Why a robot stands, and whether it takes commands: findings of the gateway itself, always with status Good.
 */
export interface StandingTags {
  show(standing: Standing): void;
}

/** Adds them to a robot's folder. */
export function addStandingTags(builder: NodeBuilder, robot: Folder, nowMs: () => number): StandingTags {
  const tags = builder.tags(robot, standingTags);
  const good = StatusCodes.Good;
  let shown: Standing | null = null;

  return {
    show(standing) {
      if (shown !== null && isSame(shown, standing)) return;
      shown = standing;
      const { reason, text, isNotReady } = standing;
      const times = timesAt(nowMs());
      tags.ReadyForCommand.set(!isNotReady, good, times);
      tags.NotReadyReason.set(isNotReady ? fittingText(text) : "", good, times);
      tags.StandReason.set(standReasons.indexOf(reason), good, times);
      tags.StandText.set(fittingText(text), good, times);
    },
  };
}

function isSame(a: Standing, b: Standing): boolean {
  return a.reason === b.reason && a.text === b.text && a.isNotReady === b.isNotReady;
}
