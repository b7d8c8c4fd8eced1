import type { Outcome } from "../../../domain/outcome.ts";
import type { TicketState } from "../../../domain/ticket-state.ts";

/** The state of a slot that survives a restart. */
export interface SlotRecord {
  readonly tickets: TicketState;
  /** The outcome of `doneId`; null before the first. */
  readonly final: Outcome | null;
}

/** The store of tickets. A slot is named by its path, as `Robots.AMR01.MissionSlot`. */
export interface TicketStore {
  /** Null: the slot was never saved. Throws if its record cannot be read: then nobody knows what was sent. */
  load(slot: string): SlotRecord | null;
  /** Resolves when the record is durable; rejects if it may not be. */
  save(slot: string, record: SlotRecord): Promise<void>;
}
