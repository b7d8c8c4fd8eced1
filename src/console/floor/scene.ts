import type { FloorSettings } from "../../northbound/web/api/floor.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { say, word } from "../texts/texts.ts";
import { ageMs, agoText, type Dated, type Moment, timeOfDay, wallTimeMs } from "../trust/time-text.ts";
import type { Camera } from "./camera.ts";
import {
  isMoving,
  isSamePlace,
  type Place,
  POLLS_FORGIVEN,
  pixelsPerMs,
  placeAt,
  type Track,
} from "./track.ts";

export type PointShape = FloorSettings["point_types"][number]["shape"];

/** A point of GetMap. */
export interface FloorPoint {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  /** As configured; a dot if the configuration does not have the point's type. */
  readonly shape: PointShape;
}

export type Emphasis = "normal" | "abnormal" | "alarm";

/** A robot on the floor. */
export interface FloorRobot {
  readonly robotId: string;
  readonly name: string;
  /** Whether its position was known to be true when it was sent. */
  readonly isPlaceGood: boolean;
  readonly family: Robot["family"];
  /** Its quality, for a hollow mark. */
  readonly quality: Robot["quality"];
  /** Its state in few words. */
  readonly word: string;
  readonly emphasis: Emphasis;
  /** Null: no position was reported. */
  readonly track: Track | null;
  /** When the online list last had it there. */
  readonly seen: Dated;
  /** Positions of the last minutes, the oldest first. */
  readonly trail: readonly Place[];
  /** The remaining points of its route, as far as the service reports them. */
  readonly ahead: readonly Place[];
}

export interface FloorState {
  /** Null: there is no map to show. */
  readonly mapId: number | null;
  /** The points of that map, as far as they could be read. */
  readonly points: readonly FloorPoint[];
  readonly robots: readonly FloorRobot[];
  /** The period of the polls of the online list; null: it is not polled. */
  readonly pollMs: number | null;
  /** Whether the stream's ticks come in time. */
  readonly isLive: boolean;
  readonly chosenId: string | null;
}

/** A robot in the drawing: a full mark is known to be there now, a hollow one was there before. */
export interface Mark {
  readonly robotId: string;
  readonly name: string;
  readonly family: Robot["family"];
  readonly place: Place;
  readonly isHollow: boolean;
  /** Written beside its name, if its state is unusual. */
  readonly note: string;
  readonly emphasis: Emphasis;
  readonly isChosen: boolean;
}

/** Everything that is drawn of one map at one moment. */
export interface Scene {
  readonly points: readonly FloorPoint[];
  readonly marks: readonly Mark[];
  readonly trail: readonly Place[];
  readonly ahead: readonly Place[];
  /** From the chosen robot to the next point of its route: a direction, and no route. */
  readonly direction: readonly [from: Place, to: Place] | null;
  /** Whether the next frame may look different although no message comes. */
  readonly isMoving: boolean;
}

/** The floor at a moment. Draws only what was reported. */
export function sceneAt(state: FloorState, now: Moment): Scene {
  const { mapId, points, pollMs } = state;
  const marks: Mark[] = [];
  let chosen: FloorRobot | null = null;
  let chosenMark: Mark | null = null;
  let isAnyMoving = false;
  for (const robot of pollMs === null ? [] : state.robots) {
    const { track } = robot;
    if (track === null || track.report.mapId !== mapId) continue;
    const mark = markOf(robot, track, state, pollMs ?? 0, now);
    if (mark.isChosen) [chosen, chosenMark] = [robot, mark];
    else marks.push(mark);
    isAnyMoving ||= isMoving(track, now);
  }
  // The chosen robot is on top.
  if (chosenMark !== null) marks.push(chosenMark);
  const ahead = chosenMark === null || chosenMark.isHollow ? [] : (chosen?.ahead ?? []);
  const [next] = ahead;
  return {
    points,
    marks,
    trail: chosen?.trail ?? [],
    ahead,
    direction: chosenMark === null || next === undefined ? null : [chosenMark.place, next],
    isMoving: isAnyMoving,
  };
}

/** A mark is drawn on whole pixels: a frame that moves none by one would look the same. */
const STEP_PIXELS = 1;
/** When a movement is over, the last frame comes at the latest so long after it. */
const LONGEST_REST_MS = 500;

/** How long a drawing that moves can stay as it is: until its fastest mark is a pixel further. */
export function restMs({ mapId, robots }: FloorState, { pixelsPerUnit }: Camera, now: Moment): number {
  let fastest = STEP_PIXELS / LONGEST_REST_MS;
  for (const { track } of robots) {
    if (track === null || track.report.mapId !== mapId || !isMoving(track, now)) continue;
    fastest = Math.max(fastest, pixelsPerMs(track, pixelsPerUnit));
  }
  return STEP_PIXELS / fastest;
}

