import type { Cancel } from "../../platform/clock.ts";
import { type ConveyorModel, conveyorModels, type RobotSpec, type Vertex } from "../scenario/schema.ts";
import { type FleetMap, type Point, type Target, targetOf } from "./map.ts";
import { isTerminal, type Mission } from "./mission.ts";

export interface Battery {
  percent: number;
  settledMs: number;
  plugged: boolean;
  state: "charging" | "discharging" | "full";
  method: "none" | "wired" | "contact";
  /** The last report, in whole percent. */
  shownPercent: number;
  /** Whether the robot has stopped for lack of charge. */
  ranFlat: boolean;
}

/** When a value of a robot last changed, and under which number. */
export interface Stamp {
  atMs: number;
  sequence: number;
}

/** One robot: its data from the scenario, and its present state. */
export interface Robot extends Omit<RobotSpec, "home" | "dock" | "map"> {
  readonly distributor: string;
  readonly map: FleetMap;
  readonly home: Vertex;
  readonly dock: Vertex | undefined;
  readonly body: Body;
  readonly battery: Battery;
  readonly conveyors: readonly Conveyor[];
  /** The list since the last Create, Workflow or Charge, in order of assignment. */
  missions: Mission[];
  /** Index of the active mission or, while nothing newer is active, of the last one; -1 before the first. */
  currentIndex: number;
  /** The target to which the robot drives, or at which it stands for its mission or task. */
  bound: Target | undefined;
  /** The task chain that it executes; 0: none. */
  chainId: number;
  /** The task of the chain that it executes; 0: none. */
  taskId: number;
  carriedKg: number;
  /** Loaded by a task of a chain. */
  loaded: boolean;
  online: boolean;
  /** Incremented with each obstacle, so that the time limit of one does not end another. */
  blockages: number;
  readonly missionStamp: Stamp;
  readonly batteryStamp: Stamp;
}

/** A robot at its home when the world begins. */
export function createRobot(spec: RobotSpec, distributor: string, map: FleetMap, nowMs: number): Robot {
  const home = vertexOf(map, spec.home, spec.id);
  const { model, notInstalled } = spec;
  return {
    ...spec,
    distributor,
    map,
    home,
    dock: spec.dock === undefined ? undefined : vertexOf(map, spec.dock, spec.id),
    body: {
      place: { x: home.x, y: home.y },
      heading: home.theta,
      docked: home.docking,
      action: undefined,
      timer: undefined,
      halts: new Set(),
      haltAtWaypoint: false,
    },
    battery: {
      percent: spec.batteryPercent,
      settledMs: nowMs,
      plugged: false,
      state: "discharging",
      method: "none",
      shownPercent: Math.floor(spec.batteryPercent),
      ranFlat: spec.batteryPercent <= 0,
    },
    conveyors: spec.family === "cart" ? createConveyors(model, notInstalled) : [],
    missions: [],
    currentIndex: -1,
    bound: undefined,
    chainId: 0,
    taskId: 0,
    carriedKg: spec.payloadKg,
    loaded: false,
    online: true,
    blockages: 0,
    missionStamp: { atMs: nowMs, sequence: 0 },
    batteryStamp: { atMs: nowMs, sequence: 0 },
  };
}

function vertexOf(map: FleetMap, code: string, robotId: string): Vertex {
  const vertex = map.byCode(code);
  if (vertex === undefined) throw new Error(`robot ${robotId}: map ${map.id} has no vertex ${code}`);
  return vertex;
}

/** The mission that the list's index names, terminal or not. */
export function currentMission(robot: Robot): Mission | undefined {
  return robot.missions[robot.currentIndex];
}

/** The mission that the robot executes, running or paused. */
export function activeMission(robot: Robot): Mission | undefined {
  const mission = currentMission(robot);
  return mission === undefined || isTerminal(mission) ? undefined : mission;
}

/** A robot that stands still for lack of charge. */
export function isFlat(robot: Robot): boolean {
  return robot.battery.percent <= 0;
}

/** The target of a drive home. */
export function homeOf(robot: Robot): Target {
  return targetOf(robot.home);
}

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
interface Body {
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

export type Motor = "stop" | "cw" | "ccw";

/** One conveyor of a cart. Indexes count from 1, so that an unset index names none. */
export interface Conveyor {
  readonly index: number;
  readonly installed: boolean;
  motor: Motor;
  loaded: boolean;
  healthy: boolean;
  transfer: Cancel | undefined;
}

export interface MotorCommand {
  readonly index: number;
  readonly motor: Motor;
}

/** The conveyors of a model, empty and at rest. */
function createConveyors(model: ConveyorModel, notInstalled: readonly number[]): Conveyor[] {
  return Array.from({ length: conveyorModels[model] }, (_, position) => ({
    index: position + 1,
    installed: !notInstalled.includes(position + 1),
    motor: "stop" as const,
    loaded: false,
    healthy: true,
    transfer: undefined,
  }));
}

interface HasConveyors {
  readonly conveyors: readonly Conveyor[];
}

/** Indexes that can be commanded. */
export function installedIndexes(robot: HasConveyors): number[] {
  return robot.conveyors.filter((conveyor) => conveyor.installed).map((conveyor) => conveyor.index);
}

/** The conveyor of that index, if the cart has it. */
export function installedConveyor(robot: HasConveyors, index: number): Conveyor | undefined {
  return robot.conveyors.find((conveyor) => conveyor.installed && conveyor.index === index);
}
