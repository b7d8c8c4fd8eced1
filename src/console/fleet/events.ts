import type { Gap, StreamEvent } from "../../northbound/web/api/stream.ts";
import { say, word } from "../texts/texts.ts";
import { codeWord } from "./words.ts";

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
  const text = missing === null ? say("events.missingUnknown") : say("events.missing", { count: missing });
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

/** The fields of an event are those of its kind over MQTT (docs/mqtt.md). */
type Fields = Readonly<Record<string, unknown>>;

/** An event in the words of `fleetgate tail`. */
export function eventText(event: StreamEvent): string {
  const fields: Fields = event;
  const { jump, historical } = fields;
  const text = textOfKind(event.kind, fields);
  if (jump !== true && historical !== true) return text;
  const mark = jump !== true ? "events.historical" : historical === true ? "events.both" : "events.jump";
  return say("events.marked", { text, mark: say(mark) });
}

function textOfKind(kind: StreamEvent["kind"], event: Fields): string {
  const to = coded(event, "to", "STATE_");
  switch (kind) {
    case "mission":
      return missionText(event, to);
    case "conveyor":
      return conveyorText(objectOf(event.to));
    case "battery":
      return say("events.battery", {
        to,
        from: coded(event, "from", "STATE_"),
        charge: Number(event.charge_percent),
      });
    case "alarm":
      return say("events.alarm", { alarm: word(textOf(event, "code")), to, text: textOf(event, "text") });
    case "command":
      return commandText(event, to);
    case "lease":
      return say("events.lease", {
        to,
        station: textOf(event, "station"),
        user: user(event),
        reason: words(event, "reason"),
      });
    case "hold":
      return say("events.hold", { to, user: user(event) });
    case "dropped":
      return say("events.dropped", { count: Number(event.count), reason: words(event, "reason") });
  }
}

function missionText(event: Fields, to: string): string {
  const [id, command] = [textOf(event, "mission_id"), textOf(event, "command_id")];
  const from = event.from == null ? "" : coded(event, "from", "STATE_");
  if (from === "")
    return command === "" ? say("events.mission", { id, to }) : say("events.missionBy", { id, to, command });
  return command === ""
    ? say("events.missionWas", { id, to, from })
    : say("events.missionWasBy", { id, to, from, command });
}

function commandText(event: Fields, to: string): string {
  const [code, message] = [textOf(event, "code"), textOf(event, "message")];
  const why = message === "" ? code : say("events.why", { code, message });
  const found = textOf(event, "found_later");
  const shown = { operation: textOf(event, "operation"), to, id: textOf(event, "command_id") };
  if (code === "OK")
    return found === "" ? say("events.command", shown) : say("events.commandFound", { ...shown, found });
  return found === ""
    ? say("events.commandWhy", { ...shown, why })
    : say("events.commandWhyFound", { ...shown, why, found });
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
  return word(textOf(event, name));
}

function textOf(event: Fields, name: string): string {
  const value = event[name];
  return typeof value === "string" ? value : "";
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
