import { isDeepStrictEqual } from "node:util";
import type { FleetView } from "../../src/contracts/fleet-view.ts";
import type { StateChange } from "../../src/domain/change.ts";
import type { Goal, Mission } from "../../src/domain/mission.ts";
import type { Presence } from "../../src/domain/robot.ts";
import type { RobotState } from "../../src/simulator/control.ts";

/** The state of a robot in a form into which both sides can be brought. Enums have their names of proto/. */
interface RobotTruth {
  missions?: { current: number; list: readonly Record<string, unknown>[] };
  battery?: readonly unknown[];
  conveyors: Record<number, readonly unknown[]>;
  presence?: Record<string, unknown>;
}

/** By robot id. */
export type Truth = Readonly<Record<string, RobotTruth>>;

/** What of the truth a session is to know. */
export interface Concern {
  /** Whether it is for this robot, and the service lets it be. */
  readonly isFor: (robot: RobotState) => boolean;
  readonly presence: boolean;
}

/** The world's own state of every robot that is online and of concern. */
export function truthOf(robots: readonly RobotState[], { isFor, presence }: Concern): Truth {
  const ours = robots.filter((robot) => robot.online && isFor(robot));
  return Object.fromEntries(ours.map((robot) => [robot.robotId, robotTruth(robot, presence)]));
}

/** Every value that is shown as good now: what is shown as anything else is no claim. */
export function shownAsGood(view: FleetView): Truth {
  const shown: Record<string, RobotTruth> = {};
  for (const change of view.snapshot()) {
    if (!("observed" in change) || change.kind === "task_chain") continue;
    if (change.observed.quality !== "good") continue;
    const robot = shown[change.robotId] ?? { conveyors: {} };
    shown[change.robotId] = robot;
    take(robot, change);
  }
  return shown;
}

/** Every value that is shown as anything but good now, in words. */
export function shownAsElse(view: FleetView): readonly string[] {
  return view.snapshot().flatMap((change) => {
    if (!("observed" in change) || change.kind === "task_chain") return [];
    const { quality } = change.observed;
    return quality === "good" ? [] : [`${change.robotId}: ${change.kind} ${quality}`];
  });
}

export function isSame(a: Truth, b: Truth): boolean {
  return isDeepStrictEqual(a, b);
}

function robotTruth(robot: RobotState, withPresence: boolean): RobotTruth {
  const { battery } = robot;
  const truth: RobotTruth = {
    missions: { current: robot.currentIndex, list: robot.missions.map(missionTruth) },
    battery: [battery.percent, batteryStates[battery.state], chargeMethods[battery.method]],
    conveyors: Object.fromEntries(
      robot.conveyors.map((conveyor) => [conveyor.index, conveyorTruth(conveyor)]),
    ),
  };
  if (withPresence) truth.presence = presenceTruth(robot);
  return truth;
}

function missionTruth(mission: RobotState["missions"][number]): Record<string, unknown> {
  const { missionId, kind, owner, status, goals, goalIndex, feedback } = mission;
  // A charge mission has no type, no feedback and no goals of anybody's (docs/internals/service.md, TRN-39).
  const isCharge = kind === "charge";
  const family = kind.split(".")[0];
  const shown = family === "base" ? "STATUS_NAVIGATING" : feedbacks[feedback];
  return {
    missionId,
    owner,
    state: missionStates[status],
    type: missionTypes[kind],
    goals: isCharge
      ? []
      : goals.map((goal) =>
          goal.kind === "destination" ? goal.destinationId : pose(goal.x, goal.y, goal.heading),
        ),
    goalIndex,
    feedback: isCharge || feedback === "none" ? null : `${family} ${shown}`,
  };
}

function conveyorTruth(conveyor: RobotState["conveyors"][number]): readonly unknown[] {
  const { installed, motor, loaded, healthy } = conveyor;
  if (!installed) {
    return [
      "OPERATION_STATE_STOP",
      "PAYLOAD_STATE_UNKNOWN",
      "HEALTH_STATE_UNKNOWN",
      "INSTALLATION_STATE_NOT_INSTALLED",
    ];
  }
  return [
    motor === "stop" ? "OPERATION_STATE_STOP" : "OPERATION_STATE_ROLLING",
    loaded ? "PAYLOAD_STATE_LOADED" : "PAYLOAD_STATE_EMPTY",
    healthy ? "HEALTH_STATE_OK" : "HEALTH_STATE_ERROR",
    "INSTALLATION_STATE_INSTALLED",
  ];
}

function presenceTruth(robot: RobotState): Record<string, unknown> {
  const { amrId, mapId, at, place, chainId, battery, conveyors } = robot;
  const isLoaded = robot.loaded || robot.carriedKg > 0 || conveyors.some(({ loaded }) => loaded);
  return {
    amrId,
    mapId,
    at,
    place: pose(place.x, place.y, place.heading),
    chainId,
    percent: battery.percent,
    load: isLoaded ? "LOADED" : "EMPTY",
    state: runState(robot),
  };
}

