import type { FloorPicture } from "../../northbound/web/api/floor-settings.ts";
import { type Camera, type Size, scaleLength, toPixels } from "./camera.ts";
import { createTaken, LABEL_HEIGHT, type MarkAt, placeLabels } from "./labels.ts";
import { pictureTransform } from "./picture.ts";
import type { Mark, PointShape, Scene } from "./scene.ts";
import { createSprites, type Sprites } from "./sprites.ts";
import type { Place } from "./track.ts";

type Ink = CanvasRenderingContext2D;

const colours = {
  ground: "#fff",
  point: "#b0b7bb",
  pointName: "#5f6a70",
  trail: "#90a4ae",
  text: "#263238",
  chosen: "#0d47a1",
} as const;

/** With more points than this, their names would cover each other. */
const NAMED_POINTS = 400;
/** How many widths of texts are cached: notes contain times, and are new again and again. */
const MOST_WIDTHS = 5_000;
/** The part of a label's box below the line. */
const BELOW_LINE = 3;
const font = "12px system-ui, sans-serif";

/** Draws scenes on one canvas. */
export interface Painter {
  /** Replaces the earlier drawing. */
  draw(scene: Scene, camera: Camera, size: Size, picture: Picture | null): void;
}

/** A drawing of the floor, and its position. */
export interface Picture {
  readonly image: CanvasImageSource;
  readonly layout: FloorPicture;
}

/** @param ratio pixels of the screen for each pixel of the drawing */
export function createPainter(ink: Ink, ratio: number): Painter {
  const sprites = createSprites(ratio);
  const ground = createGround(ratio);
  const widthOf = createWidths(ink);
  return {
    draw(scene, camera, size, picture) {
      ground.draw(ink, scene.points, camera, size, picture);
      ink.font = font;
      ink.lineWidth = 1.5;
      drawLine(ink, scene.trail, camera, []);
      if (scene.direction !== null) drawLine(ink, scene.direction, camera, [6, 6]);
      for (const place of scene.ahead) drawRing(ink, place, camera);
      drawMarks(ink, sprites, scene.marks, camera, size, widthOf);
    },
  };
}

/** The part that stands still while marks move: it is drawn once for each view of the map. */
function createGround(ratio: number) {
  const canvas = document.createElement("canvas");
  const own = canvas.getContext("2d", { alpha: false });
  let drawn: readonly unknown[] = [];
  return {
    draw(ink: Ink, points: Scene["points"], camera: Camera, size: Size, picture: Picture | null): void {
      if (own === null) return;
      const { pixelsPerUnit, originX, originY } = camera;
      const wanted = [points, pixelsPerUnit, originX, originY, size.width, size.height, picture];
      if (wanted.some((value, at) => value !== drawn[at])) {
        drawn = wanted;
        canvas.width = Math.round(size.width * ratio);
        canvas.height = Math.round(size.height * ratio);
        own.setTransform(ratio, 0, 0, ratio, 0, 0);
        own.fillStyle = colours.ground;
        own.fillRect(0, 0, size.width, size.height);
        if (picture !== null) drawPicture(own, picture, camera);
        own.font = font;
        own.lineWidth = 1.5;
        drawPoints(own, points, camera, size);
        drawScale(own, camera, size);
      }
      ink.drawImage(canvas, 0, 0, size.width, size.height);
    },
  };
}

function drawPoints(ink: Ink, points: Scene["points"], camera: Camera, size: Size): void {
  ink.fillStyle = colours.point;
  const seen = points
    .map((point) => ({ ...toPixels(camera, point), name: point.name, shape: point.shape }))
    .filter((at) => isWithin(at, size));
  ink.strokeStyle = colours.point;
  for (const { x, y, shape } of seen) drawPoint(ink, shape, x, y);
  if (seen.length > NAMED_POINTS) return;
  ink.fillStyle = colours.pointName;
  const taken = createTaken(size);
  for (const { x, y, name } of seen) {
    const { width } = ink.measureText(name);
    const left = x + 6 + width > size.width ? x - 6 - width : x + 6;
    if (taken.take(left, y + 14 + BELOW_LINE, width)) ink.fillText(name, left, y + 14);
  }
}

