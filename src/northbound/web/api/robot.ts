import { z } from "zod";
import { idleReasonNames } from "../../../domain/idle-reason.ts";
import { alarmModel } from "../../../models/alarm.ts";
import {
  aged,
  index,
  milliseconds,
  page,
  quality,
  robotId,
  time,
  user,
  type ViewOf,
} from "../../../models/parts.ts";
import {
  batteryModel,
  conveyorModel,
  family,
  holdModel,
  missionModel,
  taskChainModel,
} from "../../../models/robot.ts";

/** Why a robot stands: one rule for every protocol (domain/idle-reason.ts). */
const idle = z.strictObject({
  reason: z.enum(idleReasonNames),
  text: z.string().describe("The same for people; empty for a robot that moves."),
  since: time.describe("Since when the reason holds, or since the gateway began to look."),
  for_ms: milliseconds.describe("The same as a time until now, when this was sent."),
  not_ready: z.boolean().describe("Whether the robot takes no command for that reason."),
});

/** The robot's position in the online list. It has an age of its own, whatever the robot's quality. */
const place = z.strictObject({
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

const exception = z.strictObject({
  texts: z.array(z.string()),
  codes: z.array(z.string()),
  level: z.int(),
});

const lease = z.strictObject({ station: z.string(), owner: user, since: time });

const taskChain = aged(taskChainModel).extend({
  current_task_index: z.int().nullable().describe("Null: none is executed."),
  waits_for_confirmation: z.boolean(),
});

/** The values have the states of MQTT's topics; what MQTT does not have is computed for the console. */
export const robot = z.strictObject({
  robot_id: robotId,
  family,
  quality: quality.describe("The worst of what its streams sent."),
  out_of_service: z.boolean(),
  idle,
  place: place.nullable().describe("Null: no list was read, or none had the robot."),
  mission: aged(missionModel).nullable().describe("Null, here and below: never received."),
  battery: aged(batteryModel).nullable(),
  task_chain: taskChain.nullable().describe("The one that the online list names."),
  conveyors: z.array(aged(conveyorModel).extend({ index })),
  exception: exception.nullable().describe("What the robot reports of itself; null: nothing, or not known."),
  lease: lease.nullable(),
  hold: holdModel,
  alarms: z.array(alarmModel).describe("Those of the robot, the most urgent first."),
});

/** The changed keys of a robot: each replaces the key of the same name as a whole. */
export const robotChange = robot.partial().required({ robot_id: true });

export const robots = z.strictObject({ ...page, robots: z.array(robot) });

export const pause = z.strictObject({
  commands: z.array(z.strictObject({ operation: z.string(), request: z.record(z.string(), z.unknown()) })),
  tick: z.string().describe("The tick of this moment. A stop that names it is refused after 5 s."),
});

export type Pause = ViewOf<typeof pause>;
export type Robot = ViewOf<typeof robot>;
export type RobotChange = ViewOf<typeof robotChange>;
export type Robots = ViewOf<typeof robots>;

/** The body of `PUT /api/v1/hold` and `PUT /api/v1/robots/{robot}/hold`. */
export const holdRequest = z.strictObject({
  hold: z.boolean().describe("True begins your hold, false lifts it."),
  user: user.optional().describe("Beside hold false: whose hold is lifted, as opcua:plc1."),
});

export const holders = z.strictObject({
  held: z.boolean(),
  by: z.array(z.string()),
  stored: z.boolean().describe("Whether a restart, or another leader of a cluster, would know the same."),
  message: z.string().optional().describe("What is not stored."),
});

/** The lease before it was ended. */
export const endedLease = z.strictObject({ station: z.string().nullable(), owner: user.nullable() });

export type HoldRequest = ViewOf<typeof holdRequest>;
export type Holders = ViewOf<typeof holders>;
export type EndedLease = ViewOf<typeof endedLease>;
