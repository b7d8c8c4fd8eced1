import type { CommandIdentity, Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";

/** A command of the log, from any protocol. Times are wall time in milliseconds; null: not reached. */
export interface LoggedCommand {
  /** In the order of their receipt; a restart numbers them anew. */
  readonly number: number;
  readonly source: Source;
  /** Null: no id could be read, or it is an act. */
  readonly requestId: string | null;
  readonly operation: string;
  readonly robotId: RobotId | null;
  /** Canonical JSON without secrets; null: it could not be read. */
  readonly requestJson: string | null;
  /** The user for whom the gateway itself sent it; null: a sender sent it. */
  readonly onBehalfOf: Source | null;
  /** Null: it was refused before it was accepted. */
  readonly acceptedAtMs: number | null;
  readonly sentAtMs: number | null;
  readonly finalAtMs: number | null;
  /** Null: not final. */
  readonly ending: Pick<Outcome, "outcome" | "code" | "message" | "missionId" | "evidence"> | null;
  /** What was seen of it after its outcome was `unknown`, as one sentence. */
  readonly foundLater: string | null;
}

/** The newest commands, of this run and of earlier ones. */
export interface CommandLog {
  /** Newest first. */
  newest(): readonly LoggedCommand[];
  /** `look` is called with each command that reaches another stage, until the returned function is called. */
  follow(look: (command: LoggedCommand) => void): () => void;
}

/** The progress of commands, for a log. Synchronous; never throws. */
export interface CommandProgress {
  /** It was accepted, or sent. `request` has no secrets. */
  reached(command: ReachedCommand): void;
  /** Something was seen of a command whose outcome is unknown, and stays so. */
  foundLater(identity: CommandIdentity, text: string): void;
}

export type ReachedCommand = Omit<LoggedCommand, "number" | "finalAtMs" | "ending" | "foundLater">;
