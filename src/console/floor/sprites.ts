import type { Ink } from "./ground.ts";
import type { Palette } from "./palette.ts";
import type { Emphasis, Mark } from "./scene.ts";

const RADIUS = 8;
/** From the centre to the tip of a body that has a heading. */
const HEAD = 1.5 * RADIUS;
/** From the centre of a sign to its corners. */
const SIGN = 0.6 * RADIUS;
/** Half of a picture. */
const REACH = 13;
/** One picture for each; nobody sees finer ones at this size. */
const HEADINGS = 64;

/** The radius of a badge. */
const BADGE = 8;
/** From the centre of a badge to the line of its text. */
const BADGE_LINE = 3;
const badgeFont = "600 10px Inter, system-ui, sans-serif";

/** Draws marks from pictures. Drawing the paths of a thousand anew takes four times as long. */
export interface Sprites {
  /** Draws the mark with its centre there. */
  draw(ink: Ink, mark: Mark, x: number, y: number): void;
  /** Draws how many robots are at a place, with the centre of the badge there. */
  drawBadge(ink: Ink, emphasis: Emphasis, count: number, x: number, y: number): void;
}

/** @param ratio pixels of the screen for each pixel of the drawing */
export function createSprites(ratio: number, colours: Palette): Sprites {
  const pictures = new Map<string | number, ImageBitmap>();
  const pixels = Math.ceil(2 * REACH * ratio);
  const side = pixels / ratio;

  function pictureOf(key: string | number, paint: (ink: Ink) => void): ImageBitmap {
    const known = pictures.get(key);
    if (known !== undefined) return known;
    const canvas = new OffscreenCanvas(pixels, pixels);
    const ink = canvas.getContext("2d");
    ink?.setTransform(ratio, 0, 0, ratio, REACH * ratio, REACH * ratio);
    if (ink !== null) paint(ink);
    const picture = canvas.transferToImageBitmap();
    pictures.set(key, picture);
    return picture;
  }

  function put(ink: Ink, picture: ImageBitmap, x: number, y: number): void {
    ink.drawImage(picture, onPixel(x - REACH, ratio), onPixel(y - REACH, ratio), side, side);
  }

  return {
    draw(ink, mark, x, y) {
      const heading = headingOf(mark);
      const paint = (own: Ink) => drawPicture(own, colours, mark, heading);
      put(ink, pictureOf(lookOf(mark, heading), paint), x, y);
    },
    drawBadge(ink, emphasis, count, x, y) {
      const text = count > 99 ? "99+" : `${count}`;
      const paint = (own: Ink) => drawBadge(own, colours, emphasis, text);
      put(ink, pictureOf(`${emphasis} ${text}`, paint), x, y);
    },
  };
}

function drawBadge(ink: Ink, colours: Palette, emphasis: Emphasis, text: string): void {
  ink.fillStyle = colours[emphasis];
  ink.beginPath();
  ink.arc(0, 0, BADGE, 0, 2 * Math.PI);
  ink.fill();
  ink.lineWidth = 1.5;
  ink.strokeStyle = colours.ground;
  ink.stroke();
  ink.fillStyle = colours.ground;
  ink.font = badgeFont;
  ink.textAlign = "center";
  ink.fillText(text, 0, BADGE_LINE);
}

/** The nearest position on whole pixels of the screen: drawing between two of them takes twice as long. */
export function onPixel(at: number, ratio: number): number {
  return Math.round(at * ratio) / ratio;
}

/** The number of its direction; null: it has none. */
function headingOf({ place: { headingRadians } }: Mark): number | null {
  if (headingRadians === null) return null;
  const turns = headingRadians / (2 * Math.PI);
  return Math.round((turns - Math.floor(turns)) * HEADINGS) % HEADINGS;
}

const families: readonly string[] = ["cart", "serve", "base", "unknown"] satisfies Mark["family"][];
const emphases: readonly string[] = ["normal", "abnormal", "alarm"] satisfies Emphasis[];

/** A number for each picture of a mark: a thousand texts in each frame would be garbage. */
function lookOf({ family, emphasis, isHollow }: Mark, heading: number | null): number {
  const body = families.indexOf(family) * emphases.length + emphases.indexOf(emphasis);
  return (2 * body + Number(isHollow)) * (HEADINGS + 1) + (heading ?? HEADINGS);
}

function drawPicture(ink: Ink, colours: Palette, mark: Mark, heading: number | null): void {
  const colour = colours[mark.emphasis];
  ink.lineWidth = 1.5;
  ink.lineJoin = "round";
  ink.strokeStyle = colour;
  ink.fillStyle = mark.isHollow ? colours.ground : colour;
  ink.save();
  // The map's angles go against the clock.
  ink.rotate(-(2 * Math.PI * (heading ?? 0)) / HEADINGS);
  ink.beginPath();
  if (heading === null) ink.arc(0, 0, RADIUS, 0, 2 * Math.PI);
  else bodies[mark.family](ink);
  ink.fill();
  ink.setLineDash(mark.isHollow ? [3, 3] : []);
  ink.stroke();
  ink.restore();
  ink.fillStyle = mark.isHollow ? colour : colours.ground;
  drawSign(ink, mark.emphasis);
}

/** A body with its head to the right. */
type Body = (ink: Ink) => void;

const bodies: Readonly<Record<Mark["family"], Body>> = {
  // Long, as its conveyors are.
  cart(ink) {
    ink.moveTo(HEAD, 0);
    ink.lineTo(0.5 * RADIUS, 0.85 * RADIUS);
    ink.lineTo(-1.2 * RADIUS, 0.85 * RADIUS);
    ink.lineTo(-1.2 * RADIUS, -0.85 * RADIUS);
    ink.lineTo(0.5 * RADIUS, -0.85 * RADIUS);
    ink.closePath();
  },
  // Round before, flat behind.
  serve(ink) {
    ink.moveTo(-0.9 * RADIUS, -RADIUS);
    ink.lineTo(0.2 * RADIUS, -RADIUS);
    ink.quadraticCurveTo(HEAD, -0.7 * RADIUS, HEAD, 0);
    ink.quadraticCurveTo(HEAD, 0.7 * RADIUS, 0.2 * RADIUS, RADIUS);
    ink.lineTo(-0.9 * RADIUS, RADIUS);
    ink.closePath();
  },
  base: drop,
  unknown: drop,
};

/** A circle with a tip. */
function drop(ink: Ink): void {
  ink.arc(0, 0, RADIUS, 0.25 * Math.PI, 1.75 * Math.PI);
  ink.lineTo(HEAD, 0);
  ink.closePath();
}

/** A diamond or a triangle in the body: the shape means the same as the colour. */
function drawSign(ink: Ink, emphasis: Emphasis): void {
  if (emphasis === "normal") return;
  const corners = emphasis === "alarm" ? 3 : 4;
  ink.beginPath();
  for (let corner = 0; corner < corners; corner += 1) {
    const turn = (2 * Math.PI * corner) / corners - Math.PI / 2;
    ink.lineTo(SIGN * Math.cos(turn), SIGN * Math.sin(turn));
  }
  ink.closePath();
  ink.fill();
}
