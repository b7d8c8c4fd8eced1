import type { ErrorName } from "./errors.ts";
import {
  type Acceptance,
  CLOSED_SHOWN,
  FIRST_WITHOUT_DISK,
  issueTicket,
  numberStatus,
  TAKEN_KEPT,
  type TakenTicket,
  type TicketState,
} from "./ticket-numbers.ts";

/** A number that a client wrote, and the command that it would start. */
export interface TicketWrite extends Omit<Acceptance, "id"> {
  readonly number: number;
  readonly isStop: boolean;
}

/**
 * What a write to the slot's ticket means. `closed`: the number stands in `Closed`. `refused`: only the
 * leader of the cluster takes it.
 */
export type TicketAction = "take" | "closed" | "nothing" | "refused";

export interface TicketDecision {
  readonly state: TicketState;
  readonly action: TicketAction;
}

/** The tickets of a slot that is not in the store. No number is issued until a block is reserved. */
export function newTickets(run: string, firstId: number, nowMs: number): TicketState {
  return {
    run,
    firstId,
    reservedTo: firstId - 1,
    issuedTo: firstId - 1,
    open: 0,
    openSinceMs: nowMs,
    disk: "well",
    taken: [],
    takenBefore: 0,
    overWithoutDisk: [],
    current: null,
    accepted: null,
    doneId: 0,
    closed: [],
    rejected: { id: 0, error: "OK" },
  };
}

/**
 * The kept tickets after a start of the gateway. Numbers continue behind the last block, because any number
 * of it may have been issued. A ticket that is still `taking` is ended with `ticketAccepted` or `ticketVoid`,
 * as the journal says.
 */
export function restartTickets(kept: TicketState, run: string, nowMs: number): TicketState {
  return {
    ...kept,
    run,
    issuedTo: kept.reservedTo,
    open: 0,
    openSinceMs: nowMs,
    disk: "well",
    overWithoutDisk: [],
  };
}

/** Whether the slot's command has no final outcome yet. */
export function isBusy({ current }: TicketState): boolean {
  return current !== null && current.phase !== "done";
}

/**
 * Decides what a written number means, in one step: `+n` may start a command, `-n` closes n
 * (docs/internals/decisions.md, What a written number becomes).
 */
export function writeTicket(
  state: TicketState,
  write: TicketWrite,
  nowMs: number,
  random: number,
): TicketDecision {
  const { number } = write;
  if (number === 0) return { state, action: "nothing" };
  return number > 0 ? writeStart(state, write, nowMs, random) : writeClose(state, -number, nowMs, random);
}

/** Ends an open or void number for good. A number that is in `closed` already keeps its first error. */
export function voidTicket(
  state: TicketState,
  id: number,
  error: ErrorName,
  nowMs: number,
  random: number,
): TicketState {
  if (state.closed.includes(id)) return state;
  const closed = withRejection(withClosed(state, id), id, error);
  return id === state.open ? issueTicket(closed, nowMs, random) : closed;
}

/** The command of this ticket is in the journal. */
export function ticketAccepted(state: TicketState, id: number): TicketState {
  const { current } = state;
  if (current?.id !== id || current.phase !== "taking") return state;
  return shownAs(state, current, "running");
}

/** The outcome of this ticket's command is final, also if it was refused before the journal. */
export function ticketDone(state: TicketState, id: number): TicketState {
  const { current } = state;
  if (current?.id !== id || current.phase === "done") return state;
  return { ...shownAs(state, current, "done"), doneId: id };
}

/** The command of this ticket did not come into the journal: nothing was sent, and nothing will be. */
export function ticketVoid(state: TicketState, id: number, error: ErrorName): TicketState {
  const { current } = state;
  if (current?.id !== id || current.phase !== "taking") return state;
  const taken = state.taken.filter((each) => each !== id);
  const overWithoutDisk =
    id < FIRST_WITHOUT_DISK ? state.overWithoutDisk : [id, ...state.overWithoutDisk].slice(0, TAKEN_KEPT);
  const free: TicketState = { ...state, taken, overWithoutDisk, current: current.replaces ?? null };
  return withRejection(withClosed(free, id), id, error);
}

