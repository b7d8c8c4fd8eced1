import type { MetricModel } from "./payload.ts";

/** The metrics of a robot, by the value of the fleet from which they follow. */

const text = (name: string) => ({ name, type: "String" }) as const satisfies MetricModel;
const integer = (name: string) => ({ name, type: "Int32" }) as const satisfies MetricModel;
const truth = (name: string) => ({ name, type: "Boolean" }) as const satisfies MetricModel;

export const infoMetrics = {
  robotId: text("Info/RobotId"),
  family: text("Info/Family"),
  alias: text("Info/Alias"),
};

export const stateMetrics = {
  quality: integer("State/Quality"),
  readyForCommand: truth("State/ReadyForCommand"),
  notReadyReason: text("State/NotReadyReason"),
};

export const batteryMetrics = {
  chargePercent: { ...integer("Battery/ChargePercent"), unit: { name: "%", low: 0, high: 100 } },
  state: text("Battery/State"),
  isCharging: truth("Battery/Charging"),
};

export const missionMetrics = {
  id: text("Mission/Id"),
  type: text("Mission/Type"),
  owner: text("Mission/Owner"),
  goal: text("Mission/Goal"),
  state: text("Mission/State"),
  feedback: text("Mission/Feedback"),
  goalIndex: integer("Mission/GoalIndex"),
  goalCount: integer("Mission/GoalCount"),
  hasArrived: truth("Mission/Arrived"),
};

export const coordinateMetrics = {
  x: { name: "Position/X", type: "Double" },
  y: { name: "Position/Y", type: "Double" },
  heading: { name: "Position/Heading", type: "Double" },
} as const satisfies Record<string, MetricModel>;

export const placeMetrics = {
  mapId: integer("Position/MapId"),
  pointCode: text("Position/PointCode"),
};

export const chainMetrics = {
  id: integer("TaskChain/Id"),
  status: text("TaskChain/Status"),
};

export function conveyorMetrics(index: number) {
  return {
    isRolling: truth(`Conveyor/${index}/Rolling`),
    isLoaded: truth(`Conveyor/${index}/Loaded`),
    health: text(`Conveyor/${index}/Health`),
  };
}

/** The codes that a robot may have; those of its conveyors come with the conveyors. */
export const robotAlarmCodes = [
  "ROBOT_LOST",
  "ROBOT_EXCEPTION",
  "ROBOT_CLOCK",
  "BATTERY_LOW",
  "BATTERY_CRITICAL",
  "MISSION_FAILED",
  "FOREIGN_MISSIONS",
  "OUTCOME_UNKNOWN",
  "CONVEYOR_NOT_STOPPED",
] as const;

export const alarmMetric = (code: string) => truth(`Alarm/${code}`);

/** Those that every robot has. */
export const robotModels: readonly MetricModel[] = [
  ...[
    infoMetrics,
    stateMetrics,
    batteryMetrics,
    missionMetrics,
    coordinateMetrics,
    placeMetrics,
    chainMetrics,
  ].flatMap((models) => Object.values<MetricModel>(models)),
  ...robotAlarmCodes.map(alarmMetric),
];
