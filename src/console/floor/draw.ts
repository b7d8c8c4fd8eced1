import { createArrangement } from "./arrangement.ts";
import { type Camera, type Size, toPixels } from "./camera.ts";
import { BELOW_LINE, createGround, font, type Ink, type Picture } from "./ground.ts";
import type { Label } from "./labels.ts";
import type { Palette } from "./palette.ts";
import type { Scene } from "./scene.ts";
import { createSprites, onPixel, type Sprites } from "./sprites.ts";
import type { Stack } from "./stacks.ts";
import type { Place } from "./track.ts";

/** How many widths of texts are cached: notes contain times, and are new again and again. */
const MOST_WIDTHS = 5_000;
/** From the centre of a mark to that of its badge, in both directions. */
const BADGE = 9;

/** Draws scenes on one canvas. */
export interface Painter {
  /**
   * Replaces the earlier drawing.
   *
   * @param scale the text of its scale
   */
  draw(scene: Scene, camera: Camera, size: Size, picture: Picture | null, scale: string): void;
}

/** @param ratio pixels of the screen for each pixel of the drawing */
export function createPainter(ink: Ink, ratio: number, colours: Palette): Painter {
  const sprites = createSprites(ratio, colours);
  const ground = createGround(ratio, colours);
  const arrangement = createArrangement(createWidths(ink));

  return {
    draw(scene, camera, size, picture, scale) {
      ink.font = font;
      const { stacks, labels, pointNames } = arrangement.at(scene, camera, size);
      ground.draw(ink, { points: scene.points, names: pointNames, picture, scale }, camera, size);
      ink.font = font;
      ink.lineWidth = 1.5;
      ink.strokeStyle = colours.trail;
      drawLine(ink, scene.trail, camera, []);
      if (scene.direction !== null) drawLine(ink, scene.direction, camera, [6, 6]);
      for (const place of scene.ahead) drawRing(ink, place, camera);
      drawMarks(ink, sprites, colours, stacks);
      drawLabels(ink, colours, labels, ratio);
    },
  };
}

function drawLine(ink: Ink, places: readonly Place[], camera: Camera, dashes: number[]): void {
  if (places.length < 2) return;
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
  ink.beginPath();
  ink.arc(x, y, 6, 0, 2 * Math.PI);
  ink.stroke();
}

/** All marks, then all badges: switching between them for each takes longer. */
function drawMarks(ink: Ink, sprites: Sprites, colours: Palette, stacks: readonly Stack[]): void {
  // By need: the first ones are drawn last.
  for (let at = stacks.length - 1; at >= 0; at -= 1) {
    const stack = stacks[at];
    if (stack !== undefined) sprites.draw(ink, stack.worst.mark, stack.first.x, stack.first.y);
  }
  for (const stack of stacks) if (stack.chosenName !== null) drawFrame(ink, colours, stack);
  for (const { first, worst, count } of stacks)
    if (count > 1) sprites.drawBadge(ink, worst.mark.emphasis, count, first.x + BADGE, first.y - BADGE);
}

/** All lines, then all names. */
function drawLabels(ink: Ink, colours: Palette, labels: readonly Label[], ratio: number): void {
  ink.font = font;
  ink.lineWidth = 1;
  ink.strokeStyle = colours.trail;
  for (const { leader, of } of labels) {
    if (leader === null) continue;
    // One by one: a path of all of them is as large as the drawing.
    ink.beginPath();
    ink.moveTo(of.x + leader[0], of.y + leader[1]);
    ink.lineTo(of.x + leader[2], of.y + leader[3]);
    ink.stroke();
  }
  ink.fillStyle = colours.text;
  for (const { text, of, toLeft, toBottom, isChosen } of labels) {
    const [left, line] = [onPixel(of.x, ratio) + toLeft, onPixel(of.y, ratio) + toBottom - BELOW_LINE];
    if (isChosen) drawChosenName(ink, colours, text, left, line);
    else ink.fillText(text, left, line);
  }
}

/** Its way may lie below: letters with an edge can be read there. */
function drawChosenName(ink: Ink, colours: Palette, text: string, left: number, line: number): void {
  ink.save();
  ink.lineWidth = 4;
  ink.lineJoin = "round";
  ink.strokeStyle = colours.ground;
  ink.strokeText(text, left, line);
  ink.fillStyle = colours.chosen;
  ink.fillText(text, left, line);
  ink.restore();
}

function drawFrame(ink: Ink, colours: Palette, { first: { x, y } }: Stack): void {
  ink.lineWidth = 2;
  ink.strokeStyle = colours.chosen;
  ink.beginPath();
  ink.arc(x, y, 15, 0, 2 * Math.PI);
  ink.stroke();
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
