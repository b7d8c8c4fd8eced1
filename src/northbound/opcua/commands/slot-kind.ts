import type { Account } from "../security.ts";
import type { Draft } from "./draft.ts";
import type { Parameter } from "./parameter.ts";
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
