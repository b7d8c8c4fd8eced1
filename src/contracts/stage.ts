import type { FleetUpdate } from "../domain/update.ts";
import type { CurrentState } from "./fleet-view.ts";
import type { Batch } from "./link.ts";

/** The stages between the fleet state and the northbounds, in the order of the way. */
export type StageName = "holds" | "stations" | "attribution" | "alarms" | "delivery";

/** A part of a message's way from the fleet state to the northbounds. It does not know the next stage. */
export interface Stage {
  readonly name: StageName;
  /**
   * Adds to a batch what the stage makes of it, and returns what goes on now. What has to wait goes on by
   * `later`, which is the same function at each call. Synchronous; never throws.
   */
  apply(batch: Batch, later: (batch: Batch) => void): Batch;
  /** The same for values that are read: `before` is the view of the stages before. Absent: it adds none. */
  view?(before: CurrentState): CurrentState;
}

/** Takes the updates of the southbound. Synchronous; never throws. */
export type UpdateSink = (update: FleetUpdate) => void;
