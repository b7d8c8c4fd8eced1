import type { Size } from "./camera.ts";
import { byNeed, type FloorPoint } from "./scene.ts";
import { type Box, createTaken, type MarkAt, SLACK, type Stack, stacksOf, type Taken } from "./stacks.ts";

/** A point on the drawing. */
export interface PointAt extends Pick<FloorPoint, "name"> {
  readonly x: number;
  readonly y: number;
}

/** A text of one line, and its box when it was placed. */
export interface Label extends Box {
  readonly text: string;
  readonly isChosen: boolean;
  /** What it names. The text moves with it. */
  readonly of: { readonly x: number; readonly y: number };
  /** From there to the left and the lower edge of the text, in whole pixels. */
  readonly toLeft: number;
  readonly toBottom: number;
  readonly leader: Leader | null;
}

/** The line from a mark to a label that is not beside it, from the centre of the mark. */
type Leader = readonly [fromX: number, fromY: number, toX: number, toY: number];

/** What is drawn over the points: no text covers another one or a mark. Marks that are too near are one. */
export interface Layout {
  readonly stacks: readonly Stack[];
  readonly labels: readonly Label[];
}

const LABEL_HEIGHT = 14;
/** From the centre of a mark to the tip of a triangle, without its heading. */
const MARK_REACH = 12;
/** The same with the ring around the chosen one. */
const RING_REACH = 17;
/** The part of a badge beyond a mark. */
const BADGE_REACH = 6;
/** Between a mark and a text, beyond their slack: they do not touch after both have moved. */
const GAP = 2;
/** From the centre of a mark to its own text: a cell of the grid beyond both with their slack. */
const BESIDE = 18 + GAP;
/** From the centre of a stack: its badge is at the upper right. */
const BESIDE_BADGE = 24 + GAP;
/** The lengths of leader lines. */
const LEADERS = [30, 48, 70];
/** Further ones for the chosen robot, whose name must find room. */
const LONG_LEADERS = [...LEADERS, 100, 140, 200];
type Direction = readonly [right: number, down: number];
const SIDES: readonly Direction[] = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
];
const CORNERS: readonly Direction[] = [
  [1, -1],
  [1, 1],
  [-1, -1],
  [-1, 1],
];

/** A position of a label, from the centre of its mark. */
interface Spot {
  /** The label's edge, or middle, that is there: this share of its width lies left of it. */
  readonly x: number;
  readonly shareLeft: number;
  readonly top: number;
  /** Null: the label stands beside the mark. */
  readonly leader: Leader | null;
}

// Worked out once: a thousand names look for room in each layout.
const leading = leadersOf(LEADERS);
const leadingFar = leadersOf(LONG_LEADERS);
const alone = besides(BESIDE);
const beyondBadge = besides(BESIDE_BADGE);
/** Of a mark alone, of one with a badge, and of the chosen one. */
const spotsAlone = [...alone, ...leading];
const spotsOfStack = [...beyondBadge, ...leading];
const spotsOfChosen = [...beyondBadge, ...leadingFar];

function besides(gap: number): readonly Spot[] {
  return SIDES.map(([right, down]) => {
    const reach = down === 0 ? gap : gap - 3;
    return spotOf(right * reach, down * reach, right, down, null);
  });
}

function leadersOf(lengths: readonly number[]): readonly Spot[] {
  return lengths.flatMap((length) =>
    [...CORNERS, ...SIDES].map(([right, down]) => {
      const one = 1 / Math.hypot(right, down);
      const [toX, toY] = [right * one * length, down * one * length];
      const [fromX, fromY] = [right * one * MARK_REACH, down * one * MARK_REACH];
      return spotOf(toX, toY, right, down, [fromX, fromY, toX, toY]);
    }),
  );
}

/** A label that a line from this direction meets there. */
function spotOf(x: number, y: number, right: number, down: number, leader: Spot["leader"]): Spot {
  const shareLeft = right === 0 ? 0.5 : right > 0 ? 0 : 1;
  const isLevel = down === 0 || right !== 0;
  return { x, shareLeft, top: isLevel ? y - LABEL_HEIGHT / 2 : down > 0 ? y : y - LABEL_HEIGHT, leader };
}

/** The last position of each robot's name, so that names do not jump while robots move; or `NOWHERE`. */
export type Spots = Map<string, number>;

/** There was no room for the name. */
const NOWHERE = -1;

interface LayoutParts {
  readonly size: Size;
  /** The width of a text in pixels. */
  readonly widthOf: (text: string) => number;
  /** Names of points that stay where they are. */
  readonly fixed?: readonly Box[];
  readonly spots?: Spots;
  /**
   * True: names without room stay away. To look for it takes most of the time of a layout, and a frame later
   * there is seldom any.
   */
  readonly isQuick?: boolean;
}

