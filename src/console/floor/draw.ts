import { type Camera, type Size, scaleLength, toPixels } from "./camera.ts";
import type { Emphasis, Mark, Scene } from "./scene.ts";
import type { Place } from "./track.ts";

type Ink = CanvasRenderingContext2D;

const colours = {
  point: "#b0b7bb",
  pointName: "#5f6a70",
  trail: "#90a4ae",
  text: "#263238",
  chosen: "#0d47a1",
} as const;
/** Normal is grey: colour is for what somebody should look at. */
const markColours: Readonly<Record<Emphasis, string>> = {
  normal: "#546e7a",
  abnormal: "#8a5a00",
  alarm: "#b71c1c",
};

const RADIUS = 8;
/** Names of points would cover each other when fewer pixels lie between them. */
const NAMED_POINTS = 400;
const font = "12px system-ui, sans-serif";

/** Draws a scene. Whatever was drawn before is gone. */
export function draw(ink: Ink, scene: Scene, camera: Camera, size: Size): void {
  ink.clearRect(0, 0, size.width, size.height);
  ink.font = font;
  ink.lineWidth = 1.5;
  drawPoints(ink, scene, camera, size);
  drawLine(ink, scene.trail, camera, []);
  if (scene.direction !== null) drawLine(ink, scene.direction, camera, [6, 6]);
  for (const place of scene.ahead) drawRing(ink, place, camera);
  for (const mark of scene.marks) drawMark(ink, mark, camera, size);
  drawScale(ink, camera, size);
}

function drawPoints(ink: Ink, { points }: Scene, camera: Camera, size: Size): void {
  ink.fillStyle = colours.point;
  const seen = points
    .map((point) => ({ ...toPixels(camera, point), name: point.name }))
    .filter((at) => isWithin(at, size));
  for (const { x, y } of seen) ink.fillRect(x - 2.5, y - 2.5, 5, 5);
  if (seen.length > NAMED_POINTS) return;
  ink.fillStyle = colours.pointName;
  for (const { x, y, name } of seen) ink.fillText(name, x + 6, y + 14);
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

function drawMark(ink: Ink, mark: Mark, camera: Camera, size: Size): void {
  const { x, y } = toPixels(camera, mark.place);
  if (!isWithin({ x, y }, size)) return;
  const colour = markColours[mark.emphasis];
  ink.strokeStyle = colour;
  ink.fillStyle = mark.isHollow ? "#fff" : colour;
  ink.beginPath();
  outline(ink, mark.emphasis, x, y);
  ink.fill();
  ink.setLineDash(mark.isHollow ? [3, 3] : []);
  ink.stroke();
  ink.setLineDash([]);
  drawHeading(ink, mark, x, y);
  if (mark.isChosen) {
    ink.strokeStyle = colours.chosen;
    ink.strokeRect(x - 14, y - 14, 28, 28);
  }
  ink.fillStyle = colours.text;
  ink.fillText(mark.note === "" ? mark.name : `${mark.name}: ${mark.note}`, x + 14, y - 4);
}

/** A circle, a diamond or a triangle: the shape says what the colour says. */
function outline(ink: Ink, emphasis: Emphasis, x: number, y: number): void {
  if (emphasis === "normal") {
    ink.arc(x, y, RADIUS, 0, 2 * Math.PI);
    return;
  }
  const corners = emphasis === "alarm" ? 3 : 4;
  for (let corner = 0; corner < corners; corner += 1) {
    const turn = (2 * Math.PI * corner) / corners - Math.PI / 2;
    ink.lineTo(x + 1.3 * RADIUS * Math.cos(turn), y + 1.3 * RADIUS * Math.sin(turn));
  }
  ink.closePath();
}

function drawHeading(ink: Ink, { place: { headingRadians } }: Mark, x: number, y: number): void {
  if (headingRadians === null) return;
  const [right, up] = [Math.cos(headingRadians), Math.sin(headingRadians)];
  ink.beginPath();
  ink.moveTo(x + RADIUS * right, y - RADIUS * up);
  ink.lineTo(x + 1.7 * RADIUS * right, y - 1.7 * RADIUS * up);
  ink.stroke();
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

/** The mark that is nearest to a place of the drawing, within a finger's width; null: none is. */
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
