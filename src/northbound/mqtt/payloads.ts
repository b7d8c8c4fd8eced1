import { alarmJson } from "../../domain/alarm-json.ts";
import type { Battery } from "../../domain/battery.ts";
import { type Coded, codeText } from "../../domain/coded.ts";
import { type CommandIdentity, commandId, type Source } from "../../domain/command.ts";
import type { Conveyor } from "../../domain/conveyor.ts";
import type { FleetEvent } from "../../domain/event.ts";
import type { FleetMap } from "../../domain/fleet-map.ts";
import type { Goal } from "../../domain/goal.ts";
import type { HoldState } from "../../domain/hold.ts";
import {
  currentGoal,
  currentMission,
  type Feedback,
  type Mission,
  type MissionQueue,
  type MissionType,
} from "../../domain/mission.ts";
import type { Stamp } from "../../domain/observed.ts";
import type { Quality } from "../../domain/quality.ts";
import { isoTime, jsonFloat, jsonText, jsonTime } from "./json-text.ts";

/**
 * The JSON that the gateway publishes, built as text: names are constants, so only
 * the values are worth looking at. `state` is the `state` of the service's webhook
 * event, byte for byte (docs/service.md, WHK-27): snake_case in field-number order,
 * enums by name, every scalar present, unset messages null.
 */

/** `state` of a mission event. */
export function missionState(queue: MissionQueue, stamp: Stamp): string {
  const active = currentMission(queue);
  let missions = "";
  let activeText = "null";
  for (const mission of queue.missions) {
    const text = missionText(mission);
    if (mission === active) activeText = text;
    missions = missions === "" ? text : `${missions},${text}`;
  }
  const goal = active === undefined ? undefined : currentGoal(active);
  const goalJson = goal === undefined ? "null" : goalText(goal);
  return `{"metadata":${metadata(stamp)},"missions":[${missions}],"current_mission_index":${queue.currentMissionIndex},"current_mission":${activeText},"current_goal":${goalJson}}`;
}

/** `state` of a battery event. */
export function batteryState(battery: Battery, stamp: Stamp): string {
  return `{"metadata":${metadata(stamp)},"battery_state":{"charge_percent":${battery.chargePercent},"state":${code(battery.state)},"charge_method":${code(battery.chargeMethod)}}}`;
}

/** A ConveyorState. */
export function conveyorState(conveyor: Conveyor): string {
  return `{"index":${conveyor.index},"operation_state":${code(conveyor.operation)},"payload_state":${code(conveyor.payload)},"health_state":${code(conveyor.health)},"installation_state":${code(conveyor.installation)}}`;
}

/**
 * The envelope of every state topic. `robotId` is null for a task chain whose robot is not known. A lost
 * value has the state null.
 */
export function envelope(
  robotId: string | null,
  quality: Quality,
  receivedAtMs: number,
  sessionId: string,
  state: string,
): string {
  const robot = robotId === null ? "null" : jsonText(robotId);
  return `{"robot_id":${robot},"quality":"${quality}","received_at":${jsonTime(receivedAtMs)},"session_id":${jsonText(sessionId)},"state":${quality === "lost" ? "null" : state}}`;
}

/** A map of the last GetMap, for `maps/<id>`; empty for one that is gone. */
export function mapPayload(mapId: number, map: FleetMap | null, sessionId: string): string {
  if (map === null) return "";
  const { readAtMs, json, bytes } = map;
  return `{"map_id":${mapId},"read_at":${jsonTime(readAtMs)},"bytes":${bytes},"session_id":${jsonText(sessionId)},"state":${json ?? "null"}}`;
}

/** The hold on a robot, or (null) on all robots: for `robots/<id>/hold` and `hold`. */
export function holdPayload(robotId: string | null, hold: HoldState, sessionId: string): string {
  const { isHeld, by, isStored } = hold;
  const robot = robotId === null ? {} : { robot_id: robotId };
  return JSON.stringify({ ...robot, held: isHeld, by, stored: isStored, session_id: sessionId });
}

/** One transition, for `robots/<id>/event/<kind>`. */
export function eventPayload(event: FleetEvent, sessionId: string): string {
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
        from: event.from === null ? null : plainConveyor(event.from),
        to: plainConveyor(event.to),
      };
    case "alarm":
      // Every event has `robot_id` already, and a repeated key is no valid JSON.
      return { from: event.from, to: event.to, ...alarmJson(event.alarm), robot_id: undefined };
    case "lease":
      return {
        station: event.station,
        ...plainSource(event.owner),
        from: event.to === "leased" ? "free" : "leased",
        to: event.to,
        reason: event.reason,
        by: event.by === null ? null : plainSource(event.by),
      };
    case "hold":
      return {
        ...plainSource(event.owner),
        from: event.to === "held" ? "free" : "held",
        to: event.to,
        by: plainSource(event.by),
      };
    case "dropped":
      return {
        ...(event.source === null ? {} : plainSource(event.source)),
        count: event.count,
        from: isoTime(event.fromMs),
        to: isoTime(event.toMs),
        reason: event.reason,
      };
  }
}

function missionText(mission: Mission): string {
  let goals = "";
  for (const goal of mission.goals) goals = goals === "" ? goalText(goal) : `${goals},${goalText(goal)}`;
  return `{"mission_id":${jsonText(mission.missionId)},"state":${code(mission.state)},"goals":[${goals}],"current_goal_index":${mission.currentGoalIndex},"mission_feedback":${feedbackText(mission.feedback)},"mission_type":${typeText(mission.type)},"owner":${jsonText(mission.owner)}}`;
}

function goalText(goal: Goal): string {
  switch (goal.kind) {
    case "destination":
      return `{"destination_id":${jsonText(goal.destinationId)}}`;
    case "pose":
      return `{"pose":{"x_meters":${jsonFloat(goal.pose.xMeters)},"y_meters":${jsonFloat(goal.pose.yMeters)},"heading_radians":${jsonFloat(goal.pose.headingRadians)}}}`;
    case "none":
      return "{}";
  }
}

function feedbackText(feedback: Feedback | null): string {
  if (feedback === null) return "null";
  if (feedback.family === "none") return "{}";
  return `{"${feedback.family}_feedback":{"status":${code(feedback.status)}}}`;
}

function typeText(type: MissionType | null): string {
  if (type === null) return "null";
  if (type.family === "none") return "{}";
  return `{"${type.family}_type":${code(type.type)}}`;
}

/** EventMetadata; null: the message had none. */
function metadata(stamp: Stamp): string {
  if (stamp.sourceTimeMs === null && stamp.sequence === null) return "null";
  const time = stamp.sourceTimeMs === null ? "null" : jsonTime(stamp.sourceTimeMs);
  return `{"timestamp":${time},"sequence_number":${stamp.sequence ?? 0}}`;
}

function code(value: Coded<string>): string {
  return typeof value === "string" ? `"${value}"` : String(value.raw);
}

function commandFields(command: CommandIdentity | null): Record<string, unknown> {
  if (command === null) return { command_id: null, command: null };
  const { source, requestId } = command;
  return { command_id: commandId(command), command: { ...plainSource(source), request_id: requestId } };
}

function plainSource({ protocol, name }: Source): Record<string, string> {
  return { protocol, user: name };
}

function plainConveyor(conveyor: Conveyor): Record<string, string | number> {
  return {
    index: conveyor.index,
    operation_state: codeText(conveyor.operation),
    payload_state: codeText(conveyor.payload),
    health_state: codeText(conveyor.health),
    installation_state: codeText(conveyor.installation),
  };
}
