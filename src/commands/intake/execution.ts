import type { Operation, ParsedRequest } from "../../contracts/operation.ts";
import type { Command, CommandStage, Effect } from "../../domain/command.ts";
import type { Outcome } from "../../domain/outcome.ts";

/** An identity that is in hand or recorded. */
export interface KnownCommand {
  /** Null when its record is damaged: then no request counts as another. */
  readonly digest: string | null;
  /** The recorded outcome, or the one to come, marked as a duplicate. */
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

/** What the intake asks of the dispatcher. */
export interface Execution {
  /** Null: the identity is neither in hand nor recorded, so a command under it may begin. */
  find(id: string): KnownCommand | null;
  /** The journal is closed: of no identity it can be said that nothing was sent under it. */
  isClosed(): boolean;
  /**
   * Brings a command to its end. To be called at once after `find`, so that no second one slips in between.
   */
  begin(accepted: AcceptedCommand, onStage?: (stage: CommandStage) => void): Promise<Outcome>;
  /** Why a command would be refused now; null when it would be sent. It is not begun. Never rejects. */
  check(accepted: AcceptedCommand): Promise<Outcome | null>;
  /** Refuses a command that never began: audited, counted, and told as an event. @returns what is told */
  refuse(command: Command, outcome: Outcome): Outcome;
  /** What the sender of a command is told that is refused before it is one. */
  told(effect: Effect, decided: Outcome): Outcome;
}
