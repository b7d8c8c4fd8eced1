import type { Command, CommandStage, Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";

/**
 * The way of every command, whichever door it came through. A refusal is a
 * value, not an exception; the promise resolves when the outcome is final.
 * Aborting the signal stops the waiting, not the command.
 */
export interface Commander {
  submit(command: Command, signal: AbortSignal, onStage?: (stage: CommandStage) => void): Promise<Outcome>;
}

/** What the journal still knows of commands: for a door that was interrupted, and does not have the request any more. */
export interface CommandRecords {
  /**
   * The outcome of an earlier command, awaited while it is not final. Null when the
   * journal does not know it: then it was never sent, or its entry is no longer kept.
   */
  recall(source: Source, requestId: string): Promise<Outcome | null>;
}
