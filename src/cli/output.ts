import { plainLines } from "../platform/plain-text.ts";

/** Prints text in which others may have chosen words: of control characters only line ends pass. */
export function say(text: string): void {
  process.stdout.write(`${plainLines(text)}\n`);
}

/** The same on standard error, as a problem of this program. */
export function complain(problem: string): void {
  process.stderr.write(`fleetgate: ${plainLines(problem)}\n`);
}
