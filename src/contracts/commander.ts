import type { Command, CommandStage, Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * The way of every command, whichever door it came through. A refusal is a
 * value, not an exception; the promise resolves when the outcome is final.
 * Aborting the signal stops the waiting, not the command.
 */
export interface Commander {
  submit(command: Command, signal: AbortSignal, onStage?: (stage: CommandStage) => void): Promise<Outcome>;
}

/** What a door refuses by itself. What could not be read, or is of no robot, is null. */
export interface RefusedRequest {
  readonly source: Source;
  readonly requestId: string | null;
  readonly operation: string;
  readonly robotId: RobotId | null;
  readonly origin?: Command["origin"];
}

/** For a door that is about to refuse by itself. */
export interface CommandLedger {
  /**
   * Whether the identity is in hand, or recorded with its outcome: then `submit`, called at once,
   * sends nothing for it, and nobody may be told that it was not done.
   */
  knows(source: Source, requestId: string): boolean;
  /** Puts a door's own refusal into the audit log, texts cut to what people read. Never throws. */
  refused(request: RefusedRequest, outcome: Outcome): void;
}

/** What the journal still knows of commands: for a door that was interrupted, and does not have the request any more. */
export interface CommandRecords {
  /**
   * The outcome of an earlier command, awaited while it is not final: `onStage` is told at once how far
   * it has come, and what follows. Null when the journal does not know it: then it was never sent, or its
   * entry is no longer kept.
   */
  recall(source: Source, requestId: string, onStage?: (stage: CommandStage) => void): Promise<Outcome | null>;
}
