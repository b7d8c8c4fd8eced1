/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error as one string with its chain of causes: stack traces stay out of production logs. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  let at: unknown = error;
  for (let depth = 0; at !== undefined && at !== null && depth < 5; depth += 1) {
    parts.push(at instanceof Error ? `${at.name}: ${at.message}` : String(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return parts.join(" ← ");
}

/** An error whose message is a whole sentence for the person who has started the program. */
export class PlainError extends Error {
  /** What it means for a service manager: `exitCodes` of the program has the numbers. */
  readonly ending: "failure" | "usage" | "data" | "config" = "failure";
}

/** Whether it is an error of the operating system with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
