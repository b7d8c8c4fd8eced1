import type { Size } from "./camera.ts";

/** A box in pixels. The right and lower edges are outside of it. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The occupied parts of a drawing. */
export interface Taken {
  /** Occupies a box, whatever is there. */
  block(box: Box): void;
  /**
   * Occupies a box if all of it is free, and within the drawing. It takes numbers, for it is asked 30,000
   * times a frame: a box for each would be garbage.
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
      if (!isWithin || !look(left, top, right, bottom, false)) return false;
      return look(left, top, right, bottom, true);
    },
  };
}
