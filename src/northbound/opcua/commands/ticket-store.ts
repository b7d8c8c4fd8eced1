import type { TicketState } from "../../../domain/ticket.ts";

/** What a slot must know again after a restart. */
interface SlotRecord {
  readonly tickets: TicketState;
  /** The user whose ticket was last taken: with the request id, the command's identity. */
  readonly user: string | null;
}

/** Where slots keep their tickets. A slot is named by its path, as `Robots.AMR01.MissionSlot`. */
export interface TicketStore {
  /** Null when the slot was never saved. */
  load(slot: string): SlotRecord | null;
  /** Resolves when the record is durable. */
  save(slot: string, record: SlotRecord): Promise<void>;
}

/** Tickets that a restart forgets; each start must then give slots an epoch of its own. */
export function createMemoryTicketStore(): TicketStore {
  const records = new Map<string, SlotRecord>();
  return {
    load: (slot) => records.get(slot) ?? null,
    async save(slot, record) {
      records.set(slot, record);
    },
  };
}
