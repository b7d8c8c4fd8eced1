import { z } from "zod";
import { qualities } from "../../../domain/observed.ts";
import { alarmModel } from "../../../models/alarm.ts";
import { clusterRoles } from "../../../models/cluster.ts";
import { index, observed, robotId, session, time } from "../../../models/parts.ts";
import * as robot from "../../../models/robot.ts";
import { stationModel } from "../../../models/station.ts";

const memberName = z.string().describe("A member of the cluster; left out without one.");
const epoch = z.number().describe("Higher with each leader of the cluster; left out without one.");

export const status = z.strictObject({
  state: z.enum(["online", "offline"]),
  session_id: session,
  gateway_id: z.string(),
  member: memberName.optional(),
  epoch: epoch.optional(),
  at: time.nullable().optional().describe("Left out in the last will."),
});

export const member = z.strictObject({
  state: z.enum(["online", "offline"]),
  session_id: session,
  gateway_id: z.string(),
  member: memberName,
  role: z.enum(clusterRoles).optional().describe("Left out while it is offline."),
  epoch: epoch.optional().describe("The newest that it knows. Left out in the last will."),
  at: time.nullable().optional().describe("Left out in the last will."),
});

const partState = z.enum(["starting", "up", "degraded", "down"]);

export const health = z.strictObject({
  state: partState.describe("The worst of the parts."),
  session_id: session,
  at: time.nullable(),
  parts: z.record(
    z.string(),
    z.strictObject({
      state: partState,
      detail: z.string().optional(),
      figures: z.record(z.string(), z.number()).optional(),
    }),
  ),
});

const alias = z.string().nullable().describe("Of opcua.robots in the configuration.");
const { family } = robot;

export const robots = z.strictObject({
  session_id: session,
  robots: z.array(
    z.strictObject({ robot_id: robotId, alias, family, info: z.string().describe("The topic of its info.") }),
  ),
});

export const info = z.strictObject({
  robot_id: robotId,
  alias,
  family,
  conveyors: z.array(index).describe("The indexes seen since the start."),
  map_id: z.int().min(1).nullable(),
  session_id: session,
});

/** A value that was never received has no topic. */
const shownQuality = z.enum(qualities).exclude(["unknown"]);

export const availability = shownQuality.describe("Bare text, not JSON.");

/** The envelope of a robot's state, with the `state` of one kind. */
function envelope(model: z.ZodType) {
  const { quality, ...value } = observed(model).shape;
  return z.strictObject({
    robot_id: robotId.nullable(),
    quality: shownQuality.describe(quality.description ?? ""),
    ...value,
    session_id: session,
  });
}

export const mission = envelope(robot.missionModel);
export const battery = envelope(robot.batteryModel);
export const conveyor = envelope(robot.conveyorModel);
export const presence = envelope(robot.presenceModel);
export const taskChain = envelope(robot.taskChainModel);

export const map = z.strictObject({
  map_id: z.int().min(1),
  read_at: time.describe("When the service answered with it."),
  bytes: z.int().describe("How large the answer is."),
  session_id: session,
  state: z
    .looseObject({
      vertexes: z.array(
        z.looseObject({
          code: z.string(),
          alias: z.string(),
          x: z.number(),
          y: z.number(),
          theta: z.number(),
        }),
      ),
    })
    .nullable()
    .describe("As GetMap answers; null for more than 256 KiB."),
});

export const holdAll = robot.holdModel.extend({ session_id: session });
export const hold = holdAll.extend({ robot_id: robotId });

export const station = stationModel.extend({ session_id: session });

export const alarms = z.strictObject({
  count: z.int().min(0).describe("Of all that stand; at most 200 are listed."),
  highest_severity: z.int().min(0).max(1_000),
  alarms: z.array(alarmModel).describe("The most urgent first."),
  session_id: session,
});
export const robotAlarms = alarms.extend({ robot_id: robotId, out_of_service: z.boolean() });
export const stationAlarms = alarms.extend({ station: z.string() });

export const tag = z.string().describe("A bare value: text, a number, true or false. No JSON.");

/** The types of renderers that build an object: the compiler checks them against the models. */
export type StatusPayload = z.infer<typeof status>;
export type MemberPayload = z.infer<typeof member>;
export type RobotsPayload = z.infer<typeof robots>;
export type InfoPayload = z.infer<typeof info>;
