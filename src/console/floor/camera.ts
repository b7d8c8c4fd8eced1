/** The transformation of map coordinates into pixels of the drawing: x to the right, y up. */
export interface Camera {
  readonly pixelsPerUnit: number;
  /** The position of the map's origin. */
  readonly originX: number;
  readonly originY: number;
}

/** The user's zoom and pan over the view of the whole map, as in d3-zoom. */
export interface Zoom {
  readonly k: number;
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
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

/** What the positions of points depend on. */
export function viewOf(
  points: readonly unknown[],
  camera: Camera,
  { width, height }: Size,
): readonly unknown[] {
  const { pixelsPerUnit, originX, originY } = camera;
  return [points, pixelsPerUnit, originX, originY, width, height];
}

export function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && now.every((value, at) => value === before[at]);
}

/** With room for a name that begins left of the drawing. */
export function isWithin(
  { x, y }: { readonly x: number; readonly y: number },
  { width, height }: Size,
): boolean {
  return x > -200 && x < width + 40 && y > -40 && y < height + 40;
}
