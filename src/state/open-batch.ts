import type { Batch } from "../contracts/link.ts";
import type { StateChange } from "../domain/change.ts";
import type { FleetEvent } from "../domain/event.ts";

/** A batch while one event is being applied. */
export interface OpenBatch extends Batch {
  readonly changes: StateChange[];
  readonly events: FleetEvent[];
}

export function createOpenBatch(): OpenBatch {
  return { changes: [], events: [] };
}
