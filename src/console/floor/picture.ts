import type { FloorPicture } from "../../northbound/web/api/floor.ts";
import type { Camera, Size } from "./camera.ts";
import type { Scene } from "./scene.ts";

/**
 * The transformation of pixels of a drawing into pixels of the canvas, as for
 * `CanvasRenderingContext2D.transform`.
 */
export type Transform = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** The position of a drawing's pixels on the map: turned and scaled by `turn`, then moved. */
interface Laid {
  readonly turn: MapPlace;
  /** Of the drawing's upper left corner. */
  readonly origin: MapPlace;
}

interface MapPlace {
  readonly x: number;
  readonly y: number;
}

/**
 * Places a drawing on the map by its two anchors: scaled, turned and moved, never stretched. The map's y goes
 * up, that of pixels down.
 */
function laid({ first, second }: FloorPicture): Laid {
  const from = { x: second.pixel.x - first.pixel.x, y: first.pixel.y - second.pixel.y };
  const to = { x: second.map.x - first.map.x, y: second.map.y - first.map.y };
  // Complex numbers: the quotient of both vectors turns and scales.
  const length = from.x * from.x + from.y * from.y;
  const turn = {
    x: (to.x * from.x + to.y * from.y) / length,
    y: (to.y * from.x - to.x * from.y) / length,
  };
  const { x, y } = first.pixel;
  const origin = {
    x: first.map.x - (turn.x * x + turn.y * y),
    y: first.map.y - (turn.y * x - turn.x * y),
  };
  return { turn, origin };
}

export function pictureTransform(picture: FloorPicture, camera: Camera): Transform {
  const { turn, origin } = laid(picture);
  const { pixelsPerUnit: scale } = camera;
  return [
    scale * turn.x,
    -scale * turn.y,
    scale * turn.y,
    scale * turn.x,
    camera.originX + scale * origin.x,
    camera.originY - scale * origin.y,
  ];
}

/** The positions of a drawing's corners on the map. */
export function pictureCorners(picture: FloorPicture): readonly MapPlace[] {
  const { turn, origin } = laid(picture);
  const { width, height } = picture;
  const corners = [
    [0, 0],
    [width, 0],
    [0, height],
    [width, height],
  ] as const;
  return corners.map(([x, y]) => ({
    x: origin.x + turn.x * x + turn.y * y,
    y: origin.y + turn.y * x - turn.x * y,
  }));
}

/** With room for the names right of the outermost points. */
const MARGIN_PIXELS = 72;
/** Of a side at most: otherwise a narrow drawing would be mostly margin. */
const MARGIN_SHARE = 0.1;
/** At the lower edge: the scale, the legend and the buttons. */
export const FOOT_PIXELS = 56;
/** Of a map whose points are all in one place. */
const SMALLEST_EXTENT = 10;

/** The camera that shows all points, robots and the whole drawing, before the user's zoom. */
export function fitted(
  { points, marks }: Pick<Scene, "points" | "marks">,
  picture: FloorPicture | null,
  size: Size,
): Camera {
  const corners = picture === null ? [] : pictureCorners(picture);
  const places = [...points, ...marks.map(({ place }) => place), ...corners];
  const [left, right] = rangeOf(places.map(({ x }) => x));
  const [bottom, top] = rangeOf(places.map(({ y }) => y));
  const above = marginOf(size.height);
  const width = Math.max(1, size.width - 2 * marginOf(size.width));
  const height = Math.max(1, size.height - above - Math.max(above, FOOT_PIXELS));
  const pixelsPerUnit = Math.min(width / (right - left), height / (top - bottom));
  return {
    pixelsPerUnit,
    originX: size.width / 2 - ((left + right) / 2) * pixelsPerUnit,
    originY: above + height / 2 + ((bottom + top) / 2) * pixelsPerUnit,
  };
}

function marginOf(side: number): number {
  return Math.min(MARGIN_PIXELS, MARGIN_SHARE * side);
}

function rangeOf(values: readonly number[]): readonly [from: number, to: number] {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    from = Math.min(from, value);
    to = Math.max(to, value);
  }
  if (from > to) return [0, SMALLEST_EXTENT];
  const missing = Math.max(0, SMALLEST_EXTENT - (to - from)) / 2;
  return [from - missing, to + missing];
}
