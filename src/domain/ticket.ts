/**
 * The tickets of one OPC UA command slot (design, OPC UA: Command slots). A PLC
 * that can only read and write tags copies `nextId` into RequestId; no other
 * number starts anything, so that a restart, a replayed write or a cyclic write
 * can never repeat a command. Pure: the slot keeps the state durable, submits
 * the command and shows the numbers.
 *
 * What a client may rely on: `doneId` equal to its number means that the command
 * it wrote with that number is final; what it came to is `acceptedId`'s, so it is shown
 * while that is the number too, and unknown to the client after. A stop of its own takes the slot
 * over: then `doneId` never becomes the number of the command before. After any restart, either
 * equal to its number means that its command was taken, anything else that it takes a new ticket.
 * That rule is for the one PLC of a slot; a second writer is denied what is not its own,
 * but a slot remembers one accepted ticket only.
 */
export interface TicketState {
  /** Unique for the life of this state: with `round` it tells a number from the same number after a wrap. */
  readonly epoch: string;
  /** How often the numbers have wrapped. */
  readonly round: number;
  /** The ticket that is shown, 1 to 32767. */
  readonly nextId: number;
  /** The ticket shown before it, valid until the next rotation; 0 when there is none. */
  readonly priorId: number;
  readonly priorRound: number;
  /** When `nextId` was issued, in milliseconds. */
  readonly issuedAtMs: number;
  /** The command that was last taken and may still be running. */
  readonly taken: TakenTicket | null;
  /** The tickets taken before it, newest first: a number that was carried out is never called rejected. */
  readonly earlier: readonly TicketTaking[];
  /** Shown: the last ticket whose command is in the journal; 0 when none. */
  readonly acceptedId: number;
  /** Shown: the last ticket whose outcome is final; 0 when none. */
  readonly doneId: number;
  /** Shown: the last number that was refused; 0 when none. */
  readonly rejectedId: number;
}

/** Which ticket was written in turn, by whom and when. */
export interface TicketTaking {
  readonly id: number;
  readonly writer: string;
  readonly takenAtMs: number;
}

/** A ticket that was written in turn, and its command. */
export interface TakenTicket extends TicketTaking {
  /** The command's request id: never the same twice, whatever wraps. */
  readonly requestId: string;
  /** `taking` until its command is in the journal; `running` until the outcome is final. */
  readonly phase: "taking" | "running" | "done";
  /** A stop is being taken while this one runs: until the stop is in the journal, a crash makes it the slot's again. */
  readonly replaces?: TakenTicket;
}

/** Who writes: the session, and when it began on the clock of `nowMs`. */
export interface TicketWriter {
  readonly id: string;
  readonly sinceMs: number;
  /** Of the sessions that took a ticket, those of the same user that are gone: what was theirs is the writer's. */
  readonly isHeirOf?: (session: string) => boolean;
}

/** What a write to RequestId means. */
export type TicketAction =
  /** In turn: persist the state, then submit the command under this request id. */
  | { readonly kind: "take"; readonly ticket: number; readonly requestId: string }
  /** A number that was taken, written again: nothing happens, the write is good. */
  | { readonly kind: "repeat" }
  /** `rejectedId` names it; ErrorId says why. */
  | { readonly kind: "reject"; readonly error: "OUT_OF_TURN" | "TICKET_IN_USE" }
  /** 0 was written: unused tickets are void, a new one is shown. */
  | { readonly kind: "withdraw" }
  /** The slot is another session's: BadUserAccessDenied. A number in turn is void, as its writer takes another. */
  | { readonly kind: "deny" };

export interface TicketDecision {
  readonly state: TicketState;
  readonly action: TicketAction;
}

/** The largest ticket: what an INT of a PLC holds. */
export const LAST_TICKET = 32_767;
/** An unused ticket is replaced after this time; it stays valid for as long again. */
export const TICKET_LIFE_MS = 30_000;
/** Rotations between two that must be kept; a restart skips more than may have been shown since. */
const ROTATIONS_KEPT = 32;
const RESTART_SKIP = 2 * ROTATIONS_KEPT;
/** How many tickets of other writers a PLC may miss between two of its cycles. */
const EARLIER_KEPT = 8;

