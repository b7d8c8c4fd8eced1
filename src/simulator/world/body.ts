import type { Cancel } from "../../platform/clock.ts";
import type { Point, Target } from "./map.ts";

/** Why a robot's action is halted. */
export type Halt = "mission-paused" | "chain-paused" | "blocked";

/** The present action of a robot's body. Standing idle is no action. */
export type Action =
  | {
      readonly kind: "drive";
      readonly route: readonly Point[];
      readonly target: Target;
      readonly done: () => void;
      leg: number;
      from: Point;
      startMs: number;
      legMs: number;
    }
  | { readonly kind: "work"; readonly done: () => void; startMs: number; remainingMs: number };

/** The robot as a body at a place. */
export interface Body {
  /** Its place when its action began or was last halted. */
  place: Point;
  heading: number;
  docked: boolean;
  action: Action | undefined;
  timer: Cancel | undefined;
  readonly halts: Set<Halt>;
  /** To be halted at the end of the present leg. */
  haltAtWaypoint: boolean;
}

/** An obstacle halts a drive, but not work on the spot; a pause halts both. */
export function isHalted({ body }: { readonly body: Body }): boolean {
  const { halts, action } = body;
  return (
    halts.has("mission-paused") ||
    halts.has("chain-paused") ||
    (halts.has("blocked") && action?.kind === "drive")
  );
}

/** Whether the robot's wheels turn. */
export function isDriving({ body }: { readonly body: Body }): boolean {
  return body.action?.kind === "drive" && body.timer !== undefined;
}

/** The place of a robot at a moment of its action. */
export function placeAt({ body }: { readonly body: Body }, nowMs: number): Point {
  const { action, timer, place } = body;
  return action?.kind === "drive" && timer !== undefined ? along(action, nowMs - action.startMs) : place;
}

/** The place on a leg after this much of its time. */
export function along(action: Extract<Action, { kind: "drive" }>, passedMs: number): Point {
  const to = action.route[action.leg] ?? action.target;
  const share = action.legMs === 0 ? 1 : Math.min(Math.max(passedMs / action.legMs, 0), 1);
  const { from } = action;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