function writeStart(state: TicketState, write: TicketWrite, nowMs: number, random: number): TicketDecision {
  const { number, isStop } = write;
  const rejected = (error: ErrorName): TicketDecision => ({
    state: voidTicket(state, number, error, nowMs, random),
    action: "closed",
  });
  switch (numberStatus(state, number)) {
    case "open":
      if (!isStop && isBusy(state)) {
        return rejected(isOfAnotherWithoutNumber(state, write) ? "USER_WITHOUT_NUMBER" : "SLOT_IN_USE");
      }
      if (!isStop && state.disk === "failing") return rejected("JOURNAL_FAILED");
      return { state: take(state, write, nowMs, random), action: "take" };
    case "taken": {
      // It does not go into `closed`: that would tell the command's own user that nothing was sent.
      const isOthers = isBusy(state) && state.current?.id === number;
      const isReportedSo = state.rejected.id === number || !isOfAnotherWithoutNumber(state, write);
      if (isStop || !isOthers || isReportedSo) return { state, action: "nothing" };
      return { state: withRejection(state, number, "USER_WITHOUT_NUMBER"), action: "nothing" };
    }
    case "void":
      return rejected("OUT_OF_TURN");
    case "unknown":
      return { state: lookAtRobot(state, number), action: "closed" };
  }
}

/** By `AcceptedByNo`, neither of two users without a number knows whose command the slot has. */
function isOfAnotherWithoutNumber({ current }: TicketState, { user, userNo }: TicketWrite): boolean {
  return current !== null && current.userNo === 0 && userNo === 0 && current.user !== user;
}

function writeClose(state: TicketState, id: number, nowMs: number, random: number): TicketDecision {
  switch (numberStatus(state, id)) {
    case "open":
    case "void":
      return { state: voidTicket(state, id, "OK", nowMs, random), action: "closed" };
    case "taken": {
      const isBeingJournaled = state.current?.id === id && state.current.phase === "taking";
      const isShown = state.accepted?.id === id || state.doneId === id;
      if (isBeingJournaled || isShown) return { state, action: "nothing" };
      return { state: lookAtRobot(state, id), action: "closed" };
    }
    case "unknown":
      return { state: lookAtRobot(state, id), action: "closed" };
  }
}

/** A stop takes the slot from a command that still runs. What became of that command only the robot shows. */
function take(
  state: TicketState,
  { user, userNo, text }: TicketWrite,
  nowMs: number,
  random: number,
): TicketState {
  const { open: id, current } = state;
  const requestId = `${state.run}.${id}`;
  const displaced = isBusy(state) && current !== null ? withClosed(state, -current.id) : state;
  const running = current?.phase === "running" ? current : current?.replaces;
  const replaces = running === undefined ? {} : { replaces: running };
  const ticket: TakenTicket = { id, requestId, user, userNo, text, phase: "taking", ...replaces };
  const taken = [id, ...state.taken];
  const dropped = taken.slice(TAKEN_KEPT).filter((each) => each < FIRST_WITHOUT_DISK);
  const takenBefore = Math.max(state.takenBefore, ...dropped);
  const next = { ...displaced, current: ticket, taken: taken.slice(0, TAKEN_KEPT), takenBefore };
  return issueTicket(next, nowMs, random);
}

function shownAs(state: TicketState, current: TakenTicket, phase: "running" | "done"): TicketState {
  const { replaces: _replaced, ...ticket } = current;
  const { id, user, userNo, text } = ticket;
  return { ...state, accepted: { id, user, userNo, text }, current: { ...ticket, phase } };
}

function lookAtRobot(state: TicketState, id: number): TicketState {
  if (state.closed.includes(-id)) return state;
  return withRejection(withClosed(state, -id), id, "UNKNOWN_NUMBER");
}

function withClosed(state: TicketState, entry: number): TicketState {
  if (state.closed.includes(entry)) return state;
  return { ...state, closed: [entry, ...state.closed].slice(0, CLOSED_SHOWN) };
}

function withRejection(state: TicketState, id: number, error: ErrorName): TicketState {
  return { ...state, rejected: { id, error } };
}

/** The tickets of a slot on a member of a cluster that does not lead. Nothing of them is stored. */
export function stopOnlyTickets(run: string, member: number, nowMs: number, random: number): TicketState {
  const none = newTickets(run, 1, nowMs);
  return issueTicket({ ...none, disk: "failing", member, isStopOnly: true }, nowMs, random);
}

/**
 * Decides what a written number means on a member that does not lead. Its own numbers start stops, and are
 * closed. Only the leader knows the others, so `closed` stays as it is.
 */
export function writeStopOnly(
  state: TicketState,
  write: TicketWrite,
  nowMs: number,
  random: number,
): TicketDecision {
  const { number, isStop } = write;
  if (number === 0) return { state, action: "nothing" };
  const status = numberStatus(state, Math.abs(number));
  if (status === "taken" || (status === "void" && number < 0)) return { state, action: "nothing" };
  if (status !== "open") return { state, action: "refused" };
  if (number < 0) return { state: issueTicket(state, nowMs, random), action: "nothing" };
  if (!isStop) return { state, action: "refused" };
  const { state: next, action } = writeTicket(state, write, nowMs, random);
  return { state: { ...next, closed: state.closed }, action };
}