/** The tickets of a slot that was never used. `epoch` must differ from that of every earlier state of the slot. */
export function newTickets(epoch: string, nowMs: number): TicketState {
  return {
    epoch,
    round: 0,
    nextId: 1,
    priorId: 0,
    priorRound: 0,
    issuedAtMs: nowMs,
    taken: null,
    earlier: [],
    acceptedId: 0,
    doneId: 0,
    rejectedId: 0,
  };
}

/** Whether what belongs to this session is the writer's: it is itself, or has taken its place. */
export function ownsTicketsOf(session: string, writer: TicketWriter): boolean {
  return session === writer.id || writer.isHeirOf?.(session) === true;
}

/** Replaces an unused ticket that is old enough. The same object when nothing is due. */
export function rotateTicket(state: TicketState, nowMs: number): TicketState {
  const ageMs = nowMs - state.issuedAtMs;
  if (ageMs >= 0 && ageMs < TICKET_LIFE_MS) return state;
  // Both were due, or the clock jumped back: a write that late may not count.
  const priorIsVoid = ageMs < 0 || ageMs >= 2 * TICKET_LIFE_MS;
  const next = issue(state, nowMs);
  return priorIsVoid ? next : { ...next, priorId: state.nextId, priorRound: state.round };
}

/**
 * Decides what a write of `number` to RequestId means. Rotates first, so that it is exact without a timer. A stop
 * waits for nobody: it is taken while another command of the same session (or of one that it has followed) runs, and shown instead of it. It cannot
 * be before that command is in the journal, for until then no number is shown.
 */
export function writeTicket(
  before: TicketState,
  number: number,
  writer: TicketWriter,
  nowMs: number,
  isStop = false,
): TicketDecision {
  const state = rotateTicket(before, nowMs);
  const taken = state.taken;
  const busy = taken !== null && taken.phase !== "done";
  const again = taken?.id === number ? taken : state.earlier.find(({ id }) => id === number);
  if (again !== undefined) {
    return { state, action: { kind: mayRepeat(again, writer) ? "repeat" : "deny" } };
  }
  const inTurn = number === state.nextId || (number === state.priorId && state.priorId !== 0);
  // Void from here on, here and below: a cyclic write must not start it when the running command ends.
  if (busy && !ownsTicketsOf(taken.writer, writer)) {
    return { state: inTurn ? reissueTicket(state, nowMs) : state, action: { kind: "deny" } };
  }
  if (number === 0) return { state: reissueTicket(state, nowMs), action: { kind: "withdraw" } };
  if (!inTurn) return rejected(state, number, "OUT_OF_TURN");
  const mayReplace = isStop && taken?.phase === "running";
  if (busy && !mayReplace) return rejected(reissueTicket(state, nowMs), number, "TICKET_IN_USE");
  return take(state, number, writer, nowMs);
}

/** The command of this ticket is in the journal. */
export function ticketAccepted(state: TicketState, ticket: number): TicketState {
  if (state.taken?.id !== ticket || state.taken.phase !== "taking") return state;
  const { replaces: _replaced, ...taken } = state.taken;
  return { ...state, acceptedId: ticket, taken: { ...taken, phase: "running" } };
}

/** The outcome of this ticket's command is final, and shown: also when it was refused before the journal. */
export function ticketDone(state: TicketState, ticket: number): TicketState {
  if (state.taken?.id !== ticket || state.taken.phase === "done") return state;
  const { replaces: _replaced, ...taken } = state.taken;
  return { ...state, acceptedId: ticket, doneId: ticket, taken: { ...taken, phase: "done" } };
}

/** Voids unused tickets and shows a new one: for a new session of the slot's client, and for a written 0. */
export function reissueTicket(state: TicketState, nowMs: number): TicketState {
  return issue(state, nowMs);
}

/**
 * The state after a start of the gateway: unused tickets are void. A ticket that
 * was being taken is accepted when the journal knows its request id, and
 * forgotten otherwise (then nothing was sent, and what a stop was to replace is the slot's again). Commands still `running` are to be
 * recalled from the journal, and ended with `ticketDone`.
 */
