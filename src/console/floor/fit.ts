import type { FloorPicture } from "../../northbound/web/api/floor-settings.ts";
import type { Camera, Size } from "./camera.ts";
import { pictureCorners } from "./picture.ts";
import type { Scene } from "./scene.ts";

/** With room for the names right of the outermost points. */
const MARGIN_PIXELS = 72;
/** Of a side at most: otherwise a narrow drawing would be mostly margin. */
const MARGIN_SHARE = 0.1;
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
  const pixelsPerUnit = Math.min(
    withoutMargins(size.width) / (right - left),
    withoutMargins(size.height) / (top - bottom),
  );
  return {
    pixelsPerUnit,
    originX: size.width / 2 - ((left + right) / 2) * pixelsPerUnit,
    originY: size.height / 2 + ((bottom + top) / 2) * pixelsPerUnit,
  };
}

function withoutMargins(side: number): number {
  return Math.max(1, side - 2 * Math.min(MARGIN_PIXELS, MARGIN_SHARE * side));
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
