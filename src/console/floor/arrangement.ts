import { type Camera, isSame, isWithin, type Size, toPixels, viewOf } from "./camera.ts";
import { type Label, type Layout, layoutOf, type PointAt, type Spots } from "./labels.ts";
import { FOOT_PIXELS } from "./picture.ts";
import { isPicture, type Mark, merged, type Scene } from "./scene.ts";
import { type Box, type MarkAt, SLACK } from "./stacks.ts";

/** With more points than this in sight none is named: few names would find room. */
const NAMED_POINTS = 400;
/** So often, names look for room anew: of points, and of robots that had none. */
const NAMES_MS = 1_000;

/** Where marks and names are, from frame to frame. */
export interface Arrangement {
  /** The names of points are the same list while none has moved. */
  at(scene: Scene, camera: Camera, size: Size): Layout & { readonly pointNames: readonly Label[] };
}

/** What stands still for a while. */
interface Named {
  readonly of: readonly unknown[];
  readonly atMs: number;
  readonly names: readonly Label[];
  readonly pictures: readonly Box[];
}

/** A mark of the last layout, which may have moved since. */
interface Laid extends MarkAt {
  readonly laidX: number;
  readonly laidY: number;
}

/** @param widthOf the width of a text in pixels */
export function createArrangement(widthOf: (text: string) => number): Arrangement {
  const spots: Spots = new Map();
  let named: Named = { of: [], atMs: 0, names: [], pictures: [] };
  let laid: readonly Laid[] = [];
  let layout: Layout = { stacks: [], labels: [] };

  /** Moves the marks of the last layout. False: one is another now, or has left the room around it. */
  function carry(scene: Scene, camera: Camera, size: Size): boolean {
    let count = 0;
    for (const mark of scene.marks) {
      const { x, y } = toPixels(camera, mark.place);
      if (!isWithin({ x, y }, size)) continue;
      const known = laid[count];
      count += 1;
      if (known === undefined || !isAlike(known.mark, mark)) return false;
      if (Math.abs(x - known.laidX) > SLACK || Math.abs(y - known.laidY) > SLACK) return false;
      known.mark = mark;
      known.x = x;
      known.y = y;
    }
    return count === laid.length;
  }

  function lay({ marks }: Scene, camera: Camera, size: Size): void {
    laid = marks.flatMap((mark) => {
      const { x, y } = toPixels(camera, mark.place);
      return isWithin({ x, y }, size) ? [{ mark, x, y, laidX: x, laidY: y }] : [];
    });
  }

  return {
    at(scene, camera, size) {
      const of = viewOf(scene.points, camera, size);
      const isSameView = isSame(named.of, of);
      // The last frame of a movement may stay for long: it has all names for which there is room.
      const isNew = !isSameView || !scene.isMoving || performance.now() - named.atMs >= NAMES_MS;
      if (!isNew && carry(scene, camera, size)) return { ...layout, pointNames: named.names };
      lay(scene, camera, size);
      const parts = { size, widthOf, spots };
      if (!isNew) {
        const fixed = [...named.names, ...named.pictures];
        layout = layoutOf(laid, [], { ...parts, fixed, isQuick: true });
        return { ...layout, pointNames: named.names };
      }
      const pictures = isSameView ? named.pictures : fixedBoxes(scene.points, camera, size);
      const whole = layoutOf(laid, namedPoints(scene.points, camera, size), { ...parts, fixed: pictures });
      const names = isSameNames(named.names, whole.pointNames) ? named.names : whole.pointNames;
      named = { of, atMs: performance.now(), names, pictures };
      layout = whole;
      return { ...layout, pointNames: names };
    },
  };
}

/** Whether two marks take the same room, and have the same name. */
function isAlike(a: Mark, b: Mark): boolean {
  return (
    a.robotId === b.robotId && a.note === b.note && a.emphasis === b.emphasis && a.isChosen === b.isChosen
  );
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
