import type { Outcome } from "../../../domain/outcome.ts";
import type { TicketState } from "../../../domain/ticket-state.ts";

/** What a slot must know again after a restart. */
export interface SlotRecord {
  readonly tickets: TicketState;
  /** What was final with `doneId`; null before any ticket is done. */
  readonly final: Outcome | null;
}

/** Where slots keep their tickets. A slot is named by its path, as `Robots.AMR01.MissionSlot`. */
export interface TicketStore {
  /**
   * Null when the slot was never saved. Throws when what was saved cannot be read: then nobody knows what was
   * sent.
   */
  load(slot: string): SlotRecord | null;
  /** Resolves when the record is durable; rejects when it may not be. */
  save(slot: string, record: SlotRecord): Promise<void>;
}
