import type { ErrorName } from "./errors.ts";

/**
 * The tickets of one command slot (docs/opcua-reference.md, The rules of a slot). A PLC that can only read
 * and write tags copies the number that `open` shows. No other number starts anything, and no number is shown
 * twice. Pure: the slot keeps the state on disk, submits commands, and shows the numbers.
 */
export interface TicketState {
  /** Differs from that of every other run of the gateway: request ids begin with it. */
  readonly run: string;
  /** The first number that this store ever issued. */
  readonly firstId: number;
  /** Numbers up to this one are reserved on disk. */
  readonly reservedTo: number;
  /** Numbers up to this one were issued, or are skipped for good. */
  readonly issuedTo: number;
  /** `NextId`: the one number that can start something; 0: none can. */
  readonly open: number;
  readonly openSinceMs: number;
  readonly disk: "well" | "failing";
  /** The place among the members of a cluster, whose random numbers do not meet. Absent: no cluster. */
  readonly member?: number;
  /** Of a member that does not lead: numbers start stops only, and nothing is said of any other number. */
  readonly isStopOnly?: true;
  /** The last numbers that were taken, newest first. */
  readonly taken: readonly number[];
  /** The largest number that was taken and is no longer remembered; 0: none. */
  readonly takenBefore: number;
  /** Random numbers of this run that ended unused, newest first. */
  readonly overWithoutDisk: readonly number[];
  /** The command to which the slot belongs; null before the first. */
  readonly current: TakenTicket | null;
  /** `AcceptedId` and its fields: the last ticket whose command is in the journal. */
  readonly accepted: Acceptance | null;
  /** `DoneId`: the last ticket whose outcome is final; 0: none. */
  readonly doneId: number;
  /** `Closed`, newest first: `n` is void, `-n` says to look at the robot. */
  readonly closed: readonly number[];
  /** The last number that a write put into `closed`, and why. */
  readonly rejected: { readonly id: number; readonly error: ErrorName };
}

/** The user that took a ticket, and the command in words. */
export interface Acceptance {
  readonly id: number;
  readonly user: string;
  /** `opcua.users.<name>.number`; 0: the user has none. */
  readonly userNo: number;
  readonly text: string;
}

/** A ticket that was taken, and its command. */
export interface TakenTicket extends Acceptance {
  /** The command's request id: never the same twice. */
  readonly requestId: string;
  /** `taking` until its command is in the journal; `running` until the outcome is final. */
  readonly phase: "taking" | "running" | "done";
  /**
   * The running command that this stop displaces. It owns the slot again if the stop turns out never to have
   * begun.
   */
  readonly replaces?: TakenTicket;
}

/** An unused ticket is replaced after this time, in milliseconds. */
export const TICKET_LIFE_MS = 30_000;
/** Numbers are reserved on disk in blocks of this size, before one of them is shown. */
export const BLOCK_SIZE = 256;
/** A block is reserved when fewer than this many numbers of the last one are left. */
const RESERVE_BELOW = 64;
/** From here on numbers are random, and start stops only: they are not kept on the disk. */
export const FIRST_WITHOUT_DISK = 2 ** 30;
/** The first number of a slot that is not in the store is random below this one. */
const FIRST_BELOW = 2 ** 29;
/** How many taken numbers are remembered. */
export const TAKEN_KEPT = 64;
/** How many numbers `Closed` shows. */
export const CLOSED_SHOWN = 8;

/** What a number is to its slot, for good once it is `taken` or `void`. */
type NumberStatus = "open" | "taken" | "void" | "unknown";

/** The first number of a slot that is not in the store; `chance` is at least 0 and less than 1. */
export function firstNumber(random: number): number {
  return 1 + Math.floor(random * (FIRST_BELOW - 1));
}

/**
 * What a positive number is. `void` is certain: nothing was or ever will be started under it. `unknown`: this
 * store cannot tell; the number was never issued, is older than those that it remembers, or is one without a
 * disk.
 */
export function numberStatus(state: TicketState, id: number): NumberStatus {
  if (id === state.open) return "open";
  if (state.taken.includes(id)) return "taken";
  if (id >= FIRST_WITHOUT_DISK) return state.overWithoutDisk.includes(id) ? "void" : "unknown";
  // It was written before it was issued, and `Closed` says *unknown* of it. It is skipped, and stays unknown.
  if (state.closed.includes(-id)) return "unknown";
  const isIssued = id >= state.firstId && id <= state.issuedTo;
  return isIssued && id > state.takenBefore ? "void" : "unknown";
}

/** Issues the next number, and ends the open one. 0 while no number is reserved. */
export function issueTicket(state: TicketState, nowMs: number, random: number): TicketState {
  const over = endOpen(state);
  if (state.disk === "failing") return { ...over, open: randomNumber(over, random), openSinceMs: nowMs };
  let next = state.issuedTo + 1;
  // A number in `Closed` was written before it was issued. It is skipped, because it must not look closed
  // when it is new.
  while (state.closed.includes(-next)) next += 1;
  if (next > state.reservedTo) return { ...over, open: 0, openSinceMs: nowMs };
  return { ...over, open: next, openSinceMs: nowMs, issuedTo: next };
}

