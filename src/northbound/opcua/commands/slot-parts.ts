import type { Commander, CommandLedger, CommandRecords } from "../../../contracts/commander.ts";
import type { OperationManual } from "../../../contracts/operation-manual.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import type { Account } from "../security.ts";
import type { Draft } from "./draft.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotTags } from "./slot-tags.ts";
import type { TicketStore } from "./ticket-store.ts";

/** What slots need of the rest of the gateway. */
export interface SlotParts {
  readonly commander: Commander;
  /** What became of commands that ran when the gateway stopped. */
  readonly records: CommandRecords;
  /** Where refusals are audited that never become a command. */
  readonly ledger: CommandLedger;
  readonly catalogue: OperationManual;
  readonly tickets: TicketStore;
  /** Unlike every epoch before it: names the tickets of a slot that the store does not know. */
  readonly epoch: string;
  readonly startByMs: number;
  /** Destinations by the number that a PLC without strings knows them by. */
  readonly destinations: ReadonlyMap<number, string>;
  /** Whether some user's commands wait for ConfirmId, so that slots need the tags for it. */
  readonly offersConfirm: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the gateway stops: nobody waits for outcomes any more. */
  readonly signal: AbortSignal;
}

/** A session as slots know it. */
export interface Writer {
  readonly sessionId: string;
  readonly sinceMs: number;
  /** Whether a session has a connection: without one it can write nothing, though it may come back. */
  readonly isConnected: (sessionId: string) => boolean;
  readonly account: Account;
}

/** What is particular to one kind of slot. */
export interface SlotKind {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly tags: SlotTags;
  /** The command that the parameters stand for at this moment. */
  draft(): Draft;
  /** The parameters that `draft` would look at: what stands in the others says nothing about the command. */
  reads(): readonly Parameter[];
  /** The command that an array stands for: what follows the ticket in `Command`, 11 numbers. */
  draftOf(numbers: readonly number[]): Draft;
  /** A command made this mission, or was about it. */
  follow(missionId: string): void;
}
