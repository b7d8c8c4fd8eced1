import * as tickets from "../../../src/domain/ticket.ts";
import * as numbers from "../../../src/domain/ticket-numbers.ts";
import * as view from "../../../src/domain/ticket-numbers.ts";

/** The rules of a slot's tickets, as functions that a test can replace one by one. */
export type TicketReducer = Pick<
  typeof tickets & typeof numbers & typeof view,
  | "newTickets"
  | "restartTickets"
  | "isBusy"
  | "writeTicket"
  | "ticketAccepted"
  | "ticketDone"
  | "ticketVoid"
  | "blockToReserve"
  | "blockReserved"
  | "diskIs"
  | "isUsedUp"
  | "rotateTicket"
  | "verdictOf"
  | "acceptedByNo"
>;

/** The rules of `src/domain`. */
export const realReducer: TicketReducer = { ...tickets, ...numbers, ...view };
