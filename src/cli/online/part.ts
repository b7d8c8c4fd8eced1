/** What `fleetgate check --online` found of one part. Nothing in it is secret. */
export interface Part {
  /** As `token`, or with the key it concerns: `connection fleet.https`. */
  readonly part: string;
  readonly state: "ok" | "wrong" | "skipped";
  /** What is right, or what is wrong, or why it was not tried. */
  readonly detail: string;
  /** What to do; empty when there is nothing to do. */
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

/** For a person: one line, and one more that begins with an arrow when there is something to do. */
export function partText({ part, state, detail, advice }: Part): string {
  const line = `  ${state.padEnd(8)} ${part}: ${detail}\n`;
  return advice === "" ? line : `${line}           → ${advice}\n`;
}
