import type { Batch } from "../contracts/link.ts";
import type { FleetNotice, StateChange } from "../domain/change.ts";

/** A batch while one event is being applied. */
export interface Draft extends Batch {
  readonly changes: StateChange[];
  readonly notices: FleetNotice[];
}

export function createDraft(): Draft {
  return { changes: [], notices: [] };
}
