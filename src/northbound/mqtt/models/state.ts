import { z } from "zod";
import { batteryStateNames, chargeMethodNames } from "../../../domain/battery.ts";
import {
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../../domain/conveyor.ts";
import { feedbackStatusNames, missionStateNames, missionTypeNames } from "../../../domain/mission.ts";
import { qualities } from "../../../domain/quality.ts";
import { coded, envelope, float, index, robotId, session, shownQuality, time } from "./parts.ts";

export const status = z.strictObject({
  state: z.enum(["online", "offline"]),
  session_id: session,
  gateway_id: z.string(),
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
const family = z.enum(["cart", "serve", "base", "unknown"]);

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

export const availability = shownQuality.describe("Bare text, not JSON.");

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

const missionModel = z.strictObject({
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

export const mission = envelope(
  z.strictObject({
    metadata,
    missions: z.array(missionModel).describe("From the first assigned to the last."),
    current_mission_index: z.int().describe("-1: none is active."),
    current_mission: missionModel.nullable(),
    current_goal: goal.nullable(),
  }),
);

export const battery = envelope(
  z.strictObject({
    metadata,
    battery_state: z.strictObject({
      charge_percent: z.int(),
      state: coded(batteryStateNames),
      charge_method: coded(chargeMethodNames),
    }),
  }),
);

export const conveyorState = z.strictObject({
  index,
  operation_state: coded(operationStateNames),
  payload_state: coded(payloadStateNames),
  health_state: coded(healthStateNames),
  installation_state: coded(installationStateNames),
});

export const conveyor = envelope(conveyorState);

/** The messages of the service have more fields; those that the gateway itself reads are named. */
export const presence = envelope(
  z.looseObject({
    id: z.string().describe("The robot's number (amr_id), in decimal."),
    name: z.string().describe("The robot's id."),
    map_id: z.int(),
    pos: z.string().describe("The code of the point that the robot is at."),
    state_id: z.string(),
    task_chain_id: z.int(),
    battery_percentile: z.number(),
    coordinate: z.strictObject({ x: z.number(), y: z.number(), theta: z.number() }).nullable(),
  }),
);

export const taskChain = envelope(
  z.looseObject({
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
  }),
);

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

const by = z
  .array(z.string())
  .describe("Users as protocol and name, as opcua:plc1; (all) marks a hold on all.");
const held = { held: z.boolean(), by, stored: z.boolean(), session_id: session };

export const hold = z.strictObject({ robot_id: robotId, ...held });
export const holdAll = z.strictObject(held);

const seconds = z.number().min(0);

export const stationState = z.strictObject({
  station: z.string(),
  quality: z.enum(qualities),
  session_id: session,
  state: z.strictObject({
    valid: z.boolean(),
    robot_here: robotId.nullable(),
    robots_here: z.int().min(0),
    arrived: z.boolean(),
    conveyors: z.array(z.strictObject({ index, loaded: z.boolean(), rolling: z.boolean() })),
    conveyors_quality: z.enum(qualities),
    next_robot: robotId.nullable(),
    next_robot_goals_before: z.int().min(0).nullable(),
    next_robot_quality: z.enum(qualities),
    counters: z.strictObject({
      since: time,
      cycles: z.int(),
      aborted: z.int(),
      waiting_last_s: seconds,
      waiting_total_s: seconds,
      cycle_last_s: seconds,
      cycle_total_s: seconds,
    }),
  }),
});

export const tag = z.string().describe("A bare value: text, a number, true or false. No JSON.");

/** The types of renderers that build an object: the compiler checks them against the models. */
export type StatusPayload = z.infer<typeof status>;
export type RobotsPayload = z.infer<typeof robots>;
export type InfoPayload = z.infer<typeof info>;
export type StationPayload = z.infer<typeof stationState>;
