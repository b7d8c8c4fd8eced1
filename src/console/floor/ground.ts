// The part of the floor's drawing that stands still: grid or drawing, points with their names, and the scale.
import type { FloorPicture } from "../../northbound/web/api/floor.ts";
import { iconPaths } from "../icon-paths.ts";
import { type Camera, isSame, isWithin, type Size, scaleLength, toPixels, viewOf } from "./camera.ts";
import type { Label } from "./labels.ts";
import type { Palette } from "./palette.ts";
import { pictureTransform } from "./picture.ts";
import { merged, type PointShape, type Scene } from "./scene.ts";

export type Ink = OffscreenCanvasRenderingContext2D;

export const font = "12px Inter, system-ui, sans-serif";
/** The part of a label's box below the line. */
export const BELOW_LINE = 3;

/** A drawing of the floor, and its position. */
export interface Picture {
  readonly image: ImageBitmap;
  readonly layout: FloorPicture;
}

interface Ground {
  readonly points: Scene["points"];
  readonly names: readonly Label[];
  readonly picture: Picture | null;
  readonly scale: string;
}

/** The part that stands still while marks move: it is drawn once for each view of the map. */
export function createGround(ratio: number, colours: Palette) {
  const canvas = new OffscreenCanvas(1, 1);
  const own = canvas.getContext("2d", { alpha: false });
  let drawn: readonly unknown[] = [];
  return {
    draw(ink: Ink, { points, names, picture, scale }: Ground, camera: Camera, size: Size): void {
      if (own === null) return;
      const wanted = [...viewOf(points, camera, size), names, picture, scale];
      if (!isSame(drawn, wanted)) {
        drawn = wanted;
        canvas.width = Math.round(size.width * ratio);
        canvas.height = Math.round(size.height * ratio);
        own.setTransform(ratio, 0, 0, ratio, 0, 0);
        own.fillStyle = colours.ground;
        own.fillRect(0, 0, size.width, size.height);
        if (picture === null) drawGrid(own, colours, camera, size);
        else drawPicture(own, picture, camera);
        own.font = font;
        own.lineWidth = 1.5;
        own.fillStyle = colours.point;
        own.strokeStyle = colours.pointName;
        for (const point of merged(points, camera)) {
          const at = toPixels(camera, point);
          if (isWithin(at, size)) drawPoint(own, point.shape, at.x, at.y);
        }
        own.fillStyle = colours.pointName;
        for (const { text, left, bottom } of names) own.fillText(text, left, bottom - BELOW_LINE);
        drawScale(own, colours, scale, camera, size);
      }
      ink.drawImage(canvas, 0, 0, size.width, size.height);
    },
  };
}

/** Paler than the values of the service. */
function drawPicture(ink: Ink, { image, layout }: Picture, camera: Camera): void {
  ink.save();
  ink.globalAlpha = 0.5;
  ink.transform(...pictureTransform(layout, camera));
  ink.drawImage(image, 0, 0);
  ink.restore();
}

/** Lines at each length of the scale: without a drawing nothing else says how far apart two places are. */
function drawGrid(ink: Ink, colours: Palette, camera: Camera, { width, height }: Size): void {
  const step = scaleLength(camera) * camera.pixelsPerUnit;
  ink.lineWidth = 1;
  ink.strokeStyle = colours.grid;
  ink.beginPath();
  for (let x = camera.originX - Math.floor(camera.originX / step) * step; x < width; x += step) {
    ink.moveTo(Math.round(x) + 0.5, 0);
    ink.lineTo(Math.round(x) + 0.5, height);
  }
  for (let y = camera.originY - Math.floor(camera.originY / step) * step; y < height; y += step) {
    ink.moveTo(0, Math.round(y) + 0.5);
    ink.lineTo(width, Math.round(y) + 0.5);
  }
  ink.stroke();
}

/** A length, and the directions of the axes. */
function drawScale(ink: Ink, colours: Palette, text: string, camera: Camera, { height }: Size): void {
  const length = scaleLength(camera);
  const [left, bottom] = [16, height - 16];
  ink.strokeStyle = colours.pointName;
  ink.fillStyle = colours.pointName;
  ink.beginPath();
  ink.moveTo(left, bottom - 24);
  ink.lineTo(left, bottom);
  ink.lineTo(left + length * camera.pixelsPerUnit, bottom);
  ink.stroke();
  ink.fillText("y", left - 3, bottom - 28);
  ink.fillText(text, left + 6, bottom - 6);
}

/** Of a picture, whose paths are drawn on 24 × 24. */
const PICTURE_PIXELS = 16;
const PATH_PIXELS = 24;

const pictures: Partial<Readonly<Record<PointShape, string>>> = {
  station: iconPaths.stations,
  charger: iconPaths.charge,
  home: iconPaths.home,
};

/** Grey, like everything normal. */
function drawPoint(ink: Ink, shape: PointShape, x: number, y: number): void {
  const picture = pictures[shape];
  if (picture !== undefined) {
    drawIcon(ink, picture, x, y);
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

function drawIcon(ink: Ink, path: string, x: number, y: number): void {
  const scale = PICTURE_PIXELS / PATH_PIXELS;
  ink.save();
  ink.translate(x - PICTURE_PIXELS / 2, y - PICTURE_PIXELS / 2);
  ink.scale(scale, scale);
  ink.lineWidth /= scale;
  ink.stroke(new Path2D(path));
  ink.restore();
}
