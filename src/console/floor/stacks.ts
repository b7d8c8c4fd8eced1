import type { Size } from "./camera.ts";
import type { Emphasis, Mark } from "./scene.ts";

/** A mark on the drawing. It may move a little while its layout stays. */
export interface MarkAt {
  mark: Mark;
  x: number;
  y: number;
}

/** Marks that would cover each other, as one: the most severe is drawn, and a badge counts them. */
export interface Stack {
  /** The first by need: it says where the stack is. */
  readonly first: MarkAt;
  /** The most severe: it is drawn. */
  readonly worst: MarkAt;
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
  for (const at of marks) {
    const { mark, x, y } = at;
    const [column, row] = [Math.floor(x / NEAR_PIXELS), Math.floor(y / NEAR_PIXELS)];
    const number = nearIn(cells, stacks, column, row, x, y);
    const found = number === undefined ? undefined : stacks[number];
    const chosenName = mark.isChosen ? mark.name : (found?.chosenName ?? null);
    if (number !== undefined && found !== undefined) {
      const isGraver = severities[mark.emphasis] > severities[found.worst.mark.emphasis];
      const { first, worst, count } = found;
      stacks[number] = { first, worst: isGraver ? at : worst, count: count + 1, chosenName };
      continue;
    }
    const cell = cellOf(column, row);
    const known = cells.get(cell);
    if (known === undefined) cells.set(cell, [stacks.length]);
    else known.push(stacks.length);
    stacks.push({ first: at, worst: at, count: 1, chosenName });
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
        if (stack !== undefined && Math.hypot(stack.first.x - x, stack.first.y - y) < NEAR_PIXELS) return at;
      }
  return undefined;
}

/** A box in pixels. The right and lower edges are outside of it. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** So far marks, and names with them, move before they look for room anew. */
export const SLACK = 1;

/** The occupied parts of a drawing. */
export interface Taken {
  /** Occupies a box, whatever is there. */
  block(box: Box): void;
  /**
   * Occupies a box with `SLACK` around it if all of that is free, and the box within the drawing. It takes
   * numbers, for it is asked 30,000 times a layout: a box for each would be garbage.
   */
  take(left: number, top: number, right: number, bottom: number): boolean;
}

const CELL = { width: 4, height: 3 } as const;
const WORD = 32;
const FULL = 0xffffffff;

/** By cells of a grid, a bit for each: comparing each box with all others takes longer. */
export function createTaken({ width, height }: Size): Taken {
  const words = Math.ceil(Math.ceil(width / CELL.width) / WORD) + 1;
  const rows = Math.ceil(height / CELL.height) + 1;
  const bits = new Uint32Array(words * rows);

  /** Whether none of a box's cells is occupied; with `isOccupying` they all are from now on. */
  function look(left: number, top: number, right: number, bottom: number, isOccupying: boolean): boolean {
    const from = Math.max(0, Math.floor(left / CELL.width));
    const to = Math.min(words * WORD - 1, Math.ceil(right / CELL.width) - 1);
    const low = Math.min(rows - 1, Math.ceil(bottom / CELL.height) - 1);
    for (let row = Math.max(0, Math.floor(top / CELL.height)); row <= low; row += 1) {
      for (let word = from >> 5; word <= to >> 5; word += 1) {
        const first = Math.max(0, from - word * WORD);
        const last = Math.min(WORD - 1, to - word * WORD);
        const mask = (FULL << first) & (FULL >>> (WORD - 1 - last));
        const at = row * words + word;
        const known = bits[at] ?? 0;
        if (isOccupying) bits[at] = known | mask;
        else if ((known & mask) !== 0) return false;
      }
    }
    return true;
  }

  return {
    block: ({ left, top, right, bottom }) => void look(left, top, right, bottom, true),
    take(left, top, right, bottom) {
      const isWithin = left >= 0 && top >= 0 && right <= width && bottom <= height;
      if (!isWithin) return false;
      const [first, high, last, low] = [left - SLACK, top - SLACK, right + SLACK, bottom + SLACK];
      return look(first, high, last, low, false) && look(first, high, last, low, true);
    },
  };
}
