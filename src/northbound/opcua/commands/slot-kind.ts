import type { Account } from "../security.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotCommand } from "./slot-command.ts";
import type { SlotTags } from "./slot-tags.ts";

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
  command(sessionId: string): SlotCommand;
  /** The parameters that `command` reads: the others say nothing about the command. */
  reads(sessionId: string): readonly Parameter[];
  /** The command in an array: the 11 numbers of `Command` after the ticket. */
  commandOfNumbers(numbers: readonly number[]): SlotCommand;
  /** The command in a text: the fields of `CommandText` after the ticket. */
  commandOfFields(fields: readonly string[]): SlotCommand;
  /** A ticket has taken the session's parameters: drops the values that serve once. */
  served(sessionId: string): void;
  /** A command with this operation of the fleet service is under way: it has no mission yet. */
  begun(operation: string): void;
  /** A command has ended; `missionId` is what it made or concerned, null if that is unknown or none. */
  ended(missionId: string | null): void;
}
