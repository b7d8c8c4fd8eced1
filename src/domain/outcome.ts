import { clip } from "./clip.ts";
import type { CommandStage } from "./command.ts";
import type { ErrorName } from "./errors.ts";

/**
 * How a command may end (docs/commands.md, Outcomes). `unknown` is not failure: the robot may have acted.
 */
export type OutcomeName = "succeeded" | "refused" | "expired" | "unknown" | "probably_succeeded" | "checked";

/** The answer to a command's sender. `code` is OK with `succeeded`, `probably_succeeded` and `checked`. */
export interface Outcome {
  readonly outcome: OutcomeName;
  readonly code: ErrorName;
  /** What was wrong, where, and what would be right; or a remark about the answer. Empty: nothing. */
  readonly message: string;
  /** Whether nothing moves twice if the sender sends it again as a new command. */
  readonly retrySafe: boolean;
  /** The service's answer as snake_case JSON text; null when there was none. */
  readonly responseJson: string | null;
  /** The mission that the command made, if the service named one. */
  readonly missionId: string | null;
  /** The message and the values that show it, if the outcome was inferred. */
  readonly evidence: string | null;
  /** Whether this is the recorded outcome of the same command sent before. */
  readonly duplicate: boolean;
}

/** The service, a driver or a sender may say more; a reply and a log line must stay readable. */
const LONGEST_MESSAGE = 1_000;

/** A refusal before anything was sent. */
export function refusal(code: ErrorName, message: string, retrySafe = true): Outcome {
  return ending("refused", code, message, retrySafe);
}

/** The end of a dry run: nothing would have refused the command now. */
export function checked(message = ""): Outcome {
  return ending("checked", "OK", `dry run: nothing was sent${message === "" ? "" : `; ${message}`}`, true);
}

/** An outcome without an answer of the service. */
export function ending(outcome: OutcomeName, code: ErrorName, message: string, retrySafe: boolean): Outcome {
  return {
    outcome,
    code,
    message: clip(message, LONGEST_MESSAGE),
    retrySafe,
    responseJson: null,
    missionId: null,
    evidence: null,
    duplicate: false,
  };
}

/** The states of a command by number, as a PLC reads them in `Outcome` (docs/commands.md, Outcomes). */
export const outcomeNumbers = {
  idle: 0,
  accepted: 1,
  sent: 2,
  succeeded: 3,
  refused: 4,
  expired: 5,
  unknown: 6,
  probably_succeeded: 7,
  checked: 8,
} as const satisfies Record<OutcomeName | CommandStage | "idle", number>;

/** The meaning of each state, for people: one wording for docs/commands.md and the console. */
export const outcomeMeanings = {
  idle: "no command yet, or it is not recorded yet",
  accepted: "recorded, not sent yet",
  sent: "on its way; not final",
  succeeded: "the service says that it took the command. Whether the robot arrives is shown by its mission",
  refused: "it was not done, and the code gives the reason",
  expired: "it was never sent, and will not be",
  unknown: "the robot may have acted, or may act later. Look at it before anything is sent again",
  probably_succeeded:
    "the call ended without an answer; the evidence says what shows that it was done all the same",
  checked: "a dry run (dryRun of an OPC UA user): nothing would refuse it now, and nothing was sent",
} as const satisfies Record<keyof typeof outcomeNumbers, string>;
