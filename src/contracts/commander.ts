import type { Command, CommandStage } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";

/**
 * The way of every command, whichever door it came through. A refusal is a
 * value, not an exception; the promise resolves when the outcome is final.
 * Aborting the signal stops the waiting, not the command.
 */
export interface Commander {
  submit(command: Command, signal: AbortSignal, onStage?: (stage: CommandStage) => void): Promise<Outcome>;
}
