import { FolderLocked } from "../platform/folder-lock.ts";
import { describeError } from "../platform/log.ts";
import { FolderNotMade } from "../platform/make-folder.ts";
import { PortTaken } from "../platform/port-taken.ts";
import { StoreTooNew } from "../platform/stores/kept-store.ts";

/**
 * Exit codes of sysexits.h, for service managers. `usage`: an answer is missing or wrong. `data`: a newer
 * program has written the data folder.
 */
export const exitCodes = { ok: 0, failure: 1, usage: 64, data: 65, config: 78 } as const;

/** Answers are missing or wrong, or something is in the way. Nothing was written. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** Each a line. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}

/** Prints why nothing was written, and ends the process. */
export function refuse({ problems }: Refused): never {
  for (const problem of problems) process.stderr.write(`fleetgate: ${problem}\n`);
  process.stderr.write("fleetgate: nothing was written\n");
  process.exit(exitCodes.usage);
}

/** Names the option of a command that sets the port of a listener. */
export type PortOption = (taken: PortTaken) => string;

/**
 * Prints in one line why the command ends, and ends it.
 * @param portOption names the option to change when a port is taken
 */
export function fail(error: unknown, portOption: PortOption): never {
  const taken = portTaken(error);
  const isPlain = [FolderLocked, FolderNotMade, StoreTooNew].some((known) => error instanceof known);
  const reason = error instanceof Error && isPlain ? error.message : describeError(error);
  const line =
    taken === null
      ? reason
      : `port ${taken.port} (${taken.listener}) is taken: free it, or choose another with ${portOption(taken)}`;
  process.stderr.write(`fleetgate: ${line}\n`);
  process.exit(error instanceof StoreTooNew ? exitCodes.data : exitCodes.failure);
}

/** The taken port that an error is about, or was caused by. */
function portTaken(error: unknown): PortTaken | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof PortTaken) return at;
  return null;
}
