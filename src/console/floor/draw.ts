import { type Camera, type Size, toPixels } from "./camera.ts";
import {
  BELOW_LINE,
  createGround,
  font,
  type Ink,
  isSame,
  isWithin,
  type Picture,
  viewOf,
} from "./ground.ts";
import { type Label, layoutOf, type PointAt, type Spots } from "./labels.ts";
import { FOOT_PIXELS } from "./picture.ts";
import { type FloorPoint, isPicture, merged, type Scene } from "./scene.ts";
import { createSprites, type Palette, paletteOf, type Sprites } from "./sprites.ts";
import { type Box, type MarkAt, NEAR_PIXELS, type Stack } from "./stacks.ts";
import type { Place } from "./track.ts";

/** With more points than this in sight none is named: few names would find room. */
const NAMED_POINTS = 400;
/** How many widths of texts are cached: notes contain times, and are new again and again. */
const MOST_WIDTHS = 5_000;
/** So often, names look for room anew: of points, and of robots that had none. */
const NAMES_MS = 1_000;
/** From the centre of a mark to that of its badge, in both directions. */
const BADGE = 9;

/** Draws scenes on one canvas. */
export interface Painter {
  /** Replaces the earlier drawing. */
  draw(scene: Scene, camera: Camera, size: Size, picture: Picture | null): void;
}

/** What stands still for a while. */
interface Named {
  readonly of: readonly unknown[];
  readonly atMs: number;
  readonly names: readonly Label[];
  readonly pictures: readonly Box[];
}

/** @param ratio pixels of the screen for each pixel of the drawing */
export function createPainter(ink: Ink, ratio: number): Painter {
  const colours = paletteOf(ink.canvas);
  const sprites = createSprites(ratio, colours);
  const ground = createGround(ratio, colours);
  const widthOf = createWidths(ink);
  const spots: Spots = new Map();
  let named: Named = { of: [], atMs: 0, names: [], pictures: [] };

  /** Names of points stay for a second, and robots' names keep clear of them meanwhile. */
  function arranged(scene: Scene, camera: Camera, size: Size) {
    const of = viewOf(scene.points, camera, size);
    const marks = scene.marks
      .map((mark) => ({ mark, ...toPixels(camera, mark.place) }))
      .filter((at) => isWithin(at, size));
    const isSameView = isSame(named.of, of);
    if (isSameView && performance.now() - named.atMs < NAMES_MS) {
      const fixed = [...named.names, ...named.pictures];
      // The last frame stays: it has all names for which there is room.
      return layoutOf(marks, [], { size, widthOf, spots, fixed, isQuick: scene.isMoving });
    }
    const pictures = isSameView ? named.pictures : fixedBoxes(scene.points, camera, size);
    const parts = { size, widthOf, spots, fixed: pictures };
    const layout = layoutOf(marks, namedPoints(scene.points, camera, size), parts);
    // The same list if nothing has moved: then the ground is not drawn again.
    const names = isSameNames(named.names, layout.pointNames) ? named.names : layout.pointNames;
    named = { of, atMs: performance.now(), names, pictures };
    return layout;
  }

  return {
    draw(scene, camera, size, picture) {
      ink.font = font;
      const { stacks, labels } = arranged(scene, camera, size);
      ground.draw(ink, { points: scene.points, names: named.names, picture }, camera, size);
      ink.font = font;
      ink.lineWidth = 1.5;
      ink.strokeStyle = colours.trail;
      drawLine(ink, scene.trail, camera, []);
      if (scene.direction !== null) drawLine(ink, scene.direction, camera, [6, 6]);
      for (const place of scene.ahead) drawRing(ink, place, camera);
      drawMarks(ink, sprites, colours, stacks);
      drawLabels(ink, colours, labels);
    },
  };
}

function isSameNames(before: readonly Label[], now: readonly Label[]): boolean {
  const textOf = (labels: readonly Label[]) => labels.map(({ text, left, top }) => [text, left, top]).join();
  return textOf(before) === textOf(now);
}

function namedPoints(points: Scene["points"], camera: Camera, size: Size): readonly PointAt[] {
  const seen = points
    .map((point) => ({ ...toPixels(camera, point), name: point.name }))
    .filter((at) => isWithin(at, size));
  return seen.length > NAMED_POINTS ? [] : seen;
}

/** What a name would make unreadable: pictures of points, and the lower edge. */
function fixedBoxes(points: Scene["points"], camera: Camera, size: Size): readonly Box[] {
  const { width, height } = size;
  const foot: Box = { left: 0, top: height - FOOT_PIXELS, right: width, bottom: height };
  const pictures = merged(points, camera)
    .filter(isPicture)
    .map((point) => toPixels(camera, point))
    .filter((at) => isWithin(at, size))
    .map(({ x, y }) => ({ left: x - 9, top: y - 9, right: x + 9, bottom: y + 9 }));
  return [foot, ...pictures];
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
    if (stack !== undefined) sprites.draw(ink, stack.mark, stack.x, stack.y);
  }
  for (const stack of stacks) if (stack.chosenName !== null) drawFrame(ink, colours, stack);
  for (const { mark, x, y, count } of stacks)
    if (count > 1) sprites.drawBadge(ink, mark.emphasis, count, x + BADGE, y - BADGE);
}

/** All lines, then all names. */
function drawLabels(ink: Ink, colours: Palette, labels: readonly Label[]): void {
  ink.font = font;
  ink.lineWidth = 1;
  ink.strokeStyle = colours.trail;
  for (const { leader } of labels) {
    if (leader === null) continue;
    // One by one: a path of all of them is as large as the drawing.
    ink.beginPath();
    ink.moveTo(leader[0], leader[1]);
    ink.lineTo(leader[2], leader[3]);
    ink.stroke();
  }
  for (const { text, left, bottom, isChosen } of labels) {
    ink.fillStyle = isChosen ? colours.chosen : colours.text;
    ink.fillText(text, left, bottom - BELOW_LINE);
  }
}

function drawFrame(ink: Ink, colours: Palette, { x, y }: Stack): void {
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
