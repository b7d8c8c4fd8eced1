import type { FloorPicture } from "../../northbound/web/api/floor-settings.ts";
import type { Camera } from "./camera.ts";

/** How pixels of a drawing become pixels of the canvas, as `CanvasRenderingContext2D.transform` takes it. */
export type Transform = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/**
 * Lays a drawing on the map by its two anchors: scaled, turned and moved, never stretched. The map's y goes
 * up, that of pixels down.
 */
export function pictureTransform({ first, second }: FloorPicture, camera: Camera): Transform {
  const from = { x: second.pixel.x - first.pixel.x, y: first.pixel.y - second.pixel.y };
  const to = { x: second.map.x - first.map.x, y: second.map.y - first.map.y };
  // Complex numbers: the quotient of both vectors turns and scales.
  const length = from.x * from.x + from.y * from.y;
  const turn = {
    x: (to.x * from.x + to.y * from.y) / length,
    y: (to.y * from.x - to.x * from.y) / length,
  };
  const { x, y } = first.pixel;
  const originX = first.map.x - (turn.x * x + turn.y * y);
  const originY = first.map.y - (turn.y * x - turn.x * y);
  const { pixelsPerUnit: scale } = camera;
  return [
    scale * turn.x,
    -scale * turn.y,
    scale * turn.y,
    scale * turn.x,
    camera.originX + scale * originX,
    camera.originY - scale * originY,
  ];
}
