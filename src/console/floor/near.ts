import { type Camera, toPixels } from "./camera.ts";
import type { FloorPoint, Scene } from "./scene.ts";
import { type MarkAt, NEAR_PIXELS } from "./stacks.ts";

/**
 * The robot at a point of the drawing, within a finger's width; null: none. At a stack each click chooses the
 * next one.
 */
export function robotNear(
  { marks }: Scene,
  camera: Camera,
  at: { readonly x: number; readonly y: number },
): string | null {
  const placed = marks.map((mark): MarkAt => ({ mark, ...toPixels(camera, mark.place) }));
  let [nearest, nearestPixels]: [MarkAt | null, number] = [null, 22];
  for (const each of placed) {
    const pixels = Math.hypot(each.x - at.x, each.y - at.y);
    if (pixels <= nearestPixels) [nearest, nearestPixels] = [each, pixels];
  }
  if (nearest === null) return null;
  const { x, y, mark } = nearest;
  const stack = placed.filter((each) => Math.hypot(each.x - x, each.y - y) < NEAR_PIXELS);
  const chosen = stack.find((each) => each.mark.isChosen);
  if (chosen === undefined) return mark.robotId;
  const ids = stack.map((each) => each.mark.robotId).sort();
  return ids[(ids.indexOf(chosen.mark.robotId) + 1) % ids.length] ?? null;
}

/** The point nearest to a place of the drawing, within a finger's width; null: none. */
export function pointNear(
  { points }: Scene,
  camera: Camera,
  at: { readonly x: number; readonly y: number },
): FloorPoint | null {
  let [nearest, nearestPixels]: [FloorPoint | null, number] = [null, 22];
  for (const point of points) {
    const { x, y } = toPixels(camera, point);
    const pixels = Math.hypot(x - at.x, y - at.y);
    if (pixels <= nearestPixels) [nearest, nearestPixels] = [point, pixels];
  }
  return nearest;
}
