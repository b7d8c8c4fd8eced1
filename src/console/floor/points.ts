import { iconPaths } from "../icon-paths.ts";
import type { Camera } from "./camera.ts";
import type { FloorPoint, PointShape } from "./scene.ts";

type Ink = CanvasRenderingContext2D;

/** Points that are nearer than this would cover each other. */
const APART_PIXELS = 8;
/** Of a picture, whose paths are drawn on 24 × 24. */
const PICTURE_PIXELS = 16;
const PATH_PIXELS = 24;

const pictures: Partial<Readonly<Record<PointShape, string>>> = {
  station: iconPaths.stations,
  charger: iconPaths.charge,
  home: iconPaths.home,
};

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
    const isFirst = known === undefined || (!(known.shape in pictures) && point.shape in pictures);
    if (isFirst) shown.set(key, point);
  }
  return [...shown.values()];
}

/** Grey, like everything normal. */
export function drawPoint(ink: Ink, shape: PointShape, x: number, y: number): void {
  const picture = pictures[shape];
  if (picture !== undefined) return drawPicture(ink, picture, x, y);
  ink.beginPath();
  switch (shape) {
    case "dot":
      ink.fillRect(x - 2.5, y - 2.5, 5, 5);
      break;
    case "bar":
      ink.fillRect(x - 7, y - 2, 14, 4);
      break;
    case "square":
      ink.rect(x - 5, y - 5, 10, 10);
      break;
    case "ring":
      ink.arc(x, y, 5, 0, 2 * Math.PI);
      break;
    case "cross":
      ink.moveTo(x - 5, y);
      ink.lineTo(x + 5, y);
      ink.moveTo(x, y - 5);
      ink.lineTo(x, y + 5);
  }
  ink.stroke();
}

function drawPicture(ink: Ink, path: string, x: number, y: number): void {
  const scale = PICTURE_PIXELS / PATH_PIXELS;
  ink.save();
  ink.translate(x - PICTURE_PIXELS / 2, y - PICTURE_PIXELS / 2);
  ink.scale(scale, scale);
  ink.lineWidth /= scale;
  ink.stroke(new Path2D(path));
  ink.restore();
}
