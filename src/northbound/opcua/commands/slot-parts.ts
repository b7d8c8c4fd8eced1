import type { ISessionContext } from "node-opcua";
import type { CommandRights } from "../../../contracts/command-rights.ts";
import type { Commander, CommandRecords, RefusalAudit } from "../../../contracts/commander.ts";
import type { OperationManual } from "../../../contracts/operation-manual.ts";
import type { MakeStopRequest } from "../../../contracts/stop-request.ts";
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
  readonly records: Pick<CommandRecords, "recall">;
  /** Where refusals of what is no command are audited. */
  readonly audit: RefusalAudit;
  readonly rights: CommandRights;
  readonly catalogue: OperationManual;
  readonly stopRequest: MakeStopRequest;
  readonly tickets: TicketStore;
  /** Unlike that of every run before: request ids begin with it. */
  readonly run: string;
  /** Destinations by the number that a PLC without strings knows them by. */
  readonly destinations: ReadonlyMap<number, string>;
  /** The user of a session, as `Writer` names it; empty: none. */
  readonly userOf: (context: ISessionContext) => string;
  readonly clock: Clock;
  /** From 0 up to but not including 1: numbers without a disk begin anywhere. */
  readonly chance: () => number;
  readonly log: Log;
  /** Aborted when the gateway stops: nobody waits for outcomes any more. */
  readonly signal: AbortSignal;
}

/** What is particular to one kind of slot. */
export interface SlotKind {
  readonly path: string;
  /** The station whose slot it is. */
  readonly station?: string;
  readonly parameters: readonly Parameter[];
  readonly tags: SlotTags;
  /** Why this user may write nothing here; null: it may. */
  refusedWriter(account: Account): string | null;
  /** The command that the session's parameters stand for at this moment. */
  draft(sessionId: string): Draft;
  /** The parameters that `draft` would look at: what stands in the others says nothing about the command. */
  reads(sessionId: string): readonly Parameter[];
  /** The command that an array stands for: what follows the ticket in `Command`, 11 numbers. */
  draftOfNumbers(numbers: readonly number[]): Draft;
  /** The command that a text stands for: what follows the ticket in `CommandText`. */
  draftOfFields(fields: readonly string[]): Draft;
  /** A ticket has taken the session's parameters: what serves once is forgotten. */
  served(sessionId: string): void;
  /** A command made this mission, or was about it. */
  follow(missionId: string): void;
}
