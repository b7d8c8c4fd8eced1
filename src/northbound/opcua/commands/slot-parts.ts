import type { ISessionContext } from "node-opcua";
import type { Commander, CommandRecords, CommandRights, RefusalAudit } from "../../../contracts/commander.ts";
import type { MakeStopRequest } from "../../../contracts/fleet-port.ts";
import type { OperationManual } from "../../../contracts/operation-manual.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Live } from "../../../platform/live.ts";
import type { Log } from "../../../platform/log.ts";
import type { Account } from "../security.ts";
import type { Draft } from "./draft.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotTags } from "./slot-tags.ts";
import type { TicketStore } from "./ticket-store.ts";

/** The dependencies of slots. */
export interface SlotParts {
  readonly commander: Commander;
  /** The records of commands that ran when the gateway stopped. */
  readonly records: Pick<CommandRecords, "recall">;
  /** Refusals of calls that are no command are audited there. */
  readonly audit: RefusalAudit;
  readonly rights: CommandRights;
  readonly catalogue: OperationManual;
  readonly stopRequest: MakeStopRequest;
  readonly tickets: TicketStore;
  /** Unique for each run: request ids begin with it. */
  readonly run: string;
  /** Destinations by the numbers for PLCs without strings. */
  readonly destinations: Live<ReadonlyMap<number, string>>;
  /** The user of a session, like that of `Writer`; empty: none. */
  readonly userOf: (context: ISessionContext) => string;
  readonly clock: Clock;
  /** At least 0 and less than 1: numbers without a disk begin at random. */
  readonly random: () => number;
  readonly log: Log;
  /** Aborted when the gateway stops: nobody waits for outcomes any more. */
  readonly signal: AbortSignal;
}

/** The specific part of one kind of slot. */
export interface SlotKind {
  readonly path: string;
  /** The station whose slot it is. */
  readonly station?: string;
  readonly parameters: readonly Parameter[];
  readonly tags: SlotTags;
  /** Why this user may write nothing here; null: it may. */
  refusedWriter(account: Account): string | null;
  /** The command of the session's parameters at this moment. */
  draft(sessionId: string): Draft;
  /** The parameters that `draft` reads: the others say nothing about the command. */
  reads(sessionId: string): readonly Parameter[];
  /** The command in an array: the 11 numbers of `Command` after the ticket. */
  draftOfNumbers(numbers: readonly number[]): Draft;
  /** The command in a text: the fields of `CommandText` after the ticket. */
  draftOfFields(fields: readonly string[]): Draft;
  /** A ticket has taken the session's parameters: drops the values that serve once. */
  served(sessionId: string): void;
  /** A command made this mission, or concerned it. */
  follow(missionId: string): void;
}
