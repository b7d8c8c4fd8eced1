import type { DestinationStream } from "pino";

const KEPT_LINES = 50;
const LONGEST_LINE = 2_000;

/** A destination of the log that keeps its last lines. */
export interface RememberedLines extends DestinationStream {
  lastLines(): readonly string[];
}

export function rememberLines(destination: DestinationStream): RememberedLines {
  const lines: string[] = [];
  return {
    write(line) {
      destination.write(line);
      lines.push(line.trimEnd().slice(0, LONGEST_LINE));
      if (lines.length > KEPT_LINES) lines.shift();
    },
    lastLines: () => lines,
  };
}