/** Whether two scenes that stand look the same. */
export function isAlike(before: Scene, now: Scene): boolean {
  if (before.isMoving || now.isMoving || before.points !== now.points) return false;
  if (!isSameWay(before.trail, now.trail) || !isSameWay(before.ahead, now.ahead)) return false;
  return (
    before.marks.length === now.marks.length &&
    before.marks.every((mark, at) => isSameMark(mark, now.marks[at]))
  );
}

function isSameWay(before: readonly Place[], now: readonly Place[]): boolean {
  return before.length === now.length && before.every((place, at) => isSamePlace(place, now[at] ?? place));
}

function isSameMark(mark: Mark, now: Mark | undefined): boolean {
  return (Object.keys(mark) as readonly (keyof Mark)[]).every((key) =>
    key === "place" ? now !== undefined && isSamePlace(mark.place, now.place) : mark[key] === now?.[key],
  );
}

function markOf(robot: FloorRobot, track: Track, state: FloorState, pollMs: number, now: Moment): Mark {
  const isHollow = isDoubted(robot, state.isLive, pollMs, now);
  return {
    robotId: robot.robotId,
    name: robot.name,
    family: robot.family,
    place: placeAt(track, now),
    isHollow,
    // A date becomes text only if it is shown: this is made for each robot in each frame.
    note: isHollow
      ? hereText(robot, timeOfDay(wallTimeMs(robot.seen, now)))
      : robot.emphasis === "normal"
        ? ""
        : robot.word,
    emphasis: robot.emphasis,
    isChosen: robot.robotId === state.chosenId,
  };
}

/** Whether a robot may be somewhere else by now. */
function isDoubted(robot: FloorRobot, isLive: boolean, pollMs: number, now: Moment): boolean {
  return !isLive || !robot.isPlaceGood || ageMs(robot.seen, now) > POLLS_FORGIVEN * pollMs;
}

/** Why a robot may be somewhere else by now, with the age of its place; null: it was just reported there. */
export function doubtOf(robot: FloorRobot, isLive: boolean, pollMs: number, now: Moment): string | null {
  if (!isDoubted(robot, isLive, pollMs, now)) return null;
  const ago = agoText(ageMs(robot.seen, now));
  const { quality } = robot;
  return quality === "good"
    ? say("place.seen", { ago })
    : say("place.seenDoubted", { ago, quality: word(quality) });
}

function hereText({ quality }: FloorRobot, time: string): string {
  return quality === "good"
    ? say("place.here", { time })
    : say("place.hereDoubted", { time, quality: word(quality) });
}

const ranks: Readonly<Record<Emphasis, number>> = { alarm: 1, abnormal: 2, normal: 3 };

type Needed = Pick<Mark, "robotId" | "emphasis">;

/** The order of names by need: alarms, then unusual states, each by id. */
export function byNeed(a: Needed, b: Needed): number {
  const difference = ranks[a.emphasis] - ranks[b.emphasis];
  if (difference !== 0) return difference;
  return a.robotId < b.robotId ? -1 : 1;
}

/**
 * In the order of drawing: alarms are on top. Names are placed in the reverse order, which is then available
 * at once in each frame.
 */
export function inDrawingOrder<T extends Needed>(robots: readonly T[]): readonly T[] {
  return [...robots].sort((a, b) => byNeed(b, a));
}

/** Why the floor shows no positions; null: it may. */
export function noticeOf({ mapId, pollMs }: FloorState): string | null {
  if (pollMs === null) return say("floor.noPolling");
  return mapId === null ? say("floor.noMap") : null;
}

/** Points that are nearer than this would cover each other. */
const APART_PIXELS = 8;
/** They say more than the other shapes. */
const pictures: ReadonlySet<PointShape> = new Set(["station", "charger", "home"]);

export function isPicture({ shape }: Pick<FloorPoint, "shape">): boolean {
  return pictures.has(shape);
}

/**
 * Of the points that would cover each other the first one, pictures first. By cells of the map, whose size
 * changes in steps: then nothing flickers while the map is moved.
 */
export function merged(
  points: readonly FloorPoint[],
  { pixelsPerUnit }: Pick<Camera, "pixelsPerUnit">,
): readonly FloorPoint[] {
  const cell = 2 ** Math.ceil(Math.log2(APART_PIXELS / pixelsPerUnit));
  const shown = new Map<string, FloorPoint>();
  for (const point of points) {
    const key = `${Math.floor(point.x / cell)} ${Math.floor(point.y / cell)}`;
    const known = shown.get(key);
    const isFirst = known === undefined || (!isPicture(known) && isPicture(point));
    if (isFirst) shown.set(key, point);
  }
  return [...shown.values()];
}
