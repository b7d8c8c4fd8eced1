import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { alarmRows } from "../alarms.ts";
import {
  columns,
  duration,
  first,
  listOf,
  localTime,
  numberOf,
  objectOf,
  size,
  textOf,
  textsOf,
} from "../readable.ts";

const MOST_ROBOTS = 10;
const MOST_ALARMS = 10;
const MOST_HOLDS = 10;
const MOST_CLIENTS = 5;
/** Enough of a thumbprint to name a client by it. */
const SHORT_THUMBPRINT = 12;
/** In the first line, which is all that monitoring systems show. */
const LONGEST_PROBLEM = 160;

/** The first line: all is well, or the problem. */
export function headline(status: JsonObject): string {
  const state = textOf(status, "state");
  const [problem, ...others] = textsOf(status, "problems");
  const id = textOf(objectOf(status, "gateway"), "id");
  if (state === "up") return `${id}: all is well`;
  const more = others.length === 0 ? "" : `; and ${others.length} more`;
  return `${id}: ${state.toUpperCase()}: ${short(problem ?? "the gateway does not say why")}${more}`;
}

function short(text: string): string {
  return text.length <= LONGEST_PROBLEM ? text : `${text.slice(0, LONGEST_PROBLEM)}…`;
}

/** The status for a person, a line an entry. */
export function statusLines(status: JsonObject): readonly string[] {
  const [, ...others] = textsOf(status, "problems");
  return [
    headline(status),
    ...others.map((problem) => `  and ${problem}`),
    "",
    ...cluster(status),
    ...section("links", links(listOf(status, "links"))),
    ...section("parts", links(listOf(status, "parts").filter((part) => part.state !== "up"))),
    ...robots(objectOf(status, "robots")),
    ...holds(objectOf(status, "holds")),
    ...section("queues", listOf(status, "queues").map(queue)),
    ...commands(objectOf(status, "commands")),
    ...alarms(objectOf(status, "alarms")),
    ...waitingClients(objectOf(status, "waiting_clients")),
    ...section("certificates", listOf(status, "certificates").map(certificate)),
    ...section("gateway", gateway(status)),
  ];
}

/** Empty without rows. */
function section(title: string, rows: ReadonlyArray<readonly string[]>): readonly string[] {
  return rows.length === 0 ? [] : [title, ...columns(rows).map((row) => `  ${row}`)];
}

function links(parts: readonly JsonObject[]): ReadonlyArray<readonly string[]> {
  return parts.map((part) => {
    const since = localTime(textOf(part, "since"));
    const sinceText = since === "" ? "" : `since ${since}`;
    return [textOf(part, "name"), textOf(part, "state"), sinceText, textOf(part, "detail")];
  });
}

function robots(found: JsonObject): readonly string[] {
  const byQuality = objectOf(found, "by_quality");
  const counts = Object.keys(byQuality)
    .filter((quality) => quality === "good" || numberOf(byQuality, quality) > 0)
    .map((quality) => `${numberOf(byQuality, quality)} ${quality}`);
  const outOfService = numberOf(found, "out_of_service");
  if (outOfService > 0) counts.push(`${outOfService} out of service`);
  const total = numberOf(found, "count");
  const missing = total - numberOf(byQuality, "good");
  const rows = columns(
    listOf(found, "not_good").map((robot) => [
      textOf(robot, "robot_id"),
      `${textOf(robot, "quality")}${robot.out_of_service === true ? ", out of service" : ""}`,
    ]),
  );
  return [
    `robots: ${total}, ${counts.join(", ")}`,
    ...first(rows, MOST_ROBOTS, missing).map((row) => `  ${row}`),
  ];
}

/** Empty without a hold: most plants have none. */
function holds(found: JsonObject): readonly string[] {
  const count = numberOf(found, "count");
  if (count === 0) return [];
  const rows = columns(
    listOf(found, "listed").map((hold) => [
      textOf(hold, "robot_id") || "all robots",
      textOf(hold, "by"),
      `since ${localTime(textOf(hold, "since"))}`,
    ]),
  );
  return [`holds: ${count}`, ...first(rows, MOST_HOLDS, count).map((row) => `  ${row}`)];
}

