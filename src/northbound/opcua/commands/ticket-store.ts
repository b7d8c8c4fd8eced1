import type { Outcome } from "../../../domain/outcome.ts";
import type { TicketState } from "../../../domain/ticket-numbers.ts";
import type { Codec, TableChange, TableStore } from "../../../platform/stores/table-store.ts";

/** The state of a slot that survives a restart. */
export interface SlotRecord {
  readonly tickets: TicketState;
  /** The outcome of `doneId`; null before the first. */
  readonly final: Outcome | null;
}

/** The store of tickets. A slot is named by its path, as `Robots.AMR01.MissionSlot`. */
export interface TicketStore {
  /** A store that takes longer for a record has failed, in milliseconds. */
  readonly keepWithinMs: number;
  /** Null: the slot was never saved. Throws if its record cannot be read: then nobody knows what was sent. */
  load(slot: string): SlotRecord | null;
  /** Resolves when the record is durable; rejects if it may not be. */
  save(slot: string, record: SlotRecord): Promise<void>;
}

/** The table of tickets, by the path of the slot. */
export const TICKETS = "slots";

/** A disk (docs/opcua-reference.md, A full disk while a slot is used). */
const DISK_MS = 1_000;
/** The store of a cluster: its machines may elect another leader meanwhile. */
const CLUSTER_MS = 10_000;

/** Keeps the tickets of slots in their table. */
export function createDurableTicketStore(store: TableStore): TicketStore {
  const table = store.table(TICKETS, slotCodec, "confirm");
  return {
    keepWithinMs: DISK_MS,
    load: (slot) => table.get(slot) ?? null,
    save: (slot, record) => store.write([table.put(slot, record)]),
  };
}

/** The tickets of a member of a cluster, which the members share. Only a leader has them. */
export interface MemberTickets extends TicketStore {
  /** This member leads from now on, and these are its tables. Call it before the view is active. */
  lead(tables: TableStore): void;
}

export function createMemberTickets(): MemberTickets {
  let now: TicketStore | null = null;
  function opened(): TicketStore {
    if (now === null) throw new Error("a slot asks for its sequence numbers before this member leads");
    return now;
  }
  return {
    lead(tables) {
      now = createDurableTicketStore(tables);
    },
    keepWithinMs: CLUSTER_MS,
    load: (slot) => opened().load(slot),
    save: (slot, record) => opened().save(slot, record),
  };
}

const slotCodec: Codec<SlotRecord> = {
  // Without the answer of the service, which may be long and is not shown in a slot.
  encode: ({ tickets, final }) => ({
    tickets,
    final: final === null ? null : { ...final, responseJson: null },
  }),
  decode: (json) => (isSlotRecord(json) ? json : null),
};

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

/** Whether this program knows what a record of the tickets means; true for other tables. */
export function canReadTickets({ table, value }: TableChange): boolean {
  return table !== TICKETS || isSlotRecord(value);
}
