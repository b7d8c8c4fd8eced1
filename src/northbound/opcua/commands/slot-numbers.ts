import type { Outcome } from "../../../domain/outcome.ts";
import {
  newTickets,
  restartTickets,
  stopOnlyTickets,
  type TicketAction,
  type TicketWrite,
  writeStopOnly,
  writeTicket,
} from "../../../domain/ticket.ts";
import {
  blockReserved,
  blockToReserve,
  diskIs,
  firstNumber,
  isUsedUp,
  rotateTicket,
  type TicketState,
} from "../../../domain/ticket-numbers.ts";
import { type Clock, noLaterThan } from "../../../platform/clock.ts";
import type { SlotRecord, TicketStore } from "./ticket-store.ts";

/** The tickets of one slot, shown and stored. */
export interface SlotNumbers {
  tickets(): TicketState;
  /** The record before this start; null: the slot is new, or its record cannot be read. */
  readonly record: SlotRecord | null;
  /** Why the slot takes only stops: its tickets cannot be stored. Null: they can. */
  trouble(): string | null;
  /**
   * Shows a state, and stores it if that matters. Resolves with whether it is stored, once it is or the disk
   * has failed; never rejects. `final` is the outcome of `doneId` from now on.
   */
  adopt(next: TicketState, final?: Outcome): Promise<boolean>;
  /** Decides what a written number means, and adopts it. `kept`: as of `adopt`. */
  write(write: TicketWrite): { readonly action: TicketAction; readonly kept: Promise<boolean> };
  /** Replaces an unused ticket that is old; tries again to store what could not be stored. */
  tick(): void;
}

/** Opens the registry of the slot at `path`; `show` is called with every later state. */
export type OpenSlotNumbers = (path: string, show: (tickets: TicketState) => void) => SlotNumbers;

interface SlotNumberParts extends IssueParts {
  readonly tickets: TicketStore;
  /** The place of this gateway among the members of its cluster; null: there is none. */
  readonly member: number | null;
}

interface IssueParts {
  /** Unique for each run. */
  readonly run: string;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly random: () => number;
}

export function openSlotNumbers(
  path: string,
  show: (tickets: TicketState) => void,
  { tickets: store, run, member, clock, random }: SlotNumberParts,
): SlotNumbers {
  const loaded = load(store, path);
  let tickets = firstState();
  let final: Outcome | null = loaded.record?.final ?? null;
  let trouble = loaded.unreadable;
  /** The last number of the highest reserved block: a later record must not give it back. */
  let claimedTo = tickets.reservedTo;
  let saving = 0;

  function firstState(): TicketState {
    const nowMs = clock.monotonicMs();
    const ofMember = member === null ? {} : { member };
    if (loaded.record !== null) return { ...restartTickets(loaded.record.tickets, run, nowMs), ...ofMember };
    const fresh = { ...newTickets(run, firstNumber(random()), nowMs), ...ofMember };
    return loaded.unreadable === null ? fresh : diskIs("failing", fresh, nowMs, random());
  }

  function become(next: TicketState): void {
    tickets = next;
    show(next);
  }

  function failed(reason: string): void {
    trouble = `the slot's sequence numbers cannot be kept: ${reason}`;
    become(diskIs("failing", tickets, clock.monotonicMs(), random()));
  }

  function succeeded(reservedTo: number): void {
    const nowMs = clock.monotonicMs();
    const reserved = blockReserved(tickets, reservedTo, nowMs, random());
    if (isUsedUp(reserved)) {
      failed("its numbers are used up");
    } else {
      trouble = null;
      become(diskIs("well", reserved, nowMs, random()));
    }
  }

  function keep(): Promise<boolean> {
    // A record that cannot be read is not overwritten: it may be all that is left for a repair.
    if (loaded.unreadable !== null) return Promise.resolve(false);
    // A disk that hangs must not gather the records of every stop.
    if (trouble !== null && saving > 0) return Promise.resolve(false);
    const asked = tickets;
    claimedTo = Math.max(claimedTo, blockToReserve(tickets) ?? 0);
    const reservedTo = claimedTo;
    saving += 1;
    const saved = store.save(path, { tickets: { ...tickets, reservedTo }, final }).then(
      () => {
        saving -= 1;
        succeeded(reservedTo);
        if (saving === 0 && mustKeep(asked, tickets)) void keep();
        return true;
      },
      (error: unknown) => {
        saving -= 1;
        failed(reasonOf(error));
        return false;
      },
    );
    return noLaterThan(clock, store.keepWithinMs, saved, "late" as const).then((kept) => {
      if (kept !== "late") return kept;
      failed(`they were not stored within ${store.keepWithinMs} ms`);
      return false;
    });
  }

  function mustKeep(before: TicketState, next: TicketState): boolean {
    if (before.current !== next.current || before.taken !== next.taken) return true;
    const block = blockToReserve(next);
    return block !== null && block > claimedTo;
  }

  function adopt(next: TicketState, ended?: Outcome): Promise<boolean> {
    const before = tickets;
    final = ended ?? final;
    become(next);
    return mustKeep(before, next) ? keep() : Promise.resolve(true);
  }

  if (blockToReserve(tickets) !== null) void keep();
  return {
    tickets: () => tickets,
    record: loaded.record,
    trouble: () => trouble,
    adopt,
    write(write) {
      const { state, action } = writeTicket(tickets, write, clock.monotonicMs(), random());
      return { action, kept: state === tickets ? Promise.resolve(true) : adopt(state) };
    },
    tick() {
      const before = tickets;
      const next = rotateTicket(before, clock.monotonicMs(), random());
      if (next !== before) become(next);
      const isDue = trouble !== null || mustKeep(before, next);
      if (isDue && saving === 0 && !isUsedUp(next)) void keep();
    },
  };
}

/** Opens the numbers of a slot while this gateway does not lead its cluster; `closed` stays as it is. */
export type OpenStopOnlyNumbers = (
  show: (tickets: TicketState) => void,
  closed: readonly number[],
) => SlotNumbers;

/** They start stops only, and nothing of them is stored. */
export function openStopOnlyNumbers(
  show: (tickets: TicketState) => void,
  closed: readonly number[],
  { run, member, clock, random }: IssueParts & { readonly member: number },
): SlotNumbers {
  const nowMs = () => clock.monotonicMs();
  const kept = Promise.resolve(true);
  let tickets: TicketState = { ...stopOnlyTickets(run, member, nowMs(), random()), closed };
  function become(next: TicketState): void {
    if (next === tickets) return;
    tickets = next;
    show(next);
  }
  return {
    tickets: () => tickets,
    record: null,
    trouble: () => null,
    adopt(next) {
      become(next);
      return kept;
    },
    write(write) {
      const { state, action } = writeStopOnly(tickets, write, nowMs(), random());
      become(state);
      return { action, kept };
    },
    tick: () => become(rotateTicket(tickets, nowMs(), random())),
  };
}

function load(
  store: TicketStore,
  path: string,
): { readonly record: SlotRecord | null; readonly unreadable: string | null } {
  try {
    return { record: store.load(path), unreadable: null };
  } catch (error) {
    return { record: null, unreadable: `the slot's sequence numbers cannot be read: ${reasonOf(error)}` };
  }
}

/** With its causes: the innermost has the free and the needed space of a full disk. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
