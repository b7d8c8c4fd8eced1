import type { Battery } from "./battery.ts";
import type { Conveyor } from "./conveyor.ts";
import type { FleetMap } from "./fleet-map.ts";
import type { MissionQueue } from "./mission.ts";
import type { Stamp } from "./observed.ts";
import type { Family, Presence, RobotId } from "./robot.ts";
import type { TaskChain } from "./task-chain.ts";

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
