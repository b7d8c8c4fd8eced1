import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { Client, errors } from "undici";
import { nearest } from "../config/issues.ts";
import { systemClock } from "../platform/clock.ts";
import { isJsonObject, type JsonObject } from "../platform/json.ts";
import { jsonLine, plain } from "../platform/plain-text.ts";
import { readJson } from "../platform/strict-json.ts";
import {
  askGateway,
  asRead,
  CallFailed,
  type ControlOptions,
  callFailed,
  exitWith,
  outcomeOf,
} from "./control-client.ts";
import { exitCodes, malformed } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { someTexts } from "./option.ts";
import { complain, listOf, localTime, numberOf, objectOf, say, textOf } from "./readable.ts";
import { endWithReader, stopSignal } from "./stop-signal.ts";

/** The gateway sends a tick each second. */
const SILENCE_MS = 15_000;
const ANSWER_MS = 5_000;
/** What the lines of a server-sent event begin with. */
const [NAME, BODY] = ["event: ", "data: "];

/**
 * Follows the stream of the gateway. Resolves with the reason why it has ended; rejects with CallFailed when
 * it never began.
 * @param onEvents gets the events of each message, which may be none
 * @param silenceMs a gateway that is silent for longer is given up
 */
export async function followEvents(
  socketPath: string,
  onEvents: (events: readonly JsonObject[]) => void,
  signal: AbortSignal,
  silenceMs: number = SILENCE_MS,
): Promise<string> {
  const client = new Client("http://localhost", {
    socketPath,
    headersTimeout: Math.min(silenceMs, ANSWER_MS),
    bodyTimeout: silenceMs,
  });
  const eventsOf = createEventReader();
  let hasBegun = false;
  let name = "";
  let reason = "the gateway closed the connection";
  try {
    const answer = await client.request({ method: "GET", path: "/api/v1/stream", signal });
    if (answer.statusCode !== 200) {
      const problem: unknown = await answer.body.json();
      // A problem without a code makes it throw.
      outcomeOf(null, { status: answer.statusCode, body: isJsonObject(problem) ? problem : {} });
    }
    for await (const line of createInterface({ input: answer.body, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.startsWith(NAME)) name = line.slice(NAME.length);
      const read = readJson(line.startsWith(BODY) ? line.slice(BODY.length) : "");
      if (!read.ok || !isJsonObject(read.value)) continue;
      hasBegun = true;
      if (name === "closed") reason = textOf(read.value, "reason");
      else onEvents(eventsOf(name, read.value));
    }
    return reason;
  } catch (error) {
    const isSilent = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
    if (isSilent) reason = "the gateway gives no sign of life";
    if (hasBegun) return reason;
    throw isSilent
      ? new CallFailed(reason, false, { cause: error })
      : asRead(callFailed(socketPath, error, signal));
  } finally {
    await client.destroy();
  }
}

/**
 * Reads the events of a message of the stream: the one in it, and a state for each robot with another
 * quality. The first quality of a robot is no news.
 */
function createEventReader(): (name: string, body: JsonObject) => readonly JsonObject[] {
  const qualities = new Map<string, string>();

  function stateOf(robot: JsonObject, at: string): JsonObject | null {
    if (robot.quality === undefined) return null;
    const [robotId, to] = [textOf(robot, "robot_id"), textOf(robot, "quality")];
    const from = qualities.get(robotId);
    qualities.set(robotId, to);
    return from === undefined || from === to ? null : { kind: "state", robot_id: robotId, at, from, to };
  }

  return (name, body) => {
    if (name === "event") return [body];
    const states = listOf(body, "robots").map((robot) => stateOf(robot, textOf(body, "at")));
    return states.filter((state) => state !== null);
  };
}

interface Options extends ControlOptions {
  readonly robot: readonly string[];
  readonly kind: readonly string[];
}

/** The kinds of events, and the quality of a robot. */
const kinds = ["mission", "alarm", "command", "conveyor", "battery", "lease", "hold", "dropped", "state"];
const AGAIN_MS = 1_000;

const help = `
Kinds: ${kinds.join(", ")}. A state is the quality of a robot.
It goes on when the gateway comes back, until Ctrl-C. What happens meanwhile is not shown.

Examples:
  sudo fleetgate tail
  sudo fleetgate tail --robot cart-17 --kind mission --kind command
  sudo fleetgate tail --kind alarm --json`;

/** `fleetgate tail`: follows what happens at the gateway of this machine. */
export function tailCommand(): Command {
  const command = new Command("tail").description(
    "follow missions, alarms, commands and more as they happen",
  );
  return socketOptions(command)
    .option("--robot <id>", "only of this robot; may be repeated", someTexts, [])
    .option("--kind <kind>", "only of this kind; may be repeated", someTexts, [])
    .option("--json", "print one JSON object a line")
    .addHelpText("after", help)
    .action((options: Options) => exitWith(() => tail(options)));
}

/**
 * The exit code. Rejects with CallFailed when no gateway answers the first time, and with NotPossible when
 * the filters are wrong.
 */
async function tail(options: Options): Promise<number> {
  endWithReader();
  checkKinds(options.kind);
  const socketPath = await findSocket(options);
  const signal = stopSignal();
  for (const robot of options.robot) {
    const path = `/api/v1/robots/${encodeURIComponent(robot)}`;
    outcomeOf(null, await askGateway(socketPath, { method: "GET", path, timeoutMs: ANSWER_MS }, signal));
  }
  const isJson = options.json === true;
  let away: string | null = null;
  /** Whether the gateway has answered at least once. */
  let isKnown = false;
  const report = (text: string) => {
    if (isJson) complain(plain(text));
    else say(`${localTime(systemClock.nowMs())}  ${plain(text)}`);
  };
  while (!signal.aborted) {
    try {
      const reason = await followEvents(
        socketPath,
        (events) => {
          isKnown = true;
          if (away !== null) report("the gateway is back; what happened meanwhile is not shown");
          away = null;
          for (const event of events.filter((each) => isWanted(each, options)))
            say(isJson ? jsonLine(event) : eventLine(event));
        },
        signal,
      );
      away = reason;
      if (!signal.aborted) report(`${reason}; waiting for it to come back`);
    } catch (error) {
      if (signal.aborted) break;
      // Later requests would be refused like the first. A gateway that answered before is coming back.
      if (!(error instanceof CallFailed) || !isKnown) throw error;
      away ??= error.message;
    }
    // Rejects when it is interrupted.
    await wait(AGAIN_MS, undefined, { signal }).catch(() => {});
  }
  return exitCodes.ok;
}

function checkKinds(wanted: readonly string[]): void {
  const wrong = wanted.find((each) => !kinds.includes(each));
  if (wrong === undefined) return;
  const meant = nearest(wrong, kinds);
  const advice = meant === undefined ? `it is one of ${kinds.join(", ")}` : `the nearest is ${meant}`;
  throw malformed(`--kind: there is no ${wrong}; ${advice}`);
}

/** Without a name, all are wanted. */
function isWanted(event: JsonObject, { robot, kind }: Options): boolean {
  const isAmong = (names: readonly string[], name: string) => names.length === 0 || names.includes(name);
  return isAmong(robot, textOf(event, "robot_id")) && isAmong(kind, textOf(event, "kind"));
}

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
    case "battery":
      return `${to}, was ${from}, at ${numberOf(event, "charge_percent")} %`;
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
