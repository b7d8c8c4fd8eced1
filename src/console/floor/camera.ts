import type { FloorPicture } from "../../northbound/web/api/floor-settings.ts";
import { pictureCorners } from "./picture.ts";
import type { Scene } from "./scene.ts";

/** How map coordinates become pixels of the drawing: x to the right, y up. */
export interface Camera {
  readonly pixelsPerUnit: number;
  /** Where the map's origin lies. */
  readonly originX: number;
  readonly originY: number;
}

/** The user's zoom and pan over the view of the whole map, as d3-zoom has it. */
export interface Zoom {
  readonly k: number;
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** With room for the names right of the outermost points. */
const MARGIN_PIXELS = 72;
/** Of a map whose points lie in one place. */
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
  const pixelsPerUnit = Math.min(
    Math.max(1, size.width - 2 * MARGIN_PIXELS) / (right - left),
    Math.max(1, size.height - 2 * MARGIN_PIXELS) / (top - bottom),
  );
  return {
    pixelsPerUnit,
    originX: size.width / 2 - ((left + right) / 2) * pixelsPerUnit,
    originY: size.height / 2 + ((bottom + top) / 2) * pixelsPerUnit,
  };
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

export function zoomed({ pixelsPerUnit, originX, originY }: Camera, { k, x, y }: Zoom): Camera {
  return { pixelsPerUnit: pixelsPerUnit * k, originX: originX * k + x, originY: originY * k + y };
}

export function toPixels(camera: Camera, { x, y }: { readonly x: number; readonly y: number }) {
  return {
    x: camera.originX + x * camera.pixelsPerUnit,
    y: camera.originY - y * camera.pixelsPerUnit,
  };
}

/** A round length that takes between 60 and 150 pixels: 1, 2 or 5 times a power of ten. */
export function scaleLength({ pixelsPerUnit }: Camera): number {
  const longest = 150 / pixelsPerUnit;
  const power = 10 ** Math.floor(Math.log10(longest));
  return [5, 2, 1].map((times) => times * power).find((length) => length <= longest) ?? power;
}
