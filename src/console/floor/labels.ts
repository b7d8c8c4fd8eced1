import type { Size } from "./camera.ts";
import type { Emphasis, Mark } from "./scene.ts";

/** A mark on the drawing. */
export interface MarkAt {
  readonly mark: Pick<Mark, "robotId" | "name" | "note" | "emphasis" | "isChosen">;
  readonly x: number;
  readonly y: number;
}

/** A text of one line. This is the lower left corner of its box. */
export interface Label {
  readonly text: string;
  readonly left: number;
  readonly bottom: number;
  readonly isChosen: boolean;
}

export const LABEL_HEIGHT = 14;
/** From the centre of a mark to its name. */
const RIGHT = 14;
/** From the centre of a mark down to the box of its name. */
const DOWN = -1;
const CELL = { width: 7, height: 3 } as const;
const ranks: Readonly<Record<Emphasis, number>> = { alarm: 1, abnormal: 2, normal: 3 };

/**
 * Chooses the names that can be read: none covers another. The chosen robot always has its name, then alarms,
 * then unusual states, each by id, so that a name does not come and go while its robot stands. A name is
 * drawn without its note if only that fits.
 *
 * @param widthOf the width of a text in pixels
 */
export function placeLabels(
  marks: readonly MarkAt[],
  size: Size,
  widthOf: (text: string) => number,
): readonly Label[] {
  const taken = createTaken(size);
  return [...marks].sort(byRank).flatMap(({ mark, x, y }) => {
    const { name, note, isChosen } = mark;
    // Whole pixels: drawing text between them takes longer.
    const bottom = Math.round(y + DOWN);
    // Left of the mark at the edge of the drawing.
    const leftOf = (width: number) =>
      Math.round(x + RIGHT + width > size.width ? x - RIGHT - width : x + RIGHT);
    const place = (text: string): Label | null => {
      const width = widthOf(text);
      const left = leftOf(width);
      const isFree = taken.take(left, bottom, width);
      return isFree || isChosen ? { text, left, bottom, isChosen } : null;
    };
    if (note === "") return place(name) ?? [];
    return place(`${name}: ${note}`) ?? place(name) ?? [];
  });
}

function byRank({ mark: a }: MarkAt, { mark: b }: MarkAt): number {
  if (a.isChosen !== b.isChosen) return a.isChosen ? -1 : 1;
  return byNeed(a, b);
}

type Needed = Pick<Mark, "robotId" | "emphasis">;

/** The order of names by need: alarms, then unusual states, each by id. */
function byNeed(a: Needed, b: Needed): number {
  const difference = ranks[a.emphasis] - ranks[b.emphasis];
  if (difference !== 0) return difference;
  return a.robotId < b.robotId ? -1 : 1;
}

/**
 * In the order of drawing: alarms are on top. Names are placed in the reverse order, which is then available
 * at once in each frame.
 */
export function inDrawingOrder<T extends Needed>(robots: readonly T[]): readonly T[] {
  return [...robots].sort((a, b) => byNeed(b, a));
}

/** The occupied boxes, by cells of a grid: comparing each with all others takes longer. */
export function createTaken({ width, height }: Size) {
  const columns = Math.ceil(width / CELL.width) + 2;
  const rows = Math.ceil(height / CELL.height) + 2;
  const cells = new Uint8Array(columns * rows);
  // Boxes outside of the drawing share the cells of its edge, which nobody sees.
  const column = (x: number) => Math.min(columns - 1, Math.max(0, Math.floor(x / CELL.width) + 1));
  const row = (y: number) => Math.min(rows - 1, Math.max(0, Math.floor(y / CELL.height) + 1));
  return {
    /** Occupies a box if all of it is free. */
    take(left: number, bottom: number, boxWidth: number): boolean {
      const [from, to] = [column(left), column(left + boxWidth)];
      const [top, low] = [row(bottom - LABEL_HEIGHT), row(bottom - 1)];
      for (let y = top; y <= low; y += 1)
        for (let x = from; x <= to; x += 1) if (cells[y * columns + x] === 1) return false;
      for (let y = top; y <= low; y += 1) cells.fill(1, y * columns + from, y * columns + to + 1);
      return true;
    },
  };
}
