import type { ClientCertificate } from "../../contracts/client-certificates.ts";
import type { ClusterView } from "../../contracts/cluster.ts";
import type { RobotSummary } from "../../contracts/fleet-view.ts";
import { type Alarm, alarmPriority, byUrgency } from "../../domain/alarm.ts";
import { type ActiveHold, holderName } from "../../domain/hold.ts";
import { type Quality, qualities } from "../../domain/observed.ts";
import { alarmOf } from "../../models/alarm.ts";
import { clusterPlaceOf } from "../../models/cluster.ts";
import { isoTime, timeText } from "../../models/json-text.ts";
import { type Health, publishedHealth, worstFirst, worstState } from "../../platform/component.ts";
import type { FloorOptions } from "./options.ts";

/** The inputs of the status of the gateway. None waits long for the disk. */
export interface StatusFacts {
  readonly gatewayId: string;
  readonly version: string;
  readonly sessionId: string;
  readonly health: Readonly<Record<string, Health>>;
  /** Wall time since when a component has been in its state; null: not known. */
  readonly stateSinceMs: (part: string) => number | null;
  readonly robots: readonly RobotSummary[];
  readonly isOutOfService: (robotId: string) => boolean;
  readonly holds: readonly ActiveHold[];
  readonly alarms: readonly Alarm[];
  readonly certificates: ReadonlyArray<{
    readonly key: string;
    readonly path: string;
    readonly endMs: number;
  }>;
  readonly disk: { readonly path: string; readonly freeBytes: number | null };
  /** Of OPC UA, whom nobody has let in; null: not known, as while the disk does not answer. */
  readonly waitingClients: readonly ClientCertificate[] | null;
  /** Absent or null: the gateway is no member of a cluster. */
  readonly cluster?: ClusterView | null;
}

/** The components that connect the gateway to others. */
export const linkNames: readonly string[] = [
  "fleet",
  "mqtt-broker",
  "mqtt",
  "sparkplug",
  "opcua",
  "web",
  "control",
];
/** Alarms, robots and holds beyond these are counted, and not listed. */
const MOST_ALARMS = 50;
const MOST_HOLDS = 200;
const MOST_ROBOTS = 200;
const MOST_CLIENTS = 50;
/** How many robots a sentence names. */
const MOST_NAMED = 5;

/** The body of `GET /api/v1/status`. */
export function statusReport(facts: StatusFacts, nowMs: number): Readonly<Record<string, unknown>> {
  const { health, gatewayId, version, sessionId, disk } = facts;
  const { token_seconds_left: secondsLeft = 0 } = health.fleet?.figures ?? {};
  const { rssBytes = 0, heapBytes = 0, uptimeSeconds = 0 } = health.process?.figures ?? {};
  return {
    ...verdict(facts),
    at: timeText(nowMs),
    gateway: {
      id: gatewayId,
      version,
      session_id: sessionId,
      started_at: timeText(nowMs - uptimeSeconds * 1_000),
      uptime_seconds: uptimeSeconds,
    },
    ...(facts.cluster == null ? {} : { cluster: clusterPlaceOf(facts.cluster) }),
    ...partLists(facts),
    robots: robotCounts(facts),
    holds: holdCounts(facts.holds),
    queues: queuesOf(health.queues).map(({ name, figures }) => ({ northbound: name, ...figures })),
    commands: publishedHealth({ commands: health.commands ?? { state: "starting" } }).commands?.figures ?? {},
    alarms: alarmCounts(facts.alarms),
    token: { seconds_left: secondsLeft > 0 ? secondsLeft : null },
    certificates: facts.certificates.map(({ key, path, endMs }) => ({ key, path, ...endOf(endMs, nowMs) })),
    waiting_clients: clientCounts(facts.waitingClients),
    disk: { path: disk.path, free_bytes: disk.freeBytes },
    memory: { rss_bytes: rssBytes, heap_bytes: heapBytes },
  };
}

/** When a certificate ends. */
export function endOf(endMs: number, nowMs: number) {
  const secondsLeft = Number.isFinite(endMs) ? Math.floor((endMs - nowMs) / 1_000) : null;
  return { ends_at: isoTime(endMs), seconds_left: secondsLeft };
}

/** The worst state of all, and a sentence for each problem, the worst first. */
function verdict(facts: StatusFacts): { readonly state: Health["state"]; readonly problems: string[] } {
  const { health, alarms } = facts;
  const parts = Object.entries(health);
  const ofParts = worstFirst
    .slice(0, -1)
    .flatMap((state) =>
      parts.flatMap(([name, part]) =>
        part.state === state
          ? [`${name} is ${state}${part.detail === undefined ? "" : `: ${part.detail}`}`]
          : [],
      ),
    );
  const counted = alarms.filter((alarm) => alarm.isActive && alarmPriority(alarm.severity) !== "low");
  const problems = [...ofParts, ...alarmProblem(counted), ...robotProblem(facts)];
  const worst = worstState(Object.values(health));
  return { state: worst === "up" && problems.length > 0 ? "degraded" : worst, problems };
}

function alarmProblem(alarms: readonly Alarm[]): string[] {
  const [first] = [...alarms].sort(byUrgency);
  if (first === undefined) return [];
  const whose = first.source.kind === "robot" ? ` of ${first.source.robotId}` : "";
  const said = `${first.code}${whose}: ${first.text}`;
  return [
    alarms.length === 1 ? `an alarm is active: ${said}` : `${alarms.length} alarms are active, first ${said}`,
  ];
}

