import { type Store, StoreFailed } from "../../../platform/store.ts";
import type { SlotRecord, TicketStore } from "./ticket-store.ts";

/** Keeps the tickets of slots in a store, each under `t/<path of the slot>`. */
export function createDurableTicketStore(store: Store): TicketStore {
  return {
    load(slot) {
      const value = store.get(key(slot));
      if (value === undefined) return null;
      if (!isSlotRecord(value)) throw new StoreFailed(`what is kept of ${slot} is no ticket record`);
      // Records of before slots remembered earlier tickets: an update must not close them.
      return { ...value, tickets: { ...value.tickets, earlier: value.tickets.earlier ?? [] } };
    },
    // The answer of the service may be long, and no slot shows it.
    save(slot, { tickets, user, final }) {
      const shown = final === null ? null : { ...final, responseJson: null };
      return store.write([{ key: key(slot), value: { tickets, user, final: shown } }]);
    },
  };
}

function key(slot: string): string {
  return `t/${slot}`;
}

/** Only this file writes these records, so a look at what decides is enough to catch a broken or foreign one. */
function isSlotRecord(value: unknown): value is SlotRecord {
  if (!isObject(value) || !isObject(value.tickets)) return false;
  const { epoch, round, nextId, priorId, acceptedId, doneId, rejectedId, taken, earlier } = value.tickets;
  const numbers = [round, nextId, priorId, acceptedId, doneId, rejectedId];
  return (
    typeof epoch === "string" &&
    numbers.every(Number.isInteger) &&
    (taken === null || (isObject(taken) && typeof taken.requestId === "string")) &&
    (earlier === undefined || Array.isArray(earlier)) &&
    (value.user === null || typeof value.user === "string") &&
    (value.final === null || (isObject(value.final) && typeof value.final.outcome === "string"))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
