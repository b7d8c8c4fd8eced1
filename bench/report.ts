import type { PairedRatio } from "./ratio.ts";

/** A figure of the product's reach: met when it is no worse than its limit. */
export interface Reach {
  readonly what: string;
  readonly figure: number;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly met: boolean;
}

/** What a section of the bench found. */
export interface Findings {
  /** For the JSON object. */
  readonly figures: object;
  /** For a person. */
  readonly table: string;
  readonly reach: readonly Reach[];
  /** Why the figures mean nothing; none when they do. */
  readonly faults: readonly string[];
  /** The messages section's own. */
  readonly ratios?: object;
  /** With `--against`: this tree's build ÷ the other. */
  readonly builds?: readonly PairedRatio[];
}

export function atMost(what: string, figure: number, limit: number): Reach {
  return { what, figure, atMost: limit, met: figure <= limit };
}

export function atLeast(what: string, figure: number, limit: number): Reach {
  return { what, figure, atLeast: limit, met: figure >= limit };
}

/** One line a reach. */
export function reachLines(reach: readonly Reach[]): string {
  return reach
    .map(({ what, figure, atMost: most, atLeast: least, met }) => {
      const bound = most === undefined ? `at least ${number(least ?? 0)}` : `at most ${number(most)}`;
      return `  ${met ? "met   " : "MISSED"}  ${what}: ${number(figure)}, ${bound}`;
    })
    .join("\n");
}

const LABEL_WIDTH = 62;
const CELL_WIDTH = 14;

/** A label and its cells, the numbers with as many digits as mean something. */
export function row(label: string, ...cells: readonly (number | string)[]): string {
  const texts = cells.map((cell) => (typeof cell === "string" ? cell : number(cell)).padStart(CELL_WIDTH));
  return `${label.padEnd(LABEL_WIDTH)}${texts.join("")}`;
}

export function number(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
