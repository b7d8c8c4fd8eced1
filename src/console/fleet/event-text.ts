import type { StreamEvent } from "../../northbound/web/api/stream.ts";
import { codeWord, sentence } from "./words.ts";

/** The fields of an event are those of its kind over MQTT (docs/scada.md). */
type Fields = Readonly<Record<string, unknown>>;

/** An event in the words of `fleetgate tail`. */
export function eventText(event: StreamEvent): string {
  const fields: Fields = event;
  const marks = [event.jump === true ? "jump" : "", event.historical === true ? "historical" : ""];
  const mark = marks.filter((text) => text !== "").join(", ");
  return mark === "" ? textOfKind(event.kind, fields) : `${textOfKind(event.kind, fields)} (${mark})`;
}

function textOfKind(kind: StreamEvent["kind"], event: Fields): string {
  const to = coded(event, "to", "STATE_");
  switch (kind) {
    case "mission":
      return missionText(event, to);
    case "conveyor":
      return conveyorText(objectOf(event.to));
    case "alarm":
      return `${sentence(textOf(event, "code"))} ${to}: ${textOf(event, "text")}`;
    case "command":
      return commandText(event, to);
    case "lease":
      return `${to}: station ${textOf(event, "station")} for ${user(event)} (${words(event, "reason")})`;
    case "hold":
      return `${to}: ${user(event)}`;
    case "dropped":
      return `${event.count} events were dropped: ${words(event, "reason")}`;
  }
}

function missionText(event: Fields, to: string): string {
  const was = event.from == null ? "" : `, was ${coded(event, "from", "STATE_")}`;
  const command = textOf(event, "command_id");
  return `${textOf(event, "mission_id")} ${to}${was}${command === "" ? "" : `, by ${command}`}`;
}

function commandText(event: Fields, to: string): string {
  const [code, message] = [textOf(event, "code"), textOf(event, "message")];
  const why = code === "OK" ? "" : ` (${code}${message === "" ? "" : `: ${message}`})`;
  const later = textOf(event, "found_later");
  const found = later === "" ? "" : `; found later: ${later}`;
  return `${textOf(event, "operation")} ${to}${why}${found}, ${textOf(event, "command_id")}`;
}

function conveyorText(conveyor: Fields): string {
  const states = ["operation", "payload", "health"].map((part) =>
    coded(conveyor, `${part}_state`, `${part.toUpperCase()}_STATE_`),
  );
  return `${conveyor.index} ${states.join(", ")}`;
}

function user(event: Fields): string {
  return `${textOf(event, "protocol")}:${textOf(event, "user")}`;
}

/** A name of the service without its prefix, or the number of an unnamed value. */
function coded(event: Fields, name: string, prefix: string): string {
  const value = event[name];
  return typeof value === "number" || typeof value === "string" ? codeWord(value, prefix) : "";
}

function words(event: Fields, name: string): string {
  return textOf(event, name).replaceAll("_", " ");
}

function textOf(event: Fields, name: string): string {
  const value = event[name];
  return typeof value === "string" ? value : "";
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
