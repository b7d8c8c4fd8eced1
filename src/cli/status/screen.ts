/** The part of a terminal that a screen needs. */
export interface ScreenOutput {
  readonly rows?: number;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A terminal on which each text replaces the last one. */
export interface Screen {
  /** Lines without control characters. Longer text is cut off. */
  show(lines: readonly string[]): void;
}

const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ALL = "\x1b[2J";

export function createScreen(output: ScreenOutput): Screen {
  let isFirst = true;
  return {
    show(lines) {
      // A serial console reports 0, because it does not know its size.
      const columns = output.columns || 80;
      const room = (output.rows || 24) - 1;
      const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), "…"];
      const text = shown.map((line) => `${cut(line, columns)}${CLEAR_LINE}\n`).join("");
      output.write(`${isFirst ? CLEAR_ALL : ""}${HOME}${text}${CLEAR_BELOW}`);
      isFirst = false;
    },
  };
}

function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
