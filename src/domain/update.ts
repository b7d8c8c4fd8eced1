import type { Coded } from "./coded.ts";
import type { MissionQueue, TaskChain } from "./mission.ts";
import type { Stamp } from "./observed.ts";
import type { Battery, Conveyor, Family, Presence, RobotId } from "./robot.ts";

/** What robots send on streams of their own. */
export type StreamAspect = "mission" | "battery" | "conveyors";

/** The logical name of a subscription. It outlives the calls that serve it one after the other. */
export type StreamId = string;

/**
 * What the southbound gives to the state, already translated and accepted by the sequence rules. Times are
 * the gateway's wall clock in milliseconds.
 */
export type FleetUpdate =
  | {
      readonly kind: "mission";
      readonly robotId: RobotId;
      readonly stream: StreamId;
      readonly stamp: Stamp;
      /** It came because the gateway has subscribed: what it shows may be old. */
      readonly isSnapshot?: boolean;
      readonly queue: MissionQueue;
    }
  | {
      readonly kind: "battery";
      readonly robotId: RobotId;
      readonly stream: StreamId;
      readonly stamp: Stamp;
      /** It came because the gateway has subscribed: what it shows may be old. */
      readonly isSnapshot?: boolean;
      readonly battery: Battery;
    }
  | {
      readonly kind: "conveyors";
      readonly robotId: RobotId;
      readonly stream: StreamId;
      readonly stamp: Stamp;
      readonly conveyors: readonly Conveyor[];
    }
  /** A repeat, or a poll with the same answer: no new value, but the old one is confirmed. */
  | {
      readonly kind: "confirmed";
      readonly robotId: RobotId;
      readonly aspect: StreamAspect;
      readonly stream: StreamId;
      readonly atMs: number;
    }
  /** A robot is expected: it is configured, listed, or at a location. */
  | { readonly kind: "robot"; readonly robotId: RobotId; readonly family: Family }
  /** The whole answer of one GetOnlineRobots. */
  | {
      readonly kind: "roster";
      readonly atMs: number;
      readonly robots: ReadonlyArray<{ readonly robotId: RobotId; readonly presence: Presence }>;
      /** Robots whose records cannot be read: present, at an unknown place. */
      readonly unread?: readonly RobotId[];
    }
  /** GetMap has answered; null: the service no longer has the map. */
  | { readonly kind: "map"; readonly mapId: number; readonly map: FleetMap | null }
  | { readonly kind: "task_chain"; readonly atMs: number; readonly chain: TaskChain }
  /** A stream is proven alive; was cut, and is about to be opened again; or is lost. */
  | {
      readonly kind: "stream";
      readonly stream: StreamId;
      readonly state: "live" | "cut" | "lost";
      readonly atMs: number;
    }
  /** The session to the service as a whole. */
  | { readonly kind: "link"; readonly state: "up" | "down"; readonly atMs: number; readonly cause: string };

/**
 * The part of a value that cannot be true by the service's own interface; null: nothing. The value is passed
 * on as it was sent, and is not good: neither is the value before it.
 */
export function impossibleBattery({ chargePercent, state }: Battery): string | null {
  if (chargePercent < 0 || chargePercent > 100) return `battery_state.charge_percent is ${chargePercent}`;
  return unnamed("battery_state.state", state);
}

export function impossibleQueue({ missions, currentMissionIndex: index }: MissionQueue): string | null {
  // An index that is not set is 0, also if there is no mission.
  if (index < -1 || index >= Math.max(1, missions.length)) {
    return `current_mission_index is ${index} of ${missions.length} missions`;
  }
  for (const { state, goals, currentGoalIndex } of missions) {
    const wrong = unnamed("a mission's state", state);
    if (wrong !== null) return wrong;
    // After the last goal: all goals are done.
    if (currentGoalIndex < -1 || currentGoalIndex > goals.length) {
      return `current_goal_index is ${currentGoalIndex} of ${goals.length} goals`;
    }
  }
  return null;
}

export function impossibleConveyors(conveyors: readonly Conveyor[]): string | null {
  for (const { index, operation, payload, health, installation } of conveyors) {
    for (const state of [operation, payload, health, installation]) {
      const wrong = unnamed(`a state of conveyor ${index}`, state);
      if (wrong !== null) return wrong;
    }
  }
  return null;
}

function unnamed(what: string, code: Coded<string>): string | null {
  return typeof code === "string" ? null : `${what} is ${code.raw}, which has no name`;
}

/** A map as GetMap answered it last. */
export interface FleetMap {
  /** Wall time of the answer, in milliseconds since 1970. */
  readonly readAtMs: number;
  /** The answer in snake_case JSON; null: it is too large to be published. */
  readonly json: string | null;
  readonly bytes: number;
}

/** The largest map that is published. A larger one is read by GetMap. */
const LARGEST_SHOWN_BYTES = 256 * 1024;

export function fleetMap(readAtMs: number, json: string): FleetMap {
  const bytes = Buffer.byteLength(json);
  return { readAtMs, json: bytes > LARGEST_SHOWN_BYTES ? null : json, bytes };
}
