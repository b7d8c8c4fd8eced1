import type { Family } from "../scenario/schema.ts";
import type { Target } from "./map.ts";

/** MissionState.State of proto/fleet/v1/mission.proto, without its prefix. */
export type MissionStatus = "default" | "running" | "paused" | "canceled" | "succeeded" | "failed";

/** What a robot does for its mission now. */
export type Feedback = "none" | "navigating" | "arrived" | "docking" | "undocking";

/** How missions of a kind are executed. */
export interface Conduct {
  /** The family that can execute it; undefined: all. */
  readonly family: Family | undefined;
  /** One goal, the first free goal, each goal in turn, or round and round. */
  readonly course: "single" | "first-free" | "tour" | "patrol";
  /** What ends the stop at a goal. */
  readonly stop: "none" | "time" | "weight-removed" | "weight-added";
  /** What ends a patrol; other missions end with their last goal. */
  readonly until: "done" | "told" | "empty" | "full";
}

const conducts = {
  "base.navigate": { family: undefined, course: "single", stop: "none", until: "done" },
  "base.navigate-auto": { family: undefined, course: "first-free", stop: "none", until: "done" },
  "cart.traverse": { family: "cart", course: "tour", stop: "time", until: "done" },
  "cart.traverse-patrol": { family: "cart", course: "patrol", stop: "time", until: "told" },
  "cart.navigate": { family: "cart", course: "single", stop: "none", until: "done" },
  "cart.navigate-auto": { family: "cart", course: "first-free", stop: "none", until: "done" },
  "serve.serving": { family: "serve", course: "tour", stop: "weight-removed", until: "done" },
  "serve.serving-patrol": { family: "serve", course: "patrol", stop: "time", until: "empty" },
  "serve.bussing": { family: "serve", course: "tour", stop: "weight-added", until: "done" },
  "serve.bussing-patrol": { family: "serve", course: "patrol", stop: "time", until: "full" },
  "serve.navigate": { family: "serve", course: "single", stop: "none", until: "done" },
  "serve.navigate-auto": { family: "serve", course: "first-free", stop: "none", until: "done" },
  // A hosting patrol shows guests around and carries nothing, so only a command ends it.
  "serve.hosting-patrol": { family: "serve", course: "patrol", stop: "time", until: "told" },
  charge: { family: undefined, course: "single", stop: "none", until: "done" },
} as const satisfies Record<string, Conduct>;

export type MissionKind = keyof typeof conducts;

/** How missions of this kind are executed. */
export function conductOf(kind: MissionKind): Conduct {
  return conducts[kind];
}

/** A mission of a request, with its goals found on the robot's map. */
export interface MissionOrder {
  readonly kind: MissionKind;
  readonly targets: readonly Target[];
}

/** A mission in a robot's list. */
export interface Mission extends MissionOrder {
  readonly id: string;
  /** The owner: `api`, `touchscreen`, or another client. */
  readonly owner: string;
  status: MissionStatus;
  /** Index of the active goal; -1 when a navigate-auto mission found none free. */
  goalIndex: number;
  feedback: Feedback;
  /** What ends the stop at a goal, by somebody's hand. */
  awaits: "nothing" | "weight-removed" | "weight-added";
  /** A patrol's end was reached while it was paused. */
  endReached: boolean;
}

/** Whether a mission is over. */
export function isTerminal(mission: Mission): boolean {
  return mission.status === "canceled" || mission.status === "succeeded" || mission.status === "failed";
}
