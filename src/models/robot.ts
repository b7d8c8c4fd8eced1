import { z } from "zod";
import type { Coded } from "../domain/coded.ts";
import type { HoldState } from "../domain/hold.ts";
import {
  currentGoal,
  currentMission,
  type Feedback,
  feedbackStatusNames,
  type Goal,
  type Mission,
  type MissionQueue,
  type MissionType,
  missionStateNames,
  missionTypeNames,
} from "../domain/mission.ts";
import type { Stamp } from "../domain/observed.ts";
import {
  type Battery,
  batteryStateNames,
  type Conveyor,
  chargeMethodNames,
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../domain/robot.ts";
import { jsonFloat, jsonText, jsonTime } from "./json-text.ts";
import { coded, float, index, time, type ViewOf } from "./parts.ts";

/**
 * The values of a robot. `state` is the `state` of the service's webhook event, byte for byte
 * (docs/internals/service.md, WHK-27): snake_case in field-number order, enums by name, every scalar present,
 * unset messages null.
 *
 * The frequent ones are made as text: names are constants, so only the values are worth looking at. What is
 * published less often is that text, read (docs/internals/decisions.md, MQTT and HTTP show one model).
 */

export const family = z.enum(["cart", "serve", "base", "unknown"]);

const metadata = z
  .strictObject({ timestamp: time.nullable(), sequence_number: z.int() })
  .nullable()
  .describe("The robot's own time and number of its message.");

const goal = z.union([
  z.strictObject({ destination_id: z.string() }),
  z.strictObject({
    pose: z.strictObject({ x_meters: float, y_meters: float, heading_radians: float }),
  }),
  z.strictObject({}),
]);

const feedback = z.strictObject({ status: coded(feedbackStatusNames) });

const mission = z.strictObject({
  mission_id: z.string(),
  state: coded(missionStateNames),
  goals: z.array(goal),
  current_goal_index: z.int(),
  mission_feedback: z
    .strictObject({
      base_feedback: feedback.optional(),
      serve_feedback: feedback.optional(),
      cart_feedback: feedback.optional(),
    })
    .nullable(),
  mission_type: z
    .strictObject({
      base_type: coded(missionTypeNames.base).optional(),
      serve_type: coded(missionTypeNames.serve).optional(),
      cart_type: coded(missionTypeNames.cart).optional(),
    })
    .nullable(),
  owner: z.string(),
});

export const missionModel = z.strictObject({
  metadata,
  missions: z.array(mission).describe("From the first assigned to the last."),
  current_mission_index: z
    .int()
    .describe("-1 before the first mission. After the last one has ended it stays on that one."),
  current_mission: mission.nullable(),
  current_goal: goal.nullable(),
});

export const batteryModel = z.strictObject({
  metadata,
  battery_state: z.strictObject({
    charge_percent: z.int(),
    state: coded(batteryStateNames),
    charge_method: coded(chargeMethodNames),
  }),
});

export const conveyorModel = z.strictObject({
  index,
  operation_state: coded(operationStateNames),
  payload_state: coded(payloadStateNames),
  health_state: coded(healthStateNames),
  installation_state: coded(installationStateNames),
});

/** The messages of the service have more fields; those that the gateway itself reads are named. */
export const presenceModel = z.looseObject({
  id: z.string().describe("The robot's number (amr_id), in decimal."),
  name: z.string().describe("The robot's id."),
  map_id: z.int(),
  pos: z.string().describe("The code of the point that the robot is at."),
  state_id: z.string(),
  task_chain_id: z.int(),
  battery_percentile: z.number(),
  coordinate: z.strictObject({ x: z.number(), y: z.number(), theta: z.number() }).nullable(),
});

export const taskChainModel = z.looseObject({
  task_chain_state: z
    .looseObject({ id: z.int(), amr_id: z.int(), status: z.string(), task_seq: z.string() })
    .nullable(),
  task_states: z.array(
    z.looseObject({
      id: z.int(),
      task_type: z.string(),
      map_id: z.int(),
      end_point_code: z.string(),
      status: z.string(),
    }),
  ),
});

export const holdModel = z.strictObject({
  held: z.boolean(),
  by: z
    .array(z.string())
    .describe("Users as protocol and name, as opcua:plc1, the longest first; (all) marks a hold on all."),
  stored: z.boolean().describe("Whether a restart would know the same."),
});

export type GoalView = ViewOf<typeof goal>;
export type MissionView = ViewOf<typeof mission>;
export type MissionState = ViewOf<typeof missionModel>;
export type BatteryState = ViewOf<typeof batteryModel>;
export type ConveyorState = ViewOf<typeof conveyorModel>;
export type TaskChainState = ViewOf<typeof taskChainModel>;
export type Hold = ViewOf<typeof holdModel>;

export function missionOf(queue: MissionQueue, stamp: Stamp): MissionState {
  return JSON.parse(missionText(queue, stamp));
}

export function batteryOf(battery: Battery, stamp: Stamp): BatteryState {
  return JSON.parse(batteryText(battery, stamp));
}

export function conveyorOf(conveyor: Conveyor): ConveyorState {
  return JSON.parse(conveyorText(conveyor));
}

export function holdOf({ isHeld, by, isStored }: HoldState): Hold {
  return { held: isHeld, by, stored: isStored };
}

/** `state` of a mission event. */
export function missionText(queue: MissionQueue, stamp: Stamp): string {
  const active = currentMission(queue);
  let missions = "";
  let activeText = "null";
  for (const each of queue.missions) {
    const text = oneMissionText(each);
    if (each === active) activeText = text;
    missions = missions === "" ? text : `${missions},${text}`;
  }
  const present = active === undefined ? undefined : currentGoal(active);
  const goalJson = present === undefined ? "null" : goalText(present);
  return `{"metadata":${metadataText(stamp)},"missions":[${missions}],"current_mission_index":${queue.currentMissionIndex},"current_mission":${activeText},"current_goal":${goalJson}}`;
}

/** `state` of a battery event. */
export function batteryText(battery: Battery, stamp: Stamp): string {
  return `{"metadata":${metadataText(stamp)},"battery_state":{"charge_percent":${battery.chargePercent},"state":${code(battery.state)},"charge_method":${code(battery.chargeMethod)}}}`;
}

/** A ConveyorState. */
export function conveyorText(conveyor: Conveyor): string {
  return `{"index":${conveyor.index},"operation_state":${code(conveyor.operation)},"payload_state":${code(conveyor.payload)},"health_state":${code(conveyor.health)},"installation_state":${code(conveyor.installation)}}`;
}

function oneMissionText(one: Mission): string {
  let goals = "";
  for (const each of one.goals) goals = goals === "" ? goalText(each) : `${goals},${goalText(each)}`;
  return `{"mission_id":${jsonText(one.missionId)},"state":${code(one.state)},"goals":[${goals}],"current_goal_index":${one.currentGoalIndex},"mission_feedback":${feedbackText(one.feedback)},"mission_type":${typeText(one.type)},"owner":${jsonText(one.owner)}}`;
}

function goalText(one: Goal): string {
  switch (one.kind) {
    case "destination":
      return `{"destination_id":${jsonText(one.destinationId)}}`;
    case "pose":
      return `{"pose":{"x_meters":${jsonFloat(one.pose.xMeters)},"y_meters":${jsonFloat(one.pose.yMeters)},"heading_radians":${jsonFloat(one.pose.headingRadians)}}}`;
    case "none":
      return "{}";
  }
}

function feedbackText(one: Feedback | null): string {
  if (one === null) return "null";
  if (one.family === "none") return "{}";
  return `{"${one.family}_feedback":{"status":${code(one.status)}}}`;
}

function typeText(type: MissionType | null): string {
  if (type === null) return "null";
  if (type.family === "none") return "{}";
  return `{"${type.family}_type":${code(type.type)}}`;
}

/** EventMetadata; null: the message had none. */
function metadataText(stamp: Stamp): string {
  if (stamp.sourceTimeMs === null && stamp.sequence === null) return "null";
  const timestamp = stamp.sourceTimeMs === null ? "null" : jsonTime(stamp.sourceTimeMs);
  return `{"timestamp":${timestamp},"sequence_number":${stamp.sequence ?? 0}}`;
}

function code(value: Coded<string>): string {
  return typeof value === "string" ? `"${value}"` : String(value.raw);
}
