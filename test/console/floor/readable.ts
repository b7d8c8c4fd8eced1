import { expect } from "vitest";
import type { Label, Layout } from "../../../src/console/floor/labels.ts";
import type { Box, MarkAt, Stack } from "../../../src/console/floor/stacks.ts";

export const markAt = (
  robotId: string,
  x: number,
  y: number,
  changes: Partial<MarkAt["mark"]> = {},
): MarkAt => ({
  mark: {
    ...{
      robotId,
      name: robotId,
      note: "",
      emphasis: "normal",
      isChosen: false,
      isHollow: false,
      family: "cart",
    },
    place: { x: 0, y: 0, headingRadians: null },
    ...changes,
  },
  x,
  y,
});

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Pairs of boxes that lie over each other. */
function overlapsOf(boxes: readonly Box[]): ReadonlyArray<readonly [Box, Box]> {
  return boxes.flatMap((box, at) =>
    boxes.slice(at + 1).flatMap((other) => (overlaps(box, other) ? [[box, other] as const] : [])),
  );
}

/** From the centre of each shape to its corners, as it is drawn, with its line. */
const reaches = { normal: 8.75, abnormal: 11.5, alarm: 11.9 };

/** The text where it is drawn: it moves with what it names. */
function drawnBoxOf({ of, toLeft, toBottom, left, right, top, bottom }: Label): Box {
  const [x, y] = [Math.round(of.x) + toLeft, Math.round(of.y) + toBottom];
  return { left: x, right: x + right - left, top: y - (bottom - top), bottom: y };
}

/** What is drawn of a stack. Its badge is a circle at the upper right. */
function drawnBoxesOf({ first: { x, y }, worst: { mark }, count }: Stack): readonly Box[] {
  const around = (right: number, down: number, reach: number) => ({
    ...{ left: x + right - reach, right: x + right + reach },
    ...{ top: y + down - reach, bottom: y + down + reach },
  });
  const own = around(0, 0, reaches[mark.emphasis]);
  return count > 1 ? [own, around(9, -9, 8.75)] : [own];
}

/** No name lies over another one or over a mark, where they are drawn. */
export function expectReadable({ stacks, labels }: Layout, pointNames: readonly Label[]): void {
  const names = [...labels, ...pointNames].map(drawnBoxOf);
  expect(overlapsOf(names)).toEqual([]);
  for (const name of names)
    expect(stacks.filter((stack) => drawnBoxesOf(stack).some((box) => overlaps(box, name)))).toEqual([]);
}
