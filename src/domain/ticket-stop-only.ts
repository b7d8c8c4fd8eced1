import { newTickets, type TicketDecision, type TicketWrite, writeTicket } from "./ticket.ts";
import { issueTicket, numberStatus } from "./ticket-numbers.ts";
import type { TicketState } from "./ticket-state.ts";

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