/** Grey, like everything normal. */
function drawPoint(ink: Ink, shape: PointShape, x: number, y: number): void {
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

/** Paler than the values of the service. */
function drawPicture(ink: Ink, { image, layout }: Picture, camera: Camera): void {
  ink.save();
  ink.globalAlpha = 0.5;
  ink.transform(...pictureTransform(layout, camera));
  ink.drawImage(image, 0, 0);
  ink.restore();
}

function drawLine(ink: Ink, places: readonly Place[], camera: Camera, dashes: number[]): void {
  if (places.length < 2) return;
  ink.strokeStyle = colours.trail;
  ink.setLineDash(dashes);
  ink.beginPath();
  for (const place of places) {
    const { x, y } = toPixels(camera, place);
    ink.lineTo(x, y);
  }
  ink.stroke();
  ink.setLineDash([]);
}

function drawRing(ink: Ink, place: Place, camera: Camera): void {
  const { x, y } = toPixels(camera, place);
  ink.strokeStyle = colours.trail;
  ink.beginPath();
  ink.arc(x, y, 6, 0, 2 * Math.PI);
  ink.stroke();
}

/** All marks, then all names: switching between them for each takes longer. */
function drawMarks(
  ink: Ink,
  sprites: Sprites,
  marks: readonly Mark[],
  camera: Camera,
  size: Size,
  widthOf: (text: string) => number,
): void {
  const seen = marks
    .map((mark) => ({ mark, ...toPixels(camera, mark.place) }))
    .filter((at) => isWithin(at, size));
  for (const { mark, x, y } of seen) sprites.draw(ink, mark, x, y);
  for (const at of seen) if (at.mark.isChosen) drawFrame(ink, at);
  ink.fillStyle = colours.text;
  const labels = placeLabels(seen, size, widthOf);
  for (const { text, left, bottom, isChosen } of labels)
    if (!isChosen) ink.fillText(text, left, bottom - BELOW_LINE);
  for (const { text, left, bottom, isChosen } of labels) {
    if (!isChosen) continue;
    // Marks and names of points may be below it.
    ink.fillStyle = colours.ground;
    ink.fillRect(left + 1, bottom - LABEL_HEIGHT, widthOf(text) - 2, LABEL_HEIGHT);
    ink.fillStyle = colours.chosen;
    ink.fillText(text, left, bottom - BELOW_LINE);
  }
}

function drawFrame(ink: Ink, { x, y }: MarkAt): void {
  ink.strokeStyle = colours.chosen;
  ink.strokeRect(x - 14, y - 14, 28, 28);
}

/** The widths of texts, cached: measuring a thousand in each frame takes longer than drawing them. */
function createWidths(ink: Ink): (text: string) => number {
  const widths = new Map<string, number>();
  return (text) => {
    const known = widths.get(text);
    if (known !== undefined) return known;
    if (widths.size >= MOST_WIDTHS) widths.clear();
    const { width } = ink.measureText(text);
    widths.set(text, width);
    return width;
  };
}

/** A length, and the directions of the axes. */
function drawScale(ink: Ink, camera: Camera, { height }: Size): void {
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
  ink.fillText(`x, ${length} map units`, left + 6, bottom - 6);
}

/** With room for a name that begins left of the drawing. */
function isWithin({ x, y }: { readonly x: number; readonly y: number }, { width, height }: Size): boolean {
  return x > -200 && x < width + 40 && y > -40 && y < height + 40;
}

/** The mark nearest to a point of the drawing, within a finger's width; null: none. */
export function markNear(
  { marks }: Scene,
  camera: Camera,
  at: { readonly x: number; readonly y: number },
): Mark | null {
  let [nearest, nearestPixels]: [Mark | null, number] = [null, 22];
  for (const mark of marks) {
    const { x, y } = toPixels(camera, mark.place);
    const pixels = Math.hypot(x - at.x, y - at.y);
    if (pixels > nearestPixels) continue;
    [nearest, nearestPixels] = [mark, pixels];
  }
  return nearest;
}
