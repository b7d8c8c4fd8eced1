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
