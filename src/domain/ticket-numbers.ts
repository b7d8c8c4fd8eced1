import type { TicketState } from "./ticket-state.ts";

/** An unused ticket is replaced after this time, in milliseconds. */
export const TICKET_LIFE_MS = 30_000;
/** Numbers are reserved on disk in blocks of this size, before one of them is shown. */
export const BLOCK_SIZE = 256;
/** A block is reserved when fewer than this many numbers of the last one are left. */
const RESERVE_BELOW = 64;
/** From here on numbers are random, and start stops only: no disk vouches for them. */
export const FIRST_WITHOUT_DISK = 2 ** 30;
/** A slot that no store knows begins at random below this number. */
const FIRST_BELOW = 2 ** 29;
/** How many taken numbers are remembered. */
export const TAKEN_KEPT = 64;
/** How many numbers `Closed` shows. */
export const CLOSED_SHOWN = 8;

/** What a number is to its slot, for good once it is `taken` or `void`. */
type Standing = "open" | "taken" | "void" | "unknown";

/** The first number of a slot that no store knows; `chance` is from 0 up to but not including 1. */
export function firstNumber(chance: number): number {
  return 1 + Math.floor(chance * (FIRST_BELOW - 1));
}

/**
 * What a positive number is. `void` is certain: nothing was or ever will be started under it. `unknown` is a
 * number of which this store cannot tell: never issued, older than those it remembers, or one without a disk.
 */
export function standing(state: TicketState, id: number): Standing {
  if (id === state.open) return "open";
  if (state.taken.includes(id)) return "taken";
  if (id >= FIRST_WITHOUT_DISK) return state.overWithoutDisk.includes(id) ? "void" : "unknown";
  // Written before its time, it was called unknown, and is passed over: it stays what its writer was told.
  if (state.closed.includes(-id)) return "unknown";
  const isIssued = id >= state.firstId && id <= state.issuedTo;
  return isIssued && id > state.takenBefore ? "void" : "unknown";
}

/** Shows another number, and ends the one that was open. 0 is shown while no number is reserved. */
export function issueTicket(state: TicketState, nowMs: number, chance: number): TicketState {
  const over = endOpen(state);
  if (state.disk === "failing") return { ...over, open: randomNumber(over, chance), openSinceMs: nowMs };
  let next = state.issuedTo + 1;
  // A number that stands in Closed was written before its time, and must not look closed when it is new.
  while (state.closed.includes(-next)) next += 1;
  if (next > state.reservedTo) return { ...over, open: 0, openSinceMs: nowMs };
  return { ...over, open: next, openSinceMs: nowMs, issuedTo: next };
}

/** Replaces a ticket that nobody used in time; shows one where none could be shown. */
export function rotateTicket(state: TicketState, nowMs: number, chance: number): TicketState {
  const ageMs = nowMs - state.openSinceMs;
  const isFresh = ageMs >= 0 && ageMs < TICKET_LIFE_MS;
  return state.open !== 0 && isFresh ? state : issueTicket(state, nowMs, chance);
}

/** The last number of the block to reserve now; null when enough are left, or there are no more. */
export function blockToReserve({ issuedTo, reservedTo }: TicketState): number | null {
  if (reservedTo - issuedTo >= RESERVE_BELOW) return null;
  const end = reservedTo + BLOCK_SIZE;
  return end < FIRST_WITHOUT_DISK ? end : null;
}

/** Whether a slot has used up all numbers that a disk can vouch for. */
export function isUsedUp({ issuedTo, reservedTo }: TicketState): boolean {
  return issuedTo >= reservedTo && reservedTo + BLOCK_SIZE >= FIRST_WITHOUT_DISK;
}

/** The numbers up to this one are reserved on disk. */
export function blockReserved(state: TicketState, end: number, nowMs: number, chance: number): TicketState {
  const reserved = { ...state, reservedTo: Math.max(state.reservedTo, end) };
  return reserved.open === 0 ? issueTicket(reserved, nowMs, chance) : reserved;
}

/** The disk fails, or is well again: numbers of the other kind end here. */
export function diskIs(
  disk: TicketState["disk"],
  state: TicketState,
  nowMs: number,
  chance: number,
): TicketState {
  return state.disk === disk ? state : issueTicket({ ...state, disk }, nowMs, chance);
}

/** A random number must be remembered to be called void; one of a block is told by its place. */
function endOpen(state: TicketState): TicketState {
  if (state.open < FIRST_WITHOUT_DISK || state.taken.includes(state.open)) return state;
  const overWithoutDisk = [state.open, ...state.overWithoutDisk].slice(0, TAKEN_KEPT);
  return { ...state, overWithoutDisk };
}

function randomNumber(state: TicketState, chance: number): number {
  let id = FIRST_WITHOUT_DISK + Math.floor(chance * (FIRST_WITHOUT_DISK - 1));
  const seen = [state.taken, state.overWithoutDisk, state.closed];
  const isUsed = (each: number) => seen.some((list) => list.includes(each)) || state.closed.includes(-each);
  while (isUsed(id)) id = id === 2 * FIRST_WITHOUT_DISK - 1 ? FIRST_WITHOUT_DISK : id + 1;
  return id;
}