/** Replaces a ticket that nobody used in time; issues one if none could be issued before. */
export function rotateTicket(state: TicketState, nowMs: number, random: number): TicketState {
  const ageMs = nowMs - state.openSinceMs;
  const isFresh = ageMs >= 0 && ageMs < TICKET_LIFE_MS;
  return state.open !== 0 && isFresh ? state : issueTicket(state, nowMs, random);
}

/** The last number of the block to reserve now; null: enough are left, or there are no more. */
export function blockToReserve({ issuedTo, reservedTo }: TicketState): number | null {
  if (reservedTo - issuedTo >= RESERVE_BELOW) return null;
  const end = reservedTo + BLOCK_SIZE;
  return end < FIRST_WITHOUT_DISK ? end : null;
}

/** Whether a slot has used up all numbers that a disk can keep. */
export function isUsedUp({ issuedTo, reservedTo }: TicketState): boolean {
  return issuedTo >= reservedTo && reservedTo + BLOCK_SIZE >= FIRST_WITHOUT_DISK;
}

/** The numbers up to this one are reserved on disk. */
export function blockReserved(state: TicketState, end: number, nowMs: number, random: number): TicketState {
  const reserved = { ...state, reservedTo: Math.max(state.reservedTo, end) };
  return reserved.open === 0 ? issueTicket(reserved, nowMs, random) : reserved;
}

/** The disk has failed, or works again: numbers of the other kind end here. */
export function diskIs(
  disk: TicketState["disk"],
  state: TicketState,
  nowMs: number,
  random: number,
): TicketState {
  return state.disk === disk ? state : issueTicket({ ...state, disk }, nowMs, random);
}

/** A random number must be remembered to be called void; a number of a block is known by its range. */
function endOpen(state: TicketState): TicketState {
  if (state.open < FIRST_WITHOUT_DISK || state.taken.includes(state.open)) return state;
  const overWithoutDisk = [state.open, ...state.overWithoutDisk].slice(0, TAKEN_KEPT);
  return { ...state, overWithoutDisk };
}

function randomNumber(state: TicketState, random: number): number {
  const { member } = state;
  const numberAt = (place: number) =>
    member === undefined ? FIRST_WITHOUT_DISK + (place % FIRST_WITHOUT_DISK) : stopOnlyNumber(member, place);
  const seen = [state.taken, state.overWithoutDisk, state.closed];
  const isUsed = (each: number) => seen.some((list) => list.includes(each)) || state.closed.includes(-each);
  let place = Math.floor(random * (FIRST_WITHOUT_DISK - 1));
  while (isUsed(numberAt(place))) place += 1;
  return numberAt(place);
}

/** Of a configuration: numbers of members do not meet. */
const MOST_MEMBERS = 3;

/** The number that a slot shows on a member that does not lead. `member` counts from 0. */
export function stopOnlyNumber(member: number, issued: number): number {
  return FIRST_WITHOUT_DISK + (issued % (FIRST_WITHOUT_DISK / (MOST_MEMBERS + 1))) * MOST_MEMBERS + member;
}

/** What became of a number that a user has written, for that user. */
export type Verdict = keyof typeof verdictNumbers;

/** `Answer[10]`. */
export const verdictNumbers = {
  /** This user has written no number since the gateway started, or the leader alone knows it. */
  none: 0,
  /** The number is open, or its command is being recorded. */
  open: 1,
  /** The user's own command of this number is under way. */
  under_way: 2,
  /** The user's own command of this number has ended. */
  ended: 3,
  /** Nothing was or ever will be sent under it for this user. */
  never_sent: 4,
  /** Not known: look at the robot. */
  look_first: 5,
} as const;

/** `AcceptedByNo` for everybody but the user itself, if that user has no number. */
const ANOTHER_WITHOUT_NUMBER = -1;

/**
 * What a number is to a user. It is true at any time: `never_sent` stays so, or becomes `look_first`. So a
 * program may act on it, whichever session wrote the number, and when.
 */
export function verdictOf(state: TicketState, user: string, number: number): Verdict {
  const { accepted, current, doneId } = state;
  if (number === 0) return "none";
  if (number === state.open) return "open";
  if (accepted?.id === number) {
    if (accepted.user !== user) return "never_sent";
    return doneId === number ? "ended" : "under_way";
  }
  if (current?.id === number) return current.user === user ? "open" : "never_sent";
  const status = numberStatus(state, number);
  if (status === "unknown" && state.isStopOnly === true) return "none";
  return status === "void" ? "never_sent" : "look_first";
}

/**
 * `AcceptedByNo` as a user sees it. Only the user's own command has 0: two users without a number would
 * otherwise take one command for theirs.
 */
export function acceptedByNo({ accepted }: TicketState, reader: string): number {
  if (accepted === null) return 0;
  const isOther = accepted.userNo === 0 && accepted.user !== reader;
  return isOther ? ANOTHER_WITHOUT_NUMBER : accepted.userNo;
}
