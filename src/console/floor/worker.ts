// Draws the floor in a separate thread, so that the page answers while a thousand robots are drawn.
import inter from "../fonts/inter.woff2";
import { createPainter, type Painter } from "./draw.ts";
import { type Message, type Moving, marksOf, type Still, type Surface } from "./message.ts";

let still: Still | null = null;
let moving: Moving | null = null;
let painter: Painter | null = null;

addEventListener("message", ({ data }: MessageEvent<Message>) => {
  still = { ...still, ...data.changed } as Still;
  moving = data.moving;
  if (data.changed.surface !== undefined) painter = null;
  let isDrawn = false;
  try {
    draw(still, moving);
    isDrawn = true;
  } finally {
    // The next scene may be drawn, whatever was wrong with this one.
    postMessage(isDrawn);
  }
});

function draw(
  { canvas, surface, points, picture, looks }: Still,
  { places, camera, scale, ...rest }: Moving,
) {
  painter ??= painterOn(canvas, surface);
  const scene = { ...rest, points, marks: marksOf(looks, places) };
  painter.draw(scene, camera, surface.size, picture, scale);
}

function painterOn(canvas: OffscreenCanvas, { size, ratio, colours }: Surface): Painter {
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
  const ink = canvas.getContext("2d", { alpha: false });
  if (ink === null) throw new Error("the browser gives a worker no drawing");
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  return createPainter(ink, ratio, colours);
}

// A worker does not have the fonts of the page. By its types this is a page, which has them elsewhere.
const { fonts } = globalThis as unknown as { readonly fonts: FontFaceSet };
const font = new FontFace("Inter", `url(${inter})`, { weight: "400 700" });
fonts.add(font);
void font.load().then(() => {
  painter = null;
  if (still !== null && moving !== null) draw(still, moving);
});
