import type { TicketState } from "../../../src/domain/ticket-numbers.ts";
import type { Ending } from "./facts.ts";
import type { TicketReducer } from "./reducer.ts";

/** What the store keeps of a slot. */
export interface SlotRecord {
  readonly tickets: TicketState;
  readonly ending: Ending | null;
}

/** A save on its way to the disk. */
interface Save {
  readonly record: SlotRecord;
  /** The number whose command waits for it; 0: none. */
  readonly waiter: number;
  /** It took longer than a second, and was reported as failed. It may still come to the disk. */
  readonly isLate: boolean;
}

/** The tickets of one slot as `slot-numbers.ts` shows and keeps them, with a disk that the test moves. */
export interface Book {
  readonly reducer: TicketReducer;
  tickets: TicketState;
  ending: Ending | null;
  saves: readonly Save[];
  claimedTo: number;
  isInTrouble: boolean;
  nowMs: number;
  chances: number;
  /** What is durable. */
  kept: SlotRecord | null;
}

/** A slot that no store knows. */
export function newBook(reducer: TicketReducer): Book {
  const registry: Book = {
    reducer,
    tickets: reducer.newTickets("r0", 1, 0),
    ending: null,
    saves: [],
    claimedTo: 0,
    isInTrouble: false,
    nowMs: 0,
    chances: 0,
    kept: null,
  };
  reserveAtStart(registry);
  return registry;
}

/** The gateway starts again with what is durable. */
export function restartBook(registry: Book, run: string): void {
  const { kept, reducer, nowMs } = registry;
  registry.tickets =
    kept === null ? reducer.newTickets(run, 1, nowMs) : reducer.restartTickets(kept.tickets, run, nowMs);
  registry.ending = kept?.ending ?? null;
  registry.saves = [];
  registry.isInTrouble = false;
  reserveAtStart(registry);
}

function reserveAtStart(registry: Book): void {
  registry.claimedTo = registry.tickets.reservedTo;
  if (registry.reducer.blockToReserve(registry.tickets) !== null) keep(registry, 0);
}

/** Another number from 0 up to 1, the same in every replay. */
export function random(registry: Book): number {
  registry.chances += 1;
  return (Math.imul(registry.chances, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/** Shows a state, and keeps it where it matters. `waiter`: the number whose command waits for that. */
export function adopt(registry: Book, next: TicketState, waiter = 0): void {
  const before = registry.tickets;
  registry.tickets = next;
  if (mustKeep(registry, before, next)) keep(registry, waiter);
}

function mustKeep(registry: Book, before: TicketState, next: TicketState): boolean {
  if (before.current !== next.current || before.taken !== next.taken) return true;
  const block = registry.reducer.blockToReserve(next);
  return block !== null && block > registry.claimedTo;
}

function keep(registry: Book, waiter: number): void {
  const { tickets, ending } = registry;
  // A disk that hangs is asked for nothing more; a start is not taken then, so that nobody waits.
  if (registry.isInTrouble && registry.saves.length > 0) return;
  registry.claimedTo = Math.max(registry.claimedTo, registry.reducer.blockToReserve(tickets) ?? 0);
  const record = { tickets: { ...tickets, reservedTo: registry.claimedTo }, ending };
  registry.saves = [...registry.saves, { record, waiter, isLate: false }];
}

/** The oldest save is durable. Returns the number whose command may go on; 0: none waited, or too long. */
export function saveLands(registry: Book): number {
  const [save, ...others] = registry.saves;
  if (save === undefined) return 0;
  registry.saves = others;
  registry.kept = save.record;
  const { reducer } = registry;
  const reserved = reducer.blockReserved(
    registry.tickets,
    save.record.tickets.reservedTo,
    registry.nowMs,
    random(registry),
  );
  if (reducer.isUsedUp(reserved)) failed(registry);
  else {
    registry.isInTrouble = false;
    registry.tickets = reducer.diskIs("well", reserved, registry.nowMs, random(registry));
  }
  if (registry.saves.length === 0 && mustKeep(registry, save.record.tickets, registry.tickets))
    keep(registry, 0);
  return save.isLate ? 0 : save.waiter;
}

/** The oldest save fails; `isDurable`: it came to the disk all the same. Returns the number that waited. */
export function saveFails(registry: Book, isDurable: boolean): number {
  const [save, ...others] = registry.saves;
  if (save === undefined) return 0;
  registry.saves = others;
  if (isDurable) registry.kept = save.record;
  failed(registry);
  return save.isLate ? 0 : save.waiter;
}

/** The oldest save that is not late has taken a second. Returns the number that waited. */
export function saveIsLate(registry: Book): number {
  const late = registry.saves.find((save) => !save.isLate);
  if (late === undefined) return 0;
  registry.saves = registry.saves.map((save) => (save === late ? { ...save, isLate: true } : save));
  failed(registry);
  return late.waiter;
}

function failed(registry: Book): void {
  registry.isInTrouble = true;
  registry.tickets = registry.reducer.diskIs("failing", registry.tickets, registry.nowMs, random(registry));
}

/** Replaces an unused number that is old; tries again to keep what could not be kept. */
export function tick(registry: Book, passedMs: number): void {
  const { reducer, tickets } = registry;
  registry.nowMs += passedMs;
  const next = reducer.rotateTicket(tickets, registry.nowMs, random(registry));
  registry.tickets = next;
  const isDue = registry.isInTrouble || mustKeep(registry, tickets, next);
  if (isDue && registry.saves.length === 0 && !reducer.isUsedUp(next)) keep(registry, 0);
}
