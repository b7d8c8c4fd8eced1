import type { Palette } from "./palette.ts";
import type { Emphasis, Mark } from "./scene.ts";

type PictureInk = OffscreenCanvasRenderingContext2D;

const RADIUS = 8;
/** From the centre to the end of a heading. */
const HEADING = 1.6 * RADIUS;
/** Half of a picture. */
const REACH = 14;
/** One picture for each; nobody sees finer ones at this size. */
const HEADINGS = 64;

/** Draws marks from pictures. Drawing the paths of a thousand anew takes four times as long. */
export interface Sprites {
  /** Draws the mark with its centre there. */
  draw(ink: CanvasRenderingContext2D, mark: Mark, x: number, y: number): void;
}

/** @param ratio pixels of the screen for each pixel of the drawing */
export function createSprites(ratio: number, colours: Palette): Sprites {
  const pictures = new Map<string, ImageBitmap>();

  function pictureOf(mark: Mark): ImageBitmap {
    const heading = headingOf(mark);
    const key = `${mark.emphasis} ${mark.isHollow} ${heading}`;
    const known = pictures.get(key);
    if (known !== undefined) return known;
    const pixels = Math.ceil(2 * REACH * ratio);
    const canvas = new OffscreenCanvas(pixels, pixels);
    const ink = canvas.getContext("2d");
    ink?.setTransform(ratio, 0, 0, ratio, REACH * ratio, REACH * ratio);
    if (ink !== null) drawPicture(ink, colours, mark, heading);
    const picture = canvas.transferToImageBitmap();
    pictures.set(key, picture);
    return picture;
  }

  return {
    draw(ink, mark, x, y) {
      const picture = pictureOf(mark);
      const side = picture.width / ratio;
      ink.drawImage(picture, onPixel(x - REACH, ratio), onPixel(y - REACH, ratio), side, side);
    },
  };
}

/** The nearest position on whole pixels of the screen: drawing between two of them takes twice as long. */
function onPixel(at: number, ratio: number): number {
  return Math.round(at * ratio) / ratio;
}

/** The number of its direction; null: it has none. */
function headingOf({ place: { headingRadians } }: Mark): number | null {
  if (headingRadians === null) return null;
  const turns = headingRadians / (2 * Math.PI);
  return Math.round((turns - Math.floor(turns)) * HEADINGS) % HEADINGS;
}

function drawPicture(ink: PictureInk, colours: Palette, mark: Mark, heading: number | null): void {
  const colour = colours[mark.emphasis];
  ink.lineWidth = 1.5;
  ink.strokeStyle = colour;
  ink.fillStyle = mark.isHollow ? colours.ground : colour;
  ink.beginPath();
  outline(ink, mark.emphasis);
  ink.fill();
  ink.setLineDash(mark.isHollow ? [3, 3] : []);
  ink.stroke();
  ink.setLineDash([]);
  if (heading === null) return;
  const turn = (2 * Math.PI * heading) / HEADINGS;
  const [right, up] = [Math.cos(turn), Math.sin(turn)];
  ink.beginPath();
  ink.moveTo(RADIUS * right, -RADIUS * up);
  ink.lineTo(HEADING * right, -HEADING * up);
  ink.stroke();
}

/** A circle, a diamond or a triangle: the shape means the same as the colour. */
function outline(ink: PictureInk, emphasis: Emphasis): void {
  if (emphasis === "normal") {
    ink.arc(0, 0, RADIUS, 0, 2 * Math.PI);
    return;
  }
  const corners = emphasis === "alarm" ? 3 : 4;
  for (let corner = 0; corner < corners; corner += 1) {
    const turn = (2 * Math.PI * corner) / corners - Math.PI / 2;
    ink.lineTo(1.3 * RADIUS * Math.cos(turn), 1.3 * RADIUS * Math.sin(turn));
  }
  ink.closePath();
}
