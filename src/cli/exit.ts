import { describeError, PlainError } from "../platform/error-text.ts";
import { PortRefused, PortTaken, refusalAdvice } from "../platform/listener.ts";
import { complain } from "./readable.ts";

/**
 * Exit codes of sysexits.h, for service managers. `usage`: an option or an answer is missing or wrong.
 * `data`: a newer program has written the data folder. `unavailable`: `check --online` found something wrong.
 * `leadershipLost`: another member of the cluster leads, and this one is to be started again.
 */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 64,
  data: 65,
  unavailable: 69,
  leadershipLost: 75,
  config: 78,
} as const;

/** Exit codes of `fleetgate status`, as monitoring programs expect them: ok, warning, critical, unknown. */
export const statusCodes = { up: 0, degraded: 1, down: 2, noAnswer: 3 } as const;

/** Answers are missing or wrong, or a file is in the way. Nothing was written. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** One line each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}

/** Why a command is not possible, as a sentence. */
export class NotPossible extends Error {
  override readonly name = "NotPossible";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The typed text is no valid command, with the reason as a sentence. */
export function malformed(reason: string): NotPossible {
  return new NotPossible(reason, exitCodes.usage);
}

/** Prints why nothing was written, and ends the process. */
export function refuse({ problems }: Refused): never {
  for (const problem of [...problems, "nothing was written"]) complain(problem);
  process.exit(exitCodes.usage);
}

/** Names the option that sets the port of a listener. */
export type PortOption = (wanted: PortTaken | PortRefused) => string;

/**
 * Prints in one line why the command ends, and ends it.
 *
 * @param portOption names the option to change if a port is taken
 */
export function fail(error: unknown, portOption: PortOption): never {
  const wanted = portWanted(error);
  const isPlain = error instanceof PlainError || error instanceof NotPossible;
  const reason = isPlain ? error.message : describeError(error);
  complain(wanted === null ? reason : portLine(wanted, portOption(wanted)));
  process.exit(exitCodeOf(error));
}

function exitCodeOf(error: unknown): number {
  if (error instanceof NotPossible) return error.exitCode;
  return exitCodes[error instanceof PlainError ? error.ending : "failure"];
}

function portLine(wanted: PortTaken | PortRefused, option: string): string {
  const port = `port ${wanted.port} (${wanted.listener})`;
  if (wanted instanceof PortTaken) return `${port} is taken: free it, or choose another with ${option}`;
  return `${port} is refused (${wanted.code}): ${refusalAdvice(wanted.code, wanted.port, option)}`;
}

/** The port that a listener could not get, if an error or its cause names one. */
function portWanted(error: unknown): PortTaken | PortRefused | null {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof PortTaken || at instanceof PortRefused) return at;
  return null;
}