/** Empty if none waits. */
function waitingClients(found: JsonObject): readonly string[] {
  const count = numberOf(found, "count");
  if (count === 0) return [];
  const rows = columns(
    listOf(found, "listed").map((client) => [
      textOf(client, "thumbprint").slice(0, SHORT_THUMBPRINT),
      textOf(client, "application_uri") || textOf(client, "subject"),
      `since ${localTime(textOf(client, "since"))}`,
    ]),
  );
  return [
    `OPC UA clients that wait for approval, or were rejected: ${count} (sudo fleetgate certs approve THUMBPRINT)`,
    ...first(rows, MOST_CLIENTS, count).map((row) => `  ${row}`),
  ];
}

/** The place in the cluster, as one line. */
export function clusterLine(found: JsonObject): string {
  const [member, role] = [textOf(found, "member"), textOf(found, "role")];
  const because = textOf(found, "unled_because");
  const leader = textOf(found, "leader") || (because === "" ? "none is known" : `none: ${because}`);
  const lag =
    found.lag_ms === null ? "not heard of etcd yet" : `${duration(numberOf(found, "lag_ms") / 1_000)} behind`;
  const members = textsOf(found, "members").join(", ");
  const count = numberOf(found, "robots_in_doubt");
  const doubts = count === 0 ? "" : `, robots in doubt: ${count}`;
  return `${member}: ${role}, epoch ${numberOf(found, "epoch")}, leader ${leader}, ${lag} (of ${members})${doubts}`;
}

/** Empty without a cluster. */
function cluster(status: JsonObject): readonly string[] {
  const found = status.cluster;
  return isJsonObject(found) ? [`cluster: ${clusterLine(found)}`] : [];
}

function queue(found: JsonObject): readonly string[] {
  const waiting = `${numberOf(found, "events_queued")} events and ${numberOf(found, "changes_queued")} values wait`;
  return [textOf(found, "northbound"), waiting, `${numberOf(found, "events_dropped")} events dropped`];
}

function commands(found: JsonObject): readonly string[] {
  return [`commands: ${numberOf(found, "in_hand")} in hand, ${numberOf(found, "waiting")} of them waiting`];
}

function alarms(found: JsonObject): readonly string[] {
  const [count, active] = [numberOf(found, "count"), numberOf(found, "active")];
  const unseen = numberOf(found, "unacknowledged");
  const title = `alarms: ${count}, ${active} active, ${unseen} not acknowledged`;
  const rows = alarmRows(listOf(found, "listed"));
  return [count === 0 ? "alarms: none" : title, ...first(rows, MOST_ALARMS, count).map((row) => `  ${row}`)];
}

function certificate(found: JsonObject): readonly string[] {
  const seconds = found.seconds_left;
  const key = textOf(found, "key");
  if (typeof seconds !== "number") return [key, "cannot be read", textOf(found, "path")];
  const left = seconds < 0 ? `ENDED ${duration(-seconds)} ago` : `${duration(seconds)} left`;
  return [key, left, `ends ${localTime(textOf(found, "ends_at"))}`];
}

function gateway(status: JsonObject): ReadonlyArray<readonly string[]> {
  const [about, disk, memory] = [
    objectOf(status, "gateway"),
    objectOf(status, "disk"),
    objectOf(status, "memory"),
  ];
  const { seconds_left: secondsLeft } = objectOf(status, "token");
  const { free_bytes: free } = disk;
  const since = `started ${localTime(textOf(about, "started_at"))}, ${duration(numberOf(about, "uptime_seconds"))} ago`;
  return [
    ["token", typeof secondsLeft === "number" ? `${duration(secondsLeft)} left, then renewed` : "none"],
    ["disk", `${typeof free === "number" ? size(free) : "not known"} free at ${textOf(disk, "path")}`],
    ["memory", size(numberOf(memory, "rss_bytes"))],
    ["version", textOf(about, "version")],
    ["running", since],
  ];
}