function robotProblem(facts: StatusFacts): string[] {
  const missing = notGood(facts).filter(({ robotId }) => !facts.isOutOfService(robotId));
  if (missing.length === 0) return [];
  const named = missing.slice(0, MOST_NAMED).map(({ robotId, quality }) => `${robotId} (${quality})`);
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : "";
  const { length } = facts.robots;
  return [`${missing.length} of ${length} robots are not good: ${named.join(", ")}${more}`];
}

/** The worst first, then by name. */
function notGood({ robots }: StatusFacts): readonly RobotSummary[] {
  const rank = ({ quality }: RobotSummary) => -qualities.indexOf(quality);
  return robots
    .filter(({ quality }) => quality !== "good")
    .sort((a, b) => rank(a) - rank(b) || (a.robotId < b.robotId ? -1 : 1));
}

function robotCounts(facts: StatusFacts): Readonly<Record<string, unknown>> {
  const { robots } = facts;
  const byQuality = Object.fromEntries(qualities.map((quality) => [quality, 0])) as Record<Quality, number>;
  for (const { quality } of robots) byQuality[quality] += 1;
  const listed = notGood(facts).slice(0, MOST_ROBOTS);
  return {
    count: robots.length,
    by_quality: byQuality,
    out_of_service: robots.filter(({ robotId }) => facts.isOutOfService(robotId)).length,
    not_good: listed.map(({ robotId, quality }) => ({
      robot_id: robotId,
      quality,
      out_of_service: facts.isOutOfService(robotId),
    })),
  };
}

/** Holds on all robots first, then the longest. */
function holdCounts(holds: readonly ActiveHold[]): Readonly<Record<string, unknown>> {
  const ofAllFirst = ({ robotId }: ActiveHold) => (robotId === null ? 0 : 1);
  const sorted = holds.toSorted((a, b) => ofAllFirst(a) - ofAllFirst(b) || a.sinceMs - b.sinceMs);
  return {
    count: holds.length,
    listed: sorted.slice(0, MOST_HOLDS).map(({ robotId, owner, sinceMs }) => {
      return { robot_id: robotId, by: holderName(owner), since: timeText(sinceMs) };
    }),
  };
}

/** The last that came first: somebody is setting it up. */
function clientCounts(waiting: StatusFacts["waitingClients"]): unknown {
  if (waiting === null) return null;
  const sorted = waiting.toSorted((a, b) => (a.since < b.since ? 1 : -1));
  return {
    count: waiting.length,
    listed: sorted.slice(0, MOST_CLIENTS).map(({ thumbprint, applicationUri, subject, since }) => {
      return { thumbprint, application_uri: applicationUri, subject, since };
    }),
  };
}

function alarmCounts(alarms: readonly Alarm[]): Readonly<Record<string, unknown>> {
  return {
    count: alarms.length,
    active: alarms.filter(({ isActive }) => isActive).length,
    unacknowledged: alarms.filter(({ acknowledged }) => acknowledged === null).length,
    listed: [...alarms].sort(byUrgency).slice(0, MOST_ALARMS).map(alarmOf),
  };
}

/** Links to others, and components of the gateway itself: `state`, since when, and why. */
function partLists({ health, stateSinceMs }: StatusFacts): Readonly<Record<"links" | "parts", unknown>> {
  const described = Object.entries(health).map(([name, { state, detail }]) => ({
    name,
    state,
    since: isoTime(stateSinceMs(name)),
    detail: detail ?? "",
  }));
  return {
    links: described.filter(({ name }) => linkNames.includes(name)),
    parts: described.filter(({ name }) => !linkNames.includes(name)),
  };
}

/** The figures of each northbound's queue: `opcua.eventsDropped` belongs to the queue of `opcua`. */
export function queuesOf(
  health: Health | undefined,
): ReadonlyArray<{ readonly name: string; readonly figures: Readonly<Record<string, number>> }> {
  const rows = new Map<string, Record<string, number>>();
  for (const [key, value] of Object.entries(health?.figures ?? {})) {
    const at = key.lastIndexOf(".");
    const name = key.slice(0, at);
    const row = rows.get(name) ?? {};
    row[key.slice(at + 1).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
    rows.set(name, row);
  }
  return [...rows].map(([name, figures]) => ({ name, figures }));
}

/** The gateway, and this run of it. */
export interface GatewayIdentity {
  readonly gatewayId: string;
  readonly version: string;
  readonly sessionId: string;
  readonly startedAtMs: number;
}

/** What the configuration decides, and whether this is the demo. */
export interface ApiSettings {
  /** Counts the configurations that were loaded. */
  readonly configuration: () => number;
  /** Whether it runs as a demo, without log-in. */
  readonly isOpen: () => boolean;
  /** Whether a simulated fleet service runs beside the gateway. */
  readonly hasSimulator: boolean;
  /** Between two online lists; null: they are not polled. */
  readonly pollMs: number | null;
  readonly floorOptions: () => FloorOptions;
  /** The path of the description of the HTTP API. */
  readonly openApiFile: string;
}

/** The state of the gateway's components, and of what they need. */
export interface GatewayCondition {
  readonly health: () => Readonly<Record<string, Health>>;
  /** Wall time since when a component has been in its state; null: not known. */
  readonly stateSinceMs: (part: string) => number | null;
  readonly certificates: () => StatusFacts["certificates"];
  readonly disk: () => StatusFacts["disk"];
  readonly isFleetLinkUp: () => boolean;
  /** False: the component that keeps values and their quality up to date is stalled. */
  readonly areValuesKept: () => boolean;
  /** Absent or null: the gateway is no member of a cluster. */
  readonly cluster?: ClusterView | null;
}
