import type { FloorPicture } from "../../northbound/web/api/floor-settings.ts";
import type { Camera } from "./camera.ts";

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
