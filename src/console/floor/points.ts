import { iconPaths } from "../icon-paths.ts";
import type { PointShape } from "./scene.ts";

type Ink = CanvasRenderingContext2D;

/** Of a picture, whose paths are drawn on 24 × 24. */
const PICTURE_PIXELS = 16;
const PATH_PIXELS = 24;

const pictures: Partial<Readonly<Record<PointShape, string>>> = {
  station: iconPaths.stations,
  charger: iconPaths.charge,
  home: iconPaths.home,
};

/** Grey, like everything normal. */
export function drawPoint(ink: Ink, shape: PointShape, x: number, y: number): void {
  const picture = pictures[shape];
  if (picture !== undefined) {
    drawPicture(ink, picture, x, y);
    return;
  }
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