/** Everything that a drawing has of marks and names. Robots come first, then points. */
export function layoutOf(
  marks: readonly MarkAt[],
  points: readonly PointAt[],
  parts: LayoutParts,
): Layout & { readonly pointNames: readonly Label[] } {
  const taken = createTaken(parts.size);
  for (const box of parts.fixed ?? []) taken.block(box);
  const stacks = stacksOf([...marks].sort(byRank));
  for (const stack of stacks) taken.block(boxOf(stack));
  const labels = stacks.flatMap((stack) => labelOf(stack, taken, parts) ?? []);
  return { stacks, labels, pointNames: namesOf(points, taken, parts) };
}

/** The box of a mark with its badge, and with the gap around them. */
function boxOf({ first: { x, y }, count, chosenName }: Stack): Box {
  const reach = GAP + SLACK + (chosenName === null ? MARK_REACH : RING_REACH);
  const beyond = count > 1 ? Math.max(reach, GAP + SLACK + MARK_REACH + BADGE_REACH) : reach;
  return { left: x - reach, top: y - beyond, right: x + beyond, bottom: y + reach };
}

function labelOf(stack: Stack, taken: Taken, parts: LayoutParts): Label | null {
  const { size, widthOf, spots, isQuick = false } = parts;
  const { first } = stack;
  if (first.x < 0 || first.y < 0 || first.x > size.width || first.y > size.height) return null;
  const { robotId } = stack.worst.mark;
  const isChosen = stack.chosenName !== null;
  // A cell of the grid beyond the ring, or the badge.
  const all = isChosen ? spotsOfChosen : stack.count > 1 ? spotsOfStack : spotsAlone;
  const last = spots?.get(robotId) ?? 0;
  if (isQuick && last === NOWHERE && !isChosen) return null;
  const before = Math.max(0, last);
  for (const text of textsOf(stack)) {
    const width = widthOf(text);
    for (let at = 0; at < all.length; at += 1) {
      const number = spotAt(at, before);
      const label = placed(all[number], first, text, width, taken, isChosen);
      if (label === null) continue;
      if (number !== last) spots?.set(robotId, number);
      return label;
    }
  }
  spots?.set(robotId, NOWHERE);
  return null;
}

/** The texts that would do, the best first. */
function textsOf({ worst: { mark }, chosenName }: Stack): readonly string[] {
  const { name, note } = mark;
  const whole = note === "" ? name : `${name}: ${note}`;
  if (chosenName === null || chosenName === name) return note === "" ? [name] : [whole, name];
  // A graver one of the same stack is drawn.
  return [`${chosenName}, ${whole}`, `${chosenName}, ${name}`, chosenName];
}

/** The positions beside a mark; those after them have leader lines. */
const BESIDES = SIDES.length;

/** The last position is tried first, but a leader line never before the positions beside the mark. */
function spotAt(at: number, before: number): number {
  const first = before < BESIDES ? 0 : BESIDES;
  if (at < first || at > before) return at;
  return at === first ? before : at - 1;
}

/** The text at this position, if there is room for it; null: there is none. */
function placed(
  spot: Spot | undefined,
  of: Label["of"],
  text: string,
  width: number,
  taken: Taken,
  isChosen: boolean,
): Label | null {
  if (spot === undefined) return null;
  // Whole pixels: text between them takes longer to draw.
  const toLeft = Math.round(spot.x - spot.shareLeft * width);
  const toBottom = Math.round(spot.top) + LABEL_HEIGHT;
  const [left, bottom] = [Math.round(of.x) + toLeft, Math.round(of.y) + toBottom];
  const [right, top] = [left + width, bottom - LABEL_HEIGHT];
  if (!taken.take(left, top, right, bottom)) return null;
  return { text, isChosen, left, top, right, bottom, of, toLeft, toBottom, leader: spot.leader };
}

const POINT_REACH = MARK_REACH + SLACK + GAP;
/** Beside a point: below, above, right, left. A robot at the point covers none of them. */
const pointSpots = [3, 2, 0, 1].map((at) => alone[at]);

function namesOf(points: readonly PointAt[], taken: Taken, { widthOf }: LayoutParts): readonly Label[] {
  // A name keeps the same distance from other points as from its own, so that it is not taken for theirs.
  for (const { x, y } of points)
    taken.block({ left: x - POINT_REACH, top: y - 4, right: x + POINT_REACH, bottom: y + 4 });
  return points.flatMap((point) => {
    const width = widthOf(point.name);
    for (const spot of pointSpots) {
      const label = placed(spot, point, point.name, width, taken, false);
      if (label !== null) return [label];
    }
    return [];
  });
}

function byRank({ mark: a }: MarkAt, { mark: b }: MarkAt): number {
  if (a.isChosen !== b.isChosen) return a.isChosen ? -1 : 1;
  return byNeed(a, b);
}
