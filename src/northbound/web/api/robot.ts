import { z } from "zod";
import { batteryStateNames, chargeMethodNames } from "../../../domain/battery.ts";
import {
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../../domain/conveyor.ts";
import { idleReasonNames } from "../../../domain/idle-reason.ts";
import { feedbackStatusNames, missionStateNames, missionTypeNames } from "../../../domain/mission.ts";
import { alarm } from "./alarm.ts";
import {
  coded,
  index,
  milliseconds,
  observed,
  page,
  quality,
  robotId,
  time,
  user,
  type ViewOf,
} from "./parts.ts";

/** Why a robot stands: one rule for every protocol (domain/idle-reason.ts). */
export const standing = z.strictObject({
  reason: z.enum(idleReasonNames),
  text: z.string().describe("The same for people; empty for a robot that moves."),
  since: time.describe("Since when the reason holds, or since the gateway began to look."),
  for_ms: milliseconds.describe("The same as a time until now, when this was sent."),
  not_ready: z.boolean().describe("Whether the robot takes no command for that reason."),
});

/** The robot's position in the online list. It has an age of its own, whatever the robot's quality. */
export const place = z.strictObject({
  quality,
  amr_id: z.int().describe("The number by which task chains name the robot."),
  map_id: z.int(),
  map_name: z.string(),
  point: z.string().describe("The code of the point that the robot is at; empty: at none."),
  x: z.number().nullable(),
  y: z.number().nullable(),
  theta: z.number().nullable(),
  received_at: time.describe("When the list first had this record."),
  age_ms: milliseconds.describe("Since a list last confirmed it, when this was sent."),
  listed: z
    .boolean()
    .describe(
      "Whether the newest list has it. Then its age is that of the newest list, which each tick has.",
    ),
  unfinished_points: z
    .array(z.string())
    .nullable()
    .describe("The points that it has yet to pass; null: its record cannot be read so."),
});

const goal = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("destination"), destination_id: z.string() }),
  z.strictObject({
    kind: z.literal("pose"),
    x_meters: z.number().nullable(),
    y_meters: z.number().nullable(),
    heading_radians: z.number().nullable(),
  }),
  z.strictObject({ kind: z.literal("none") }),
]);

const mission = z.strictObject({
  mission_id: z.string(),
  state: coded(missionStateNames),
  family: z.enum(["base", "serve", "cart"]).nullable(),
  type: coded([...missionTypeNames.base, ...missionTypeNames.serve, ...missionTypeNames.cart]).nullable(),
  feedback: coded(feedbackStatusNames).nullable(),
  goals: z.array(goal),
  current_goal_index: z.int(),
  owner: z.string(),
});

const queue = z.strictObject({
  missions: z.array(mission).describe("From the first assigned to the last."),
  current_mission_index: z.int().describe("-1: none is active."),
});

const battery = z.strictObject({
  charge_percent: z.int(),
  state: coded(batteryStateNames),
  charge_method: coded(chargeMethodNames),
});

const conveyor = z.strictObject({
  operation_state: coded(operationStateNames),
  payload_state: coded(payloadStateNames),
  health_state: coded(healthStateNames),
  installation_state: coded(installationStateNames),
});

const task = z.strictObject({
  type: z.string(),
  point: z.string().describe("The code of its point; empty: it has none."),
  status: z.string(),
});

const taskChain = z.strictObject({
  chain_id: z.int(),
  task_seq: z.string(),
  status: z.string(),
  finished: z.boolean(),
  tasks: z.array(task),
  current_task_index: z.int().nullable().describe("Null: none is executed."),
  waits_for_confirmation: z.boolean(),
});

const exception = z.strictObject({
  texts: z.array(z.string()),
  codes: z.array(z.string()),
  level: z.int(),
});

const lease = z.strictObject({
  station: z.string(),
  owner: user,
  since: time,
});

export const hold = z.strictObject({
  held: z.boolean(),
  by: z.array(z.string()).describe("Users, the longest first; (all) marks a hold on all robots."),
  stored: z.boolean().describe("Whether a restart would know the same."),
});

export const robot = z.strictObject({
  robot_id: robotId,
  family: z.enum(["cart", "serve", "base", "unknown"]),
  quality: quality.describe("The worst of what its streams sent."),
  out_of_service: z.boolean(),
  standing,
  place: place.nullable().describe("Null: no list was read, or none had the robot."),
  missions: observed(queue).nullable().describe("Null, here and below: never received."),
  battery: observed(battery).nullable(),
  task_chain: observed(taskChain).nullable().describe("The one that the online list names."),
  conveyors: z.array(observed(conveyor).extend({ index })),
  exception: exception.nullable().describe("What the robot reports of itself; null: nothing, or not known."),
  lease: lease.nullable(),
  hold,
  alarms: z.array(alarm).describe("Those of the robot, the most urgent first."),
});

/** The changed keys of a robot: each replaces the key of the same name as a whole. */
export const robotChange = robot.partial().required({ robot_id: true });

export const robots = z.strictObject({ ...page, robots: z.array(robot) });

export const pause = z.strictObject({
  commands: z.array(z.strictObject({ operation: z.string(), request: z.record(z.string(), z.unknown()) })),
});

export type Pause = ViewOf<typeof pause>;
export type Robot = ViewOf<typeof robot>;
export type RobotChange = ViewOf<typeof robotChange>;
export type Robots = ViewOf<typeof robots>;
export type Standing = ViewOf<typeof standing>;
export type Place = ViewOf<typeof place>;
export type Goal = ViewOf<typeof goal>;
export type Mission = ViewOf<typeof mission>;
export type MissionQueue = ViewOf<typeof queue>;
export type Battery = ViewOf<typeof battery>;
export type Conveyor = Robot["conveyors"][number];
export type TaskChain = ViewOf<typeof taskChain>;
export type Lease = ViewOf<typeof lease>;
export type Hold = ViewOf<typeof hold>;
