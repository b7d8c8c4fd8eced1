import type { Camera, Size } from "./camera.ts";
import type { Picture } from "./ground.ts";
import type { Palette } from "./palette.ts";
import type { FloorPoint, Mark, Scene } from "./scene.ts";

/** What the page sends to the worker that draws the floor. It answers each message when it has drawn. */
export interface Message {
  /** What is other than in the last message: in the first one all. */
  readonly changed: Partial<Still>;
  readonly moving: Moving;
}

/** What seldom changes. */
export interface Still {
  /** That of the page, which it gives away. */
  readonly canvas: OffscreenCanvas;
  readonly surface: Surface;
  readonly points: readonly FloorPoint[];
  readonly picture: Picture | null;
  readonly looks: readonly Look[];
}

/** What is drawn on. */
export interface Surface {
  readonly size: Size;
  /** Pixels of the screen for each pixel of the drawing. */
  readonly ratio: number;
  readonly colours: Palette;
}

/** A mark without its place. */
export type Look = Omit<Mark, "place">;

/** What each frame has anew. */
export interface Moving extends Omit<Scene, "points" | "marks"> {
  /** Three numbers for each look: x, y and heading, which is NaN if there is none. */
  readonly places: Float64Array;
  readonly camera: Camera;
  /** The text of the drawing's scale. */
  readonly scale: string;
}

/** The looks of the last scene if the marks of this one look the same: then they are not sent again. */
export function looksOf(marks: readonly Mark[], last: readonly Look[]): readonly Look[] {
  const isSame = last.length === marks.length && marks.every((mark, at) => isSameLook(mark, last[at]));
  return isSame ? last : marks.map(({ place, ...look }) => look);
}

function isSameLook(a: Look, b: Look | undefined): boolean {
  // Name by name: a thousand are compared in each frame.
  return (
    a.robotId === b?.robotId &&
    a.name === b.name &&
    a.note === b.note &&
    a.emphasis === b.emphasis &&
    a.isHollow === b.isHollow &&
    a.isChosen === b.isChosen &&
    a.family === b.family
  );
}

export function placesOf(marks: readonly Mark[]): Float64Array {
  const places = new Float64Array(3 * marks.length);
  marks.forEach(({ place: { x, y, headingRadians } }, at) => {
    places.set([x, y, headingRadians ?? Number.NaN], 3 * at);
  });
  return places;
}

export function marksOf(looks: readonly Look[], places: Float64Array): readonly Mark[] {
  return looks.map((look, at) => {
    const [x = 0, y = 0, heading = 0] = places.subarray(3 * at, 3 * at + 3);
    return { ...look, place: { x, y, headingRadians: Number.isNaN(heading) ? null : heading } };
  });
}
