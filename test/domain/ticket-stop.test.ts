import { expect, it } from "vitest";
import {
  newTickets,
  restartTickets,
  shownNextId,
  type TicketState,
  ticketAccepted,
  ticketDone,
  writeTicket,
} from "../../src/domain/ticket.ts";

const plc = { id: "plc", sinceMs: -1 };
const other = { id: "other", sinceMs: -1 };
const taking = writeTicket(newTickets("e1", 0), 1, plc, 0).state;
const running = ticketAccepted(taking, 1);

function stopping(state: TicketState) {
  return writeTicket(state, 2, plc, 9, true);
}

it("takes a stop while a command of the same session runs, and shows it instead", () => {
  const { state, action } = stopping(running);
  expect(action).toEqual({ kind: "take", ticket: 2, requestId: "e1.0.2" });
  expect(state).toMatchObject({ acceptedId: 1, doneId: 0, rejectedId: 0 });
  expect(shownNextId(state)).toBe(0);
  // The end of the first comes too late to be shown.
  expect(ticketDone(state, 1)).toBe(state);
  const accepted = ticketAccepted(state, 2);
  expect(accepted).toMatchObject({ acceptedId: 2, doneId: 0 });
  expect(ticketDone(accepted, 1)).toBe(accepted);
  expect(ticketDone(accepted, 2)).toMatchObject({ acceptedId: 2, doneId: 2 });
  expect(writeTicket(accepted, 1, plc, 10).action).toEqual({ kind: "repeat" });
});

it("takes no stop of another session, none out of turn, and none before the command is in the journal", () => {
  expect(writeTicket(running, 2, other, 9, true).action).toEqual({ kind: "deny" });
  expect(writeTicket(running, 7, plc, 9, true).action).toEqual({ kind: "reject", error: "OUT_OF_TURN" });
  expect(stopping(taking).action).toEqual({ kind: "reject", error: "TICKET_IN_USE" });
});

it("gives the slot back to the command before when a crash forgets the stop, and not when the journal has it", () => {
  const { state } = stopping(running);
  const forgotten = restartTickets(state, false, 10);
  expect(forgotten.taken).toMatchObject({ id: 1, requestId: "e1.0.1", phase: "running" });
  expect(forgotten).toMatchObject({ acceptedId: 1, earlier: [] });
  expect(ticketDone(forgotten, 1)).toMatchObject({ acceptedId: 1, doneId: 1 });
  const kept = restartTickets(state, true, 10);
  expect(kept.taken).toMatchObject({ id: 2, phase: "running" });
  expect(kept.taken).not.toHaveProperty("replaces");
});
