import type { FloorPicture } from "../../northbound/web/api/floor.ts";
import { numberText, say } from "../texts/texts.ts";
import { type Camera, type Size, scaleLength, toPixels } from "./camera.ts";
import { type Label, layoutOf, type PointAt, type Spots } from "./labels.ts";
import { pictureTransform } from "./picture.ts";
import { drawPoint } from "./points.ts";
import { type FloorPoint, isPicture, merged, type Scene } from "./scene.ts";
import { createSprites, type Palette, paletteOf, type Sprites } from "./sprites.ts";
import { type Box, type MarkAt, NEAR_PIXELS, type Stack } from "./stacks.ts";
import type { Place } from "./track.ts";

type Ink = CanvasRenderingContext2D;

/** With more points than this in sight none is named: few names would find room. */
const NAMED_POINTS = 400;
/** How many widths of texts are cached: notes contain times, and are new again and again. */
const MOST_WIDTHS = 5_000;
/** The names of points leave room for robots that have moved, so often. */
const NAMES_MS = 1_000;
/** The part of a label's box below the line. */
const BELOW_LINE = 3;
const font = "12px Inter, system-ui, sans-serif";
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

/** A drawing of the floor, and its position. */
export interface Picture {
  readonly image: CanvasImageSource;
  readonly layout: FloorPicture;
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
    if (isSameView && performance.now() - named.atMs < NAMES_MS)
      return layoutOf(marks, [], { size, widthOf, spots, fixed: [...named.names, ...named.pictures] });
    const pictures = isSameView ? named.pictures : pictureBoxes(scene.points, camera, size);
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

/** What the positions of points depend on. */
function viewOf(points: Scene["points"], camera: Camera, { width, height }: Size): readonly unknown[] {
  const { pixelsPerUnit, originX, originY } = camera;
  return [points, pixelsPerUnit, originX, originY, width, height];
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && now.every((value, at) => value === before[at]);
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

/** The parts of points that a name would make unreadable. */
function pictureBoxes(points: Scene["points"], camera: Camera, size: Size): readonly Box[] {
  return merged(points, camera)
    .filter(isPicture)
    .map((point) => toPixels(camera, point))
    .filter((at) => isWithin(at, size))
    .map(({ x, y }) => ({ left: x - 9, top: y - 9, right: x + 9, bottom: y + 9 }));
}

interface Ground {
  readonly points: Scene["points"];
  readonly names: readonly Label[];
  readonly picture: Picture | null;
}

/** The part that stands still while marks move: it is drawn once for each view of the map. */
function createGround(ratio: number, colours: Palette) {
  const canvas = document.createElement("canvas");
  const own = canvas.getContext("2d", { alpha: false });
  let drawn: readonly unknown[] = [];
  return {
    draw(ink: Ink, { points, names, picture }: Ground, camera: Camera, size: Size): void {
      if (own === null) return;
      const wanted = [...viewOf(points, camera, size), names, picture];
      if (!isSame(drawn, wanted)) {
        drawn = wanted;
        canvas.width = Math.round(size.width * ratio);
        canvas.height = Math.round(size.height * ratio);
        own.setTransform(ratio, 0, 0, ratio, 0, 0);
        own.fillStyle = colours.ground;
        own.fillRect(0, 0, size.width, size.height);
        if (picture !== null) drawPicture(own, picture, camera);
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
        drawScale(own, colours, camera, size);
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

/** A length, and the directions of the axes. */
function drawScale(ink: Ink, colours: Palette, camera: Camera, { height }: Size): void {
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
  ink.fillText(say("floor.scale", { length: numberText(length, length < 1 ? 1 : 0) }), left + 6, bottom - 6);
}

/** With room for a name that begins left of the drawing. */
function isWithin({ x, y }: { readonly x: number; readonly y: number }, { width, height }: Size): boolean {
  return x > -200 && x < width + 40 && y > -40 && y < height + 40;
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
