import { z } from "zod";
import { codeText } from "../domain/coded.ts";
import { type CommandIdentity, commandId, type Source } from "../domain/command.ts";
import type { FleetEvent } from "../domain/event.ts";
import { missionStateNames } from "../domain/mission.ts";
import { batteryStateNames } from "../domain/robot.ts";
import { alarmModel, alarmOf } from "./alarm.ts";
import { isoTime, jsonText, jsonTime } from "./json-text.ts";
import { coded, protocol, robotId, sender, session, time } from "./parts.ts";
import { outcomeName } from "./reply.ts";
import { conveyorModel, conveyorOf } from "./robot.ts";

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
  from: conveyorModel.nullable(),
  to: conveyorModel,
});

const battery = z.strictObject({
  ...common,
  from: coded(batteryStateNames),
  to: coded(batteryStateNames),
  charge_percent: z.int(),
});

const alarm = z.strictObject({
  ...common,
  from: z.enum(["inactive", "active"]),
  to: z.enum(["inactive", "active", "acknowledged"]),
  ...alarmModel.omit({ robot_id: true }).shape,
});

const commandEnded = z.strictObject({
  ...common,
  command_id: z.string(),
  command,
  operation: z.string(),
  from: z.enum(["received", "accepted", "sent", "unknown"]),
  to: outcomeName,
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
export const eventModels = {
  mission,
  conveyor,
  battery,
  alarm,
  command: commandEnded,
  lease,
  hold,
  dropped,
} satisfies Readonly<Record<FleetEvent["kind"], z.ZodType>>;

/** An event with its kind first, where no topic names it. */
export function namedEventJson(event: FleetEvent, sessionId: string): string {
  return `{"kind":"${event.kind}",${eventJson(event, sessionId).slice(1)}`;
}

/** An event as text. */
export function eventJson(event: FleetEvent, sessionId: string): string {
  const fields = event.kind === "command" ? commandText(event) : JSON.stringify(eventFields(event)).slice(1);
  return `{"event_id":${jsonText(event.eventId)},"robot_id":${jsonText(event.robotId)},"at":${jsonTime(event.atMs)},"session_id":${jsonText(event.sessionId ?? sessionId)}${marks(event)},${fields}`;
}

/** Only those that are set: most events have none. */
function marks({ jump, historical }: FleetEvent): string {
  return `${jump === true ? ',"jump":true' : ""}${historical === true ? ',"historical":true' : ""}`;
}

type CommandEvent = Extract<FleetEvent, { kind: "command" }>;

/** A command's event without the first brace: there is one for each command. */
function commandText({ command, operation, from, outcome, foundLater }: CommandEvent): string {
  const { source, requestId } = command;
  const sender = `"command_id":${jsonText(commandId(command))},"command":{"protocol":"${source.protocol}","user":${jsonText(source.name)},"request_id":${jsonText(requestId)}}`;
  const ending = `"operation":${jsonText(operation)},"from":"${from}","to":"${outcome.outcome}","code":"${outcome.code}","message":${jsonText(outcome.message)},"retry_safe":${outcome.retrySafe}`;
  const later = foundLater === undefined ? "" : `,"found_later":${jsonText(foundLater)}`;
  return `${sender},${ending},"mission_id":${textOrNull(outcome.missionId)},"evidence":${textOrNull(outcome.evidence)}${later}}`;
}

function textOrNull(text: string | null): string {
  return text === null ? "null" : jsonText(text);
}

function eventFields(event: Exclude<FleetEvent, CommandEvent>): Record<string, unknown> {
  switch (event.kind) {
    case "mission":
      return {
        mission_id: event.missionId,
        from: event.from === null ? null : codeText(event.from),
        to: codeText(event.to),
        owner: event.owner,
        ...commandFields(event.command),
      };
    case "conveyor":
      return {
        index: event.to.index,
        from: event.from === null ? null : conveyorOf(event.from),
        to: conveyorOf(event.to),
      };
    case "battery":
      return {
        from: codeText(event.from),
        to: codeText(event.to),
        charge_percent: event.chargePercent,
      };
    case "alarm":
      // Every event has `robot_id` already, and a repeated key is no valid JSON.
      return { from: event.from, to: event.to, ...alarmOf(event.alarm), robot_id: undefined };
    case "lease":
      return {
        station: event.station,
        ...senderOf(event.owner),
        from: event.to === "leased" ? "free" : "leased",
        to: event.to,
        reason: event.reason,
        by: event.by === null ? null : senderOf(event.by),
      };
    case "hold":
      return {
        ...senderOf(event.owner),
        from: event.to === "held" ? "free" : "held",
        to: event.to,
        by: senderOf(event.by),
      };
    case "dropped":
      return {
        ...(event.source === null ? {} : senderOf(event.source)),
        count: event.count,
        from: isoTime(event.fromMs),
        to: isoTime(event.toMs),
        reason: event.reason,
      };
  }
}

function commandFields(command: CommandIdentity | null): Record<string, unknown> {
  if (command === null) return { command_id: null, command: null };
  const { source, requestId } = command;
  return { command_id: commandId(command), command: { ...senderOf(source), request_id: requestId } };
}

function senderOf({ protocol, name }: Source): Record<string, string> {
  return { protocol, user: name };
}
