import type { Camera } from "./camera.ts";
import type { FloorPoint, PointShape } from "./scene.ts";

/** Points that are nearer than this would cover each other. */
const APART_PIXELS = 8;
/** They say more than the other shapes. */
const pictures: ReadonlySet<PointShape> = new Set(["station", "charger", "home"]);

export function isPicture({ shape }: Pick<FloorPoint, "shape">): boolean {
  return pictures.has(shape);
}

/**
 * Of the points that would cover each other the first one, pictures first. By cells of the map, whose size
 * changes in steps: then nothing flickers while the map is moved.
 */
export function merged(
  points: readonly FloorPoint[],
  { pixelsPerUnit }: Pick<Camera, "pixelsPerUnit">,
): readonly FloorPoint[] {
  const cell = 2 ** Math.ceil(Math.log2(APART_PIXELS / pixelsPerUnit));
  const shown = new Map<string, FloorPoint>();
  for (const point of points) {
    const key = `${Math.floor(point.x / cell)} ${Math.floor(point.y / cell)}`;
    const known = shown.get(key);
    const isFirst = known === undefined || (!isPicture(known) && isPicture(point));
    if (isFirst) shown.set(key, point);
  }
  return [...shown.values()];
}