export function restartTickets(state: TicketState, journaled: boolean, nowMs: number): TicketState {
  let next = state;
  for (let skipped = 0; skipped < RESTART_SKIP; skipped += 1) next = issue(next, nowMs);
  // Every session that there will be began after they were taken, also one that is here before the slot is.
  next = { ...next, earlier: next.earlier.map((each) => ({ ...each, takenAtMs: 0 })) };
  if (next.taken === null) return next;
  const taken = { ...next.taken, takenAtMs: 0 };
  if (taken.phase !== "taking") return { ...next, taken };
  // A forgotten number stays behind: writing it again is out of turn, not a repeat.
  if (journaled) return ticketAccepted({ ...next, taken }, taken.id);
  const { replaces } = taken;
  if (replaces === undefined) return { ...next, taken: null };
  const earlier = next.earlier.filter(({ id }) => id !== replaces.id);
  return { ...next, earlier, taken: { ...replaces, takenAtMs: 0 } };
}

/**
 * Whether `after` must be durable before it is shown. Plain rotations need not be,
 * but for every 32nd: a disk is not worn by idle slots, and a restart skips
 * what may have been shown.
 */
export function mustPersist(before: TicketState, after: TicketState): boolean {
  if (before.taken !== after.taken || before.round !== after.round) return true;
  if (before.acceptedId !== after.acceptedId || before.doneId !== after.doneId) return true;
  return Math.floor(before.nextId / ROTATIONS_KEPT) !== Math.floor(after.nextId / ROTATIONS_KEPT);
}

/**
 * What NextId shows: 0 while a ticket's command is on its way to the journal, for then
 * nothing can be accepted. So a PLC that restarts just then finds AcceptedId settled
 * before it can take another ticket for the same command.
 */
export function shownNextId(state: TicketState): number {
  return state.taken?.phase === "taking" ? 0 : state.nextId;
}

/** The session that the slot's parameters belong to while its command runs; null when anybody may write. */
export function parameterOwner(state: TicketState): string | null {
  return state.taken !== null && state.taken.phase !== "done" ? state.taken.writer : null;
}

function take(state: TicketState, number: number, writer: TicketWriter, nowMs: number): TicketDecision {
  const round = number === state.nextId ? state.round : state.priorRound;
  const requestId = `${state.epoch}.${round}.${number}`;
  const replaces = state.taken?.phase === "running" ? { replaces: state.taken } : {};
  const by = { writer: writer.id, takenAtMs: nowMs };
  const taken: TakenTicket = { id: number, requestId, ...by, phase: "taking", ...replaces };
  const earlier = [...(state.taken === null ? [] : [takingOf(state.taken)]), ...state.earlier];
  return {
    state: issue({ ...state, taken, earlier: earlier.slice(0, EARLIER_KEPT) }, nowMs),
    action: { kind: "take", ticket: number, requestId },
  };
}

function takingOf({ id, writer, takenAtMs }: TakenTicket): TicketTaking {
  return { id, writer, takenAtMs };
}

/**
 * A session that was there when another one's ticket was taken may have copied the
 * same number: told that all is well, it would take the other's outcome for its
 * own. A session that began later can only be repeating what was written before it.
 */
function mayRepeat(taken: TicketTaking, writer: TicketWriter): boolean {
  return writer.id === taken.writer || writer.sinceMs > taken.takenAtMs;
}

function rejected(
  state: TicketState,
  number: number,
  error: "OUT_OF_TURN" | "TICKET_IN_USE",
): TicketDecision {
  const same = state.rejectedId === number;
  return { state: same ? state : { ...state, rejectedId: number }, action: { kind: "reject", error } };
}

/** Shows the next number that no shown one equals: a wrap must not make an old success look new. */
function issue(state: TicketState, nowMs: number): TicketState {
  let { nextId, round } = state;
  do {
    nextId += 1;
    if (nextId > LAST_TICKET) {
      nextId = 1;
      round += 1;
    }
  } while (isShown(state, nextId));
  return { ...state, nextId, round, priorId: 0, priorRound: 0, issuedAtMs: nowMs };
}

function isShown(state: TicketState, id: number): boolean {
  return (
    id === state.acceptedId ||
    id === state.doneId ||
    id === state.rejectedId ||
    id === state.priorId ||
    id === state.taken?.id ||
    state.earlier.some((each) => each.id === id)
  );
}
