import { z } from "zod";
import type { FleetEvent } from "../../../domain/event.ts";
import { missionStateNames } from "../../../domain/mission.ts";
import { alarmFields } from "./alarms.ts";
import { coded, protocol, robotId, sender, session, time } from "./parts.ts";
import { outcome } from "./requests.ts";
import { conveyorState } from "./state.ts";

/** The first fields of every event. */
const common = {
  event_id: z.string().describe("The same when it is sent again."),
  robot_id: robotId.describe("Empty: it concerns no single robot, or names an unknown one."),
  at: time.nullable(),
  session_id: session,
  jump: z
    .literal(true)
    .optional()
    .describe("It happened while no gateway ran: only the states before and after are known."),
  historical: z.literal(true).optional().describe("It is published later than it happened."),
};

const command = z.strictObject({ protocol, user: z.string(), request_id: z.string() });

const mission = z.strictObject({
  ...common,
  mission_id: z.string(),
  from: coded(missionStateNames).nullable(),
  to: coded(missionStateNames),
  owner: z.string(),
  command_id: z.string().nullable(),
  command: command.nullable().describe("The command of this gateway that made the mission."),
});

const conveyor = z.strictObject({
  ...common,
  index: z.int().min(0),
  from: conveyorState.nullable(),
  to: conveyorState,
});

const alarm = z.strictObject({
  ...common,
  from: z.enum(["inactive", "active"]),
  to: z.enum(["inactive", "active", "acknowledged"]),
  ...alarmFields,
});

const commandEnded = z.strictObject({
  ...common,
  command_id: z.string(),
  command,
  operation: z.string(),
  from: z.enum(["received", "accepted", "sent", "unknown"]),
  to: outcome,
  code: z.string(),
  message: z.string(),
  retry_safe: z.boolean(),
  mission_id: z.string().nullable(),
  evidence: z.string().nullable(),
  found_later: z.string().optional().describe("Found after an outcome that is unknown and stays so."),
});

const lease = z.strictObject({
  ...common,
  station: z.string(),
  protocol,
  user: z.string(),
  from: z.enum(["free", "leased"]),
  to: z.enum(["free", "leased"]),
  reason: z.enum([
    "asked",
    "released",
    "overridden",
    "left",
    "out_of_sight",
    "lapsed",
    "not_configured",
    "not_allowed",
  ]),
  by: sender.nullable().describe("Null: the gateway ended it by itself."),
});

const hold = z.strictObject({
  ...common,
  protocol,
  user: z.string(),
  from: z.enum(["free", "held"]),
  to: z.enum(["free", "held"]),
  by: sender,
});

const dropped = z.strictObject({
  ...common,
  protocol: protocol.optional(),
  user: z.string().optional().describe("Whose commands the events were of; left out: of the robot."),
  count: z.int().min(1),
  from: time.nullable().describe("When the first of them happened."),
  to: time.nullable().describe("When the last of them happened."),
  reason: z.enum(["too_many", "too_old", "damaged", "too_large", "refused"]),
});

/** By the kind in their topics. */
export const events = {
  mission,
  conveyor,
  alarm,
  command: commandEnded,
  lease,
  hold,
  dropped,
} satisfies Readonly<Record<FleetEvent["kind"], z.ZodType>>;
