import type { JsonObject } from "../../platform/json.ts";
import { numberOf, objectOf, textOf } from "../answer-fields.ts";
import { localTime } from "../readable.ts";

/** One line for a person, in the terminal's time zone. */
export function eventLine(event: JsonObject): string {
  const whose = textOf(event, "robot_id") || "-";
  const marks = [event.jump === true ? "jump" : "", event.historical === true ? "historical" : ""];
  const mark = marks.filter((text) => text !== "").join(", ");
  const text = `${textOf(event, "kind")} ${eventText(event)}${mark === "" ? "" : ` (${mark})`}`;
  return `${localTime(textOf(event, "at"))}  ${whose.padEnd(10)}  ${text}`.trimEnd();
}

function eventText(event: JsonObject): string {
  const [from, to] = [coded(event, "from"), coded(event, "to")];
  switch (event.kind) {
    case "mission":
      return `${textOf(event, "mission_id")} ${to}${from === "" ? "" : `, was ${from}`}${byCommand(event)}`;
    case "conveyor":
      return conveyorText(objectOf(event, "to"));
    case "alarm":
      return `${textOf(event, "code")} ${to}: ${textOf(event, "text")} (${textOf(event, "id")})`;
    case "command":
      return commandText(event, to);
    case "lease":
      return `${to}: station ${textOf(event, "station")} for ${user(event)} (${textOf(event, "reason")})`;
    case "hold":
      return `${to}: ${user(event)}`;
    case "dropped":
      return `${numberOf(event, "count")} events: ${textOf(event, "reason")}`;
    default:
      return from === "" ? to : `${to}, was ${from}`;
  }
}

function byCommand(event: JsonObject): string {
  const command = textOf(event, "command_id");
  return command === "" ? "" : `, by ${command}`;
}

function commandText(event: JsonObject, to: string): string {
  const message = textOf(event, "message");
  const code = textOf(event, "code");
  const why = code === "OK" ? "" : ` (${code}${message === "" ? "" : `: ${message}`})`;
  const later = textOf(event, "found_later");
  const found = later === "" ? "" : `; found later: ${later}`;
  return `${textOf(event, "operation")} ${to}${why}${found}, ${textOf(event, "command_id")}`;
}

function conveyorText(conveyor: JsonObject): string {
  const words = ["operation_state", "payload_state", "health_state"].map((name) => coded(conveyor, name));
  return `${numberOf(conveyor, "index")} ${words.join(", ")}`;
}

function user(event: JsonObject): string {
  return `${textOf(event, "protocol")}:${textOf(event, "user")}`;
}

/**
 * The last word of an enum's name: `STATE_RUNNING` becomes running. A number without a name stays a number.
 */
function coded(object: JsonObject, name: string): string {
  const value = object[name];
  if (typeof value === "number") return String(value);
  const text = textOf(object, name);
  return /^[A-Z_]+$/.test(text)
    ? text.slice(text.lastIndexOf("_") + 1).toLowerCase()
    : text.replace("_", " ");
}
