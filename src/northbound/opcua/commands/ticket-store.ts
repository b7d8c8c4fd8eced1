import type { Outcome } from "../../../domain/outcome.ts";
import type { TicketState } from "../../../domain/ticket-state.ts";
import { type Store, StoreFailed } from "../../../platform/store.ts";

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

/** Keeps the tickets of slots in a store, each under `t/<path of the slot>`. */
export function createDurableTicketStore(store: Store): TicketStore {
  return {
    load(slot) {
      const value = store.get(key(slot));
      if (value === undefined) return null;
      if (!isSlotRecord(value)) throw new StoreFailed(`what is kept of ${slot} is no ticket record`);
      return value;
    },
    // Without the answer of the service, which may be long and is not shown in a slot.
    save(slot, { tickets, final }) {
      const shown = final === null ? null : { ...final, responseJson: null };
      return store.write([{ key: key(slot), value: { tickets, final: shown } }]);
    },
  };
}

function key(slot: string): string {
  return `t/${slot}`;
}

/**
 * Only this file writes these records, so checking the deciding fields is enough to find a broken or foreign
 * one.
 */
function isSlotRecord(value: unknown): value is SlotRecord {
  if (!isObject(value) || !isObject(value.tickets)) return false;
  const { firstId, reservedTo, issuedTo, takenBefore, doneId } = value.tickets;
  const { taken, closed, current, accepted, rejected } = value.tickets;
  return (
    [firstId, reservedTo, issuedTo, takenBefore, doneId].every(Number.isInteger) &&
    [taken, closed].every((list) => Array.isArray(list) && list.every(Number.isInteger)) &&
    (current === null || (isObject(current) && typeof current.requestId === "string")) &&
    (accepted === null || (isObject(accepted) && Number.isInteger(accepted.id))) &&
    isObject(rejected) &&
    (value.final === null || (isObject(value.final) && typeof value.final.outcome === "string"))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
