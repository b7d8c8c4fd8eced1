import type { MapSpec } from "./map.ts";

/** The robot families. Carts carry loads on conveyors, serves carry items; `base` is a robot of neither. */
export type Family = "cart" | "serve" | "base";

/** Cart models, and how many conveyors each carries. The first is the uppermost or the front-facing one. */
export const conveyorModels = { single: 1, "vertical-2": 2, "vertical-3": 3, "horizontal-2": 2 } as const;

export type ConveyorModel = keyof typeof conveyorModels;

/** An owner of robots. */
interface LocationSpec {
  readonly id: string;
  readonly distributor: string;
}

export interface RobotSpec {
  readonly id: string;
  /** The number by which task chains name the robot. */
  readonly amrId: number;
  readonly family: Family;
  readonly location: string;
  readonly map: number;
  /** Code of the vertex at which the robot starts, and to which workflows return. */
  readonly home: string;
  /** Code of the charging vertex; undefined: no contact dock, charged by wire. */
  readonly dock: string | undefined;
  readonly speedMetersPerSecond: number;
  readonly batteryPercent: number;
  readonly payloadKg: number;
  readonly group: number;
  readonly area: number;
  readonly ip: string;
  /** How far the robot's own clock is ahead of the service's. */
  readonly clockAheadMs: number;
  /** Carts only. */
  readonly model: ConveyorModel;
  /** Conveyor indexes of the model that this cart was delivered without. */
  readonly notInstalled: readonly number[];
}

/** Durations and thresholds. Milliseconds of world time unless the name says otherwise. */
export interface Rules {
  readonly undockMs: number;
  readonly dockMs: number;
  /** A cart's stop at each goal of a traverse. */
  readonly traverseStopMs: number;
  /** The stop at each goal of a patrol. */
  readonly patrolStopMs: number;
  /** When staff removes or adds weight at a serve robot's stop; undefined: only on request. */
  readonly weightChangeMs: number | undefined;
  /** How much staff removes or adds in one go. */
  readonly weightChangeKg: number;
  /** A bussing patrol ends above this. */
  readonly bussingThresholdKg: number;
  /** How long a conveyor rolls until its payload has moved. */
  readonly transferMs: number;
  /** How long a robot loads or unloads for a task. */
  readonly taskMs: number;
  /** A mission of a robot that stays blocked fails after this. */
  readonly blockedFailMs: number;
  readonly drivingPercentPerHour: number;
  readonly standingPercentPerHour: number;
  readonly chargingPercentPerHour: number;
}

/** What robots do by themselves, besides commands. */
export type Liveliness = "none" | "missions" | "patrols";

/** The description of a world. */
export interface WorldSpec {
  readonly seed: number;
  readonly rules: Rules;
  readonly locations: readonly LocationSpec[];
  readonly maps: readonly MapSpec[];
  readonly robots: readonly RobotSpec[];
  readonly lively: Liveliness;
  /** Incidents of robots, each with its milliseconds after the start. */
  readonly incidents: ReadonlyArray<{ readonly afterMs: number; readonly incident: Incident }>;
}

/** An event of a robot without a command: on request, or by a scenario. */
export type Incident = { readonly robotId: string } & (
  | { readonly kind: "offline" }
  | { readonly kind: "online" }
  | { readonly kind: "blocked" }
  | { readonly kind: "unblocked" }
  /** The charge jumps to `percent`; 0 is a robot that has run flat. */
  | { readonly kind: "battery"; readonly percent: number }
  /** A charging cable goes in or out. */
  | { readonly kind: "wired"; readonly plugged: boolean }
  /** The robot's sequence numbers begin again with 0, and it reports. */
  | { readonly kind: "sequence-reset" }
  /** Somebody puts weight on a robot, or (negative) takes it off. */
  | { readonly kind: "weight"; readonly changeKg: number }
  /** A conveyor in error stops, unless it `keepsTurning`; either way it takes no command until it is well. */
  | {
      readonly kind: "conveyor-health";
      readonly index: number;
      readonly ok: boolean;
      readonly keepsTurning?: boolean | undefined;
    }
  | { readonly kind: "conveyor-payload"; readonly index: number; readonly loaded: boolean }
);
