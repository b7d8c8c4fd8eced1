import type { Gap, StreamEvent } from "../../northbound/web/api/stream.ts";
import { codeWord, sentence } from "./words.ts";

/** An event for the views. */
export interface ReceivedEvent {
  readonly id: string;
  /** By the gateway's clock. */
  readonly at: string;
  /** Empty: of no single robot. Null: events of any robot are missing here. */
  readonly robotId: string | null;
  readonly kind: string;
  readonly text: string;
}

/** The events that the page has received, the newest last. */
export interface EventLog {
  /** By the gateway's clock. Older ones were not received, or were evicted. */
  readonly since: string;
  readonly events: readonly ReceivedEvent[];
}

const MOST_EVENTS = 500;

/** The log when a stream begins: empty, unless the stream resumes after an event that the page received. */
export function listening(log: EventLog | null, at: string, couldResume: boolean): EventLog {
  return log !== null && couldResume ? log : { since: at, events: [] };
}

export function withEvent(log: EventLog, event: StreamEvent): EventLog {
  const { event_id: id, at, robot_id: robotId, kind } = event;
  if (log.events.some((known) => known.id === id)) return log;
  return withNewest(log, { id, at, robotId, kind, text: eventText(event) });
}

export function withGap(log: EventLog, { at, missing }: Gap): EventLog {
  const text =
    missing === null
      ? "Events are missing here. It is not known how many, for the gateway was started again."
      : `${missing} events are missing here, of this robot or of others.`;
  return withNewest(log, { id: `gap ${at}`, at, robotId: null, kind: "missing", text });
}

function withNewest({ since, events }: EventLog, newest: ReceivedEvent): EventLog {
  const all = [...events, newest];
  const kept = all.slice(-MOST_EVENTS);
  return { since: kept.length < all.length ? (kept[0]?.at ?? since) : since, events: kept };
}

/** The newest first: those of a robot, and where any may be missing. */
export function eventsOf(log: EventLog, robotId: string, most: number): readonly ReceivedEvent[] {
  const own = log.events.filter((event) => event.robotId === robotId || event.robotId === null);
  return own.reverse().slice(0, most);
}

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
