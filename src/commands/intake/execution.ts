import type { Operation, ParsedRequest } from "../../contracts/operation.ts";
import type { Command, CommandStage, Effect } from "../../domain/command.ts";
import type { Outcome } from "../../domain/outcome.ts";

/** An identity that is in hand or recorded. */
export interface KnownCommand {
  /** Null: its record is damaged, and no request counts as another. */
  readonly digest: string | null;
  /** The recorded outcome, or the coming one, marked as a duplicate. */
  outcome(onStage?: (stage: CommandStage) => void): Promise<Outcome>;
}

/** A command that has passed the intake. */
export interface AcceptedCommand {
  /** `commandId(command)`. */
  readonly id: string;
  /** Of its operation and its canonical request. */
  readonly digest: string;
  readonly command: Command;
  readonly operation: Operation;
  readonly request: ParsedRequest;
}

/** The dispatcher, for the intake. */
export interface Execution {
  /** Null: the identity is neither in hand nor recorded, so a command under it may begin. */
  find(id: string): KnownCommand | null;
  /** The journal is closed: of no identity is it known that nothing was sent under it. */
  isClosed(): boolean;
  /**
   * Executes a command to its end. Call it right after `find`, so that no second command of the identity
   * comes between.
   */
  begin(accepted: AcceptedCommand, onStage?: (stage: CommandStage) => void): Promise<Outcome>;
  /** Why a command would be refused now; null: it would be sent. Does not begin it. Never rejects. */
  check(accepted: AcceptedCommand): Promise<Outcome | null>;
  /**
   * Refuses a command that never began: audits, counts and publishes it.
   *
   * @returns the outcome for the sender
   */
  refuse(command: Command, outcome: Outcome): Outcome;
  /** The outcome for the sender of a message that is refused before it is a command. */
  reported(effect: Effect, decided: Outcome): Outcome;
}
