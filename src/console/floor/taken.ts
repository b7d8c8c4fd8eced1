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
  /** Occupies a box if all of it is free, and within the drawing. */
  take(box: Box): boolean;
}

const CELL = { width: 4, height: 3 } as const;
const WORD = 32;
const FULL = 0xffffffff;

/** By cells of a grid, a bit for each: comparing each box with all others takes longer. */
export function createTaken({ width, height }: Size): Taken {
  const words = Math.ceil(Math.ceil(width / CELL.width) / WORD) + 1;
  const rows = Math.ceil(height / CELL.height) + 1;
  const bits = new Uint32Array(words * rows);

  /** Calls `look` with each word that a box touches, and the bits of it, until that returns false. */
  function each(box: Box, look: (word: number, mask: number) => boolean): boolean {
    const from = Math.max(0, Math.floor(box.left / CELL.width));
    const to = Math.min(words * WORD - 1, Math.ceil(box.right / CELL.width) - 1);
    const low = Math.min(rows - 1, Math.ceil(box.bottom / CELL.height) - 1);
    for (let row = Math.max(0, Math.floor(box.top / CELL.height)); row <= low; row += 1) {
      for (let word = from >> 5; word <= to >> 5; word += 1) {
        const first = Math.max(0, from - word * WORD);
        const last = Math.min(WORD - 1, to - word * WORD);
        const mask = (FULL << first) & (FULL >>> (WORD - 1 - last));
        if (!look(row * words + word, mask)) return false;
      }
    }
    return true;
  }

  const occupy = (word: number, mask: number) => {
    bits[word] = (bits[word] ?? 0) | mask;
    return true;
  };
  const isFree = (word: number, mask: number) => ((bits[word] ?? 0) & mask) === 0;
  return {
    block: (box) => void each(box, occupy),
    take(box) {
      const isWithin = box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height;
      return isWithin && each(box, isFree) && each(box, occupy);
    },
  };
}
