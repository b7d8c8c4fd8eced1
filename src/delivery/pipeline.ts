import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { Stage, StageName } from "../contracts/stage.ts";

/** The way of a message from the fleet state to the northbounds, and the view at its end. */
export interface Pipeline extends CurrentState {
  /** A batch of the fleet state passes every stage. Synchronous; never throws. */
  enter(batch: Batch): void;
  /** A batch that arises at this stage passes those behind it. Synchronous; never throws. */
  enterAfter(stage: StageName, batch: Batch): void;
}

/** @param stages in the order in which a batch passes them */
export function createPipeline(state: CurrentState, stages: readonly Stage[]): Pipeline {
  const entries = new Map<StageName, (batch: Batch) => void>();
  let enter = (_batch: Batch): void => {};
  // From the last stage to the first: `later` is everything behind this stage. Of a and b, `enter` applies a
  // and then b, and `enterAfter("a", …)` applies b.
  for (const { name, apply } of stages.toReversed()) {
    const later = enter;
    entries.set(name, later);
    enter = (batch) => later(apply(batch, later));
  }
  const { snapshot, current } = stages.reduce((before, stage) => stage.view?.(before) ?? before, state);
  return {
    snapshot,
    current,
    enter,
    enterAfter(name, batch) {
      const entry = entries.get(name);
      if (entry === undefined) throw new Error(`the pipeline has no stage ${name}`);
      entry(batch);
    },
  };
}