function runState({ flat, halts, missions, currentIndex, chainId, battery }: RobotState): string {
  const current = missions[currentIndex]?.status;
  if (flat || halts.includes("blocked")) return "ROBOT_STATE_ERROR";
  if (halts.includes("chain-paused") || current === "paused") return "ROBOT_STATE_PAUSED";
  if (chainId !== 0 || current === "running" || current === "default") return "ROBOT_STATE_EXECUTING";
  return battery.state === "charging" ? "ROBOT_STATE_CHARGING" : "ROBOT_STATE_IDLE";
}

function take(
  robot: RobotTruth,
  change: Exclude<StateChange, { kind: "robot" } | { kind: "task_chain" }>,
): void {
  switch (change.kind) {
    case "mission": {
      const { missions, currentMissionIndex } = change.observed.value;
      robot.missions = { current: currentMissionIndex, list: missions.map(shownMission) };
      return;
    }
    case "battery": {
      const { chargePercent, state, chargeMethod } = change.observed.value;
      robot.battery = [chargePercent, state, chargeMethod];
      return;
    }
    case "conveyor": {
      const { index, operation, payload, health, installation } = change.observed.value;
      robot.conveyors[index] = [operation, payload, health, installation];
      return;
    }
    case "presence":
      robot.presence = shownPresence(change.observed.value);
  }
}

function shownMission(mission: Mission): Record<string, unknown> {
  const { missionId, owner, state, type, goals, currentGoalIndex, feedback } = mission;
  return {
    missionId,
    owner,
    state,
    type: type !== null && "type" in type ? type.type : type,
    goals: goals.map(shownGoal),
    goalIndex: currentGoalIndex,
    feedback: feedback !== null && "status" in feedback ? `${feedback.family} ${feedback.status}` : feedback,
  };
}

function shownGoal(goal: Goal): unknown {
  if (goal.kind === "destination") return goal.destinationId;
  return goal.kind === "pose" ? pose(goal.pose.xMeters, goal.pose.yMeters, goal.pose.headingRadians) : null;
}

function shownPresence({
  amrId,
  mapId,
  position,
  taskChainId,
  stateId,
  info,
}: Presence): Record<string, unknown> {
  const { x, y, theta } = info.coordinate as { x: number; y: number; theta: number };
  return {
    amrId,
    mapId,
    at: position,
    place: pose(x, y, theta),
    chainId: taskChainId,
    percent: info.battery_percentile,
    load: info.load_status,
    state: stateId,
  };
}

/** The wire has 32 bits for each. */
function pose(x: number, y: number, heading: number): string {
  return [x, y, heading].map((value) => Math.fround(value).toFixed(4)).join(" ");
}

// The names of proto/ for the world's own, written down once more for these tests alone.

const missionStates = {
  default: "STATE_DEFAULT",
  running: "STATE_RUNNING",
  paused: "STATE_PAUSED",
  canceled: "STATE_CANCELED",
  succeeded: "STATE_SUCCEEDED",
  failed: "STATE_FAILED",
} as const;

const missionTypes = {
  "base.navigate": "BASE_TYPE_NAVIGATE",
  "base.navigate-auto": "BASE_TYPE_NAVIGATE_AUTO",
  "cart.traverse": "CART_TYPE_TRAVERSE",
  "cart.traverse-patrol": "CART_TYPE_TRAVERSE_PATROL",
  "cart.navigate": "CART_TYPE_NAVIGATE",
  "cart.navigate-auto": "CART_TYPE_NAVIGATE_AUTO",
  "serve.serving": "SERVE_TYPE_SERVING",
  "serve.serving-patrol": "SERVE_TYPE_SERVING_PATROL",
  "serve.hosting-patrol": "SERVE_TYPE_SERVING_PATROL",
  "serve.bussing": "SERVE_TYPE_BUSSING",
  "serve.bussing-patrol": "SERVE_TYPE_BUSSING_PATROL",
  "serve.navigate": "SERVE_TYPE_NAVIGATE",
  "serve.navigate-auto": "SERVE_TYPE_NAVIGATE_AUTO",
  charge: null,
} as const;

const feedbacks = {
  none: "STATUS_UNKNOWN",
  navigating: "STATUS_NAVIGATING",
  arrived: "STATUS_ARRIVED",
  docking: "STATUS_DOCKING",
  undocking: "STATUS_UNDOCKING",
} as const;

const batteryStates = {
  charging: "STATE_CHARGING",
  discharging: "STATE_DISCHARGING",
  full: "STATE_FULL",
} as const;

const chargeMethods = {
  none: "CHARGE_METHOD_NONE",
  wired: "CHARGE_METHOD_WIRED",
  contact: "CHARGE_METHOD_CONTACT",
} as const;
