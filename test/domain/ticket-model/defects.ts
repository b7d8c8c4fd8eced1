import { type TicketDecision, voidTicket } from "../../../src/domain/ticket.ts";
import { CLOSED_SHOWN, issueTicket, type TicketState } from "../../../src/domain/ticket-numbers.ts";
import { realReducer } from "./reducer.ts";
import { type Parts, soundParts } from "./setups.ts";

/** A mistake that the model must find. */
export interface Defect extends Parts {
  readonly name: string;
  /** What it breaks. */
  readonly violation: RegExp;
}

/** Whether the number was open until the one that is open now. */
function wasOpenLast({ open, taken, current }: TicketState, number: number): boolean {
  return number > 0 && number === open - 1 && !taken.includes(number) && current?.id !== number;
}

/** Puts a number that was taken long ago into `Closed`, as if nothing had been sent under it. */
function closeTaken(decision: TicketDecision, before: TicketState, number: number): TicketDecision {
  const isOver = before.taken.includes(number) && before.accepted?.id !== number;
  if (!isOver || before.doneId === number || before.current?.id === number) return decision;
  const closed = [number, ...before.closed].slice(0, CLOSED_SHOWN);
  return { state: { ...before, closed }, action: "closed" };
}

/** Each is found by random moves, without knowing where to look. */
export const defects: readonly Defect[] = [
  {
    ...soundParts,
    name: "the number before the open one still starts a command",
    violation: /concluded/,
    reducer: {
      ...realReducer,
      writeTicket(state, write, nowMs, random) {
        const { number } = write;
        const asOpen = wasOpenLast(state, number) ? { ...state, open: number } : state;
        return realReducer.writeTicket(asOpen, write, nowMs, random);
      },
    },
  },
  {
    ...soundParts,
    name: "-n forgets that n was taken, and calls it void",
    violation: /concluded/,
    reducer: {
      ...realReducer,
      writeTicket(state, write, nowMs, random) {
        const decision = realReducer.writeTicket(state, write, nowMs, random);
        return write.number < 0 ? closeTaken(decision, state, -write.number) : decision;
      },
    },
  },
  {
    ...soundParts,
    name: "numbers that were shown after the last save are issued again after a restart",
    violation: /concluded|twice|did not ask|believes/,
    reducer: {
      ...realReducer,
      restartTickets: (kept, run, nowMs) => ({
        ...realReducer.restartTickets(kept, run, nowMs),
        issuedTo: kept.issuedTo,
      }),
    },
  },
  {
    ...soundParts,
    name: "a disk that fails takes numbers back that were shown",
    violation: /concluded|twice|did not ask|believes/,
    reducer: {
      ...realReducer,
      diskIs(disk, state, nowMs, random) {
        const next = realReducer.diskIs(disk, state, nowMs, random);
        return disk === "well" && state.disk === "failing"
          ? { ...next, open: next.open - 1, issuedTo: next.issuedTo - 1 }
          : next;
      },
    },
  },
  {
    ...soundParts,
    name: "writing 0 changes the number",
    violation: /writing 0/,
    reducer: {
      ...realReducer,
      writeTicket: (state, write, nowMs, random) =>
        write.number === 0
          ? { state: issueTicket(state, nowMs, random), action: "nothing" }
          : realReducer.writeTicket(state, write, nowMs, random),
    },
  },
  {
    ...soundParts,
    name: "a start that the disk did not take is closed, and its number opens again",
    violation: /concluded|twice/,
    reducer: {
      ...realReducer,
      ticketVoid(state, id, error) {
        const next = realReducer.ticketVoid(state, id, error);
        return next === state ? state : { ...next, open: id };
      },
    },
  },
  {
    ...soundParts,
    name: "a number that is too old to be remembered is called void",
    violation: /concluded/,
    reducer: {
      ...realReducer,
      writeTicket(state, write, nowMs, random) {
        const id = -write.number;
        if (id <= 0 || id > state.takenBefore) return realReducer.writeTicket(state, write, nowMs, random);
        return { state: voidTicket(state, id, "OK", nowMs, random), action: "closed" };
      },
    },
  },
  {
    ...soundParts,
    name: "AcceptedByNo of a user without a number is 0 for every user",
    violation: /takes|concluded|twice|believes/,
    reducer: { ...realReducer, acceptedByNo: ({ accepted }) => accepted?.userNo ?? 0 },
  },
  {
    ...soundParts,
    name: "a new session has the parameters of the old one",
    violation: /parameters|did not ask|twice/,
    server: { inheritsParameters: true },
  },
  {
    ...soundParts,
    name: "the right is looked at when the number is used up",
    violation: /without the right/,
    server: { looksAtRightLate: true },
  },
  {
    ...soundParts,
    name: "a start is sent before its ticket is saved",
    violation: /concluded|twice/,
    server: { sendsWithoutTicket: true },
  },
  {
    ...soundParts,
    name: "a start is sent before its record is in the journal",
    violation: /concluded|twice/,
    server: { sendsWithoutRecord: true },
  },
  {
    ...soundParts,
    name: "a program concludes from a missing answer",
    violation: /concluded|twice/,
    program: { concludesFromAbsence: true },
  },
  {
    ...soundParts,
    name: "a program reads RejectedId, and not Closed",
    violation: /never ends/,
    program: { readsRejectedOnly: true },
  },
  {
    ...soundParts,
    name: "a program believes a result from a torn read",
    violation: /believes/,
    program: { believesTornResult: true },
  },
  {
    ...soundParts,
    name: "a program believes AcceptedBy from a torn read",
    violation: /concluded|twice/,
    program: { believesTornUser: true },
  },
  {
    ...soundParts,
    name: "a program takes an old NextId for a new one",
    violation: /believes|takes/,
    program: { ignoresNewness: true },
  },
];
