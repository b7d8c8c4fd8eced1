import type { Emphasis, Mark } from "./scene.ts";

/** A mark on the drawing. */
export interface MarkAt {
  readonly mark: Mark;
  readonly x: number;
  readonly y: number;
}

/** Marks that would cover each other, as one: the most severe is drawn, and a badge counts them. */
export interface Stack {
  /** The mark that is drawn. */
  readonly mark: Mark;
  readonly x: number;
  readonly y: number;
  readonly count: number;
  /** The name of the chosen robot, if it is one of them; null: it is not. */
  readonly chosenName: string | null;
}

/** Marks that are nearer than this are one. At this distance a circle covers a seventh of another one. */
export const NEAR_PIXELS = 12;
const severities: Readonly<Record<Emphasis, number>> = { alarm: 2, abnormal: 1, normal: 0 };

/** @param marks by need: in a stack the first one says where it is */
export function stacksOf(marks: readonly MarkAt[]): readonly Stack[] {
  const stacks: Stack[] = [];
  /** The numbers of stacks, by cells that are as wide as marks may be near. */
  const cells = new Map<number, number[]>();
  for (const { mark, x, y } of marks) {
    const [column, row] = [Math.floor(x / NEAR_PIXELS), Math.floor(y / NEAR_PIXELS)];
    const at = nearIn(cells, stacks, column, row, x, y);
    const found = at === undefined ? undefined : stacks[at];
    const chosenName = mark.isChosen ? mark.name : (found?.chosenName ?? null);
    if (at !== undefined && found !== undefined) {
      const isGraver = severities[mark.emphasis] > severities[found.mark.emphasis];
      stacks[at] = { ...found, mark: isGraver ? mark : found.mark, count: found.count + 1, chosenName };
      continue;
    }
    const cell = cellOf(column, row);
    const known = cells.get(cell);
    if (known === undefined) cells.set(cell, [stacks.length]);
    else known.push(stacks.length);
    stacks.push({ mark, x, y, count: 1, chosenName });
  }
  return stacks;
}

function cellOf(column: number, row: number): number {
  return row * 65_536 + column;
}

function nearIn(
  cells: ReadonlyMap<number, readonly number[]>,
  stacks: readonly Stack[],
  column: number,
  row: number,
  x: number,
  y: number,
): number | undefined {
  for (let down = row - 1; down <= row + 1; down += 1)
    for (let right = column - 1; right <= column + 1; right += 1)
      for (const at of cells.get(cellOf(right, down)) ?? []) {
        const stack = stacks[at];
        if (stack !== undefined && Math.hypot(stack.x - x, stack.y - y) < NEAR_PIXELS) return at;
      }
  return undefined;
}
