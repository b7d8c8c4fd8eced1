import type { TicketState } from "../../../src/domain/ticket-state.ts";
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

/** The tickets of one slot as `ticket-book.ts` shows and keeps them, with a disk that the test moves. */
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
  const book: Book = {
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
  reserveAtStart(book);
  return book;
}

/** The gateway starts again with what is durable. */
export function restartBook(book: Book, run: string): void {
  const { kept, reducer, nowMs } = book;
  book.tickets =
    kept === null ? reducer.newTickets(run, 1, nowMs) : reducer.restartTickets(kept.tickets, run, nowMs);
  book.ending = kept?.ending ?? null;
  book.saves = [];
  book.isInTrouble = false;
  reserveAtStart(book);
}

function reserveAtStart(book: Book): void {
  book.claimedTo = book.tickets.reservedTo;
  if (book.reducer.blockToReserve(book.tickets) !== null) keep(book, 0);
}

/** Another number from 0 up to 1, the same in every replay. */
export function chance(book: Book): number {
  book.chances += 1;
  return (Math.imul(book.chances, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/** Shows a state, and keeps it where it matters. `waiter`: the number whose command waits for that. */
export function adopt(book: Book, next: TicketState, waiter = 0): void {
  const before = book.tickets;
  book.tickets = next;
  if (mustKeep(book, before, next)) keep(book, waiter);
}

function mustKeep(book: Book, before: TicketState, next: TicketState): boolean {
  if (before.current !== next.current || before.taken !== next.taken) return true;
  const block = book.reducer.blockToReserve(next);
  return block !== null && block > book.claimedTo;
}

function keep(book: Book, waiter: number): void {
  const { tickets, ending } = book;
  // A disk that hangs is asked for nothing more; a start is not taken then, so that nobody waits.
  if (book.isInTrouble && book.saves.length > 0) return;
  book.claimedTo = Math.max(book.claimedTo, book.reducer.blockToReserve(tickets) ?? 0);
  const record = { tickets: { ...tickets, reservedTo: book.claimedTo }, ending };
  book.saves = [...book.saves, { record, waiter, isLate: false }];
}

/** The oldest save is durable. Returns the number whose command may go on; 0: none waited, or too long. */
export function saveLands(book: Book): number {
  const [save, ...others] = book.saves;
  if (save === undefined) return 0;
  book.saves = others;
  book.kept = save.record;
  const { reducer } = book;
  const reserved = reducer.blockReserved(
    book.tickets,
    save.record.tickets.reservedTo,
    book.nowMs,
    chance(book),
  );
  if (reducer.isUsedUp(reserved)) failed(book);
  else {
    book.isInTrouble = false;
    book.tickets = reducer.diskIs("well", reserved, book.nowMs, chance(book));
  }
  if (book.saves.length === 0 && mustKeep(book, save.record.tickets, book.tickets)) keep(book, 0);
  return save.isLate ? 0 : save.waiter;
}

/** The oldest save fails; `isDurable`: it came to the disk all the same. Returns the number that waited. */
export function saveFails(book: Book, isDurable: boolean): number {
  const [save, ...others] = book.saves;
  if (save === undefined) return 0;
  book.saves = others;
  if (isDurable) book.kept = save.record;
  failed(book);
  return save.isLate ? 0 : save.waiter;
}

/** The oldest save that is not late has taken a second. Returns the number that waited. */
export function saveIsLate(book: Book): number {
  const late = book.saves.find((save) => !save.isLate);
  if (late === undefined) return 0;
  book.saves = book.saves.map((save) => (save === late ? { ...save, isLate: true } : save));
  failed(book);
  return late.waiter;
}

function failed(book: Book): void {
  book.isInTrouble = true;
  book.tickets = book.reducer.diskIs("failing", book.tickets, book.nowMs, chance(book));
}

/** Replaces an unused number that is old; tries again to keep what could not be kept. */
export function tick(book: Book, passedMs: number): void {
  const { reducer, tickets } = book;
  book.nowMs += passedMs;
  const next = reducer.rotateTicket(tickets, book.nowMs, chance(book));
  book.tickets = next;
  const isDue = book.isInTrouble || mustKeep(book, tickets, next);
  if (isDue && book.saves.length === 0 && !reducer.isUsedUp(next)) keep(book, 0);
}
