/** The result of `fleetgate check --online` for one part. It contains no secret. */
export interface Part {
  /** As `token`, or with its key: `connection fleet.https`. */
  readonly part: string;
  readonly state: "ok" | "wrong" | "skipped";
  /** What is right, what is wrong, or why it was not tried. */
  readonly detail: string;
  /** What to do; empty: nothing. */
  readonly advice: string;
}

/** The longest that one try may take. */
export const TRY_MS = 5_000;

export function ok(part: string, detail: string, advice = ""): Part {
  return { part, state: "ok", detail, advice };
}

export function wrong(part: string, detail: string, advice: string): Part {
  return { part, state: "wrong", detail, advice };
}

export function skipped(part: string, detail: string, advice = ""): Part {
  return { part, state: "skipped", detail, advice };
}

/** For people: one line, and another one that begins with an arrow if there is something to do. */
export function partText({ part, state, detail, advice }: Part): string {
  const line = `  ${state.padEnd(8)} ${part}: ${detail}\n`;
  return advice === "" ? line : `${line}           → ${advice}\n`;
}
