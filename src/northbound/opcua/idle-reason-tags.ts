import { StatusCodes } from "node-opcua";
import { type IdleReason, idleReasonNames } from "../../domain/idle-reason.ts";
import { idleReasonTags } from "./model/robot.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, timesAt } from "./node-opcua/tag.ts";

/**
 * Why a robot stands, and whether it takes commands: findings of the gateway itself, always with status Good.
 */
export interface IdleReasonTags {
  show(idleReason: IdleReason): void;
}

/** Adds them to a robot's folder. */
export function addIdleReasonTags(builder: NodeBuilder, robot: Folder, nowMs: () => number): IdleReasonTags {
  const tags = builder.tags(robot, idleReasonTags);
  const good = StatusCodes.Good;
  let shown: IdleReason | null = null;

  return {
    show(idleReason) {
      if (shown !== null && isSame(shown, idleReason)) return;
      shown = idleReason;
      const { reason, text, isNotReady } = idleReason;
      const times = timesAt(nowMs());
      tags.ReadyForCommand.set(!isNotReady, good, times);
      tags.NotReadyReason.set(isNotReady ? fittingText(text) : "", good, times);
      tags.StandReason.set(idleReasonNames.indexOf(reason), good, times);
      tags.StandText.set(fittingText(text), good, times);
    },
  };
}

function isSame(a: IdleReason, b: IdleReason): boolean {
  return a.reason === b.reason && a.text === b.text && a.isNotReady === b.isNotReady;
}
