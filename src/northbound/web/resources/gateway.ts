import type { FastifyInstance } from "fastify";
import type { MakeStopRequest } from "../../../contracts/fleet-port.ts";
import type { Peer, PeerSource } from "../../../contracts/peers.ts";
import type { Alarm } from "../../../domain/alarm.ts";
import { unknownRobot } from "../../../domain/outcome.ts";
import { activitiesOf, stopsOf } from "../../../domain/stops.ts";
import { alarmOf } from "../../../models/alarm.ts";
import { clusterPlaceOf } from "../../../models/cluster.ts";
import { isoTime, timeText } from "../../../models/json-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import { type Health, publishedHealth, worstState } from "../../../platform/component.ts";
import type { Connection, Connections, Expiry, Health as HealthJson } from "../api/gateway.ts";
import type { Floor } from "../floor/floor.ts";
import { sendProblem } from "../problem.ts";
import { endOf, type GatewayCondition, type GatewayIdentity, linkNames, queuesOf } from "../status-report.ts";
import type { Ticks } from "../stream/stream.ts";
import { type Query, reverseOrderKey, sendPage } from "./list-page.ts";

/** `GET /api/v1/health`: the state of every component. */
export function addGatewayHealthRoutes(
  server: FastifyInstance,
  { gatewayId, version, sessionId, startedAtMs }: GatewayIdentity,
  { health, stateSinceMs }: Pick<GatewayCondition, "health" | "stateSinceMs">,
  clock: Pick<Clock, "nowMs">,
): void {
  const partOf = (name: string, { state, detail, figures }: Health) => ({
    state,
    since: isoTime(stateSinceMs(name)),
    detail: detail ?? "",
    figures: figures ?? {},
  });

  server.get("/api/v1/health", async (_request, reply) => {
    const parts = publishedHealth(health());
    const answer: HealthJson = {
      state: worstState(Object.values(parts)),
      at: timeText(clock.nowMs()),
      gateway_id: gatewayId,
      version,
      session_id: sessionId,
      started_at: timeText(startedAtMs),
      parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, partOf(name, part)])),
    };
    return reply.send(answer);
  });
}

interface PauseRouteParts {
  readonly floor: Pick<Floor, "robots">;
  readonly stopRequest: MakeStopRequest;
  readonly ticks: Pick<Ticks, "fresh">;
}

/**
 * `GET /api/v1/robots/{robot}/pause`: the commands that pause the robot now, by the rule of slots and holds.
 * It sends nothing; the client sends each command, under an id of its own, with the tick.
 */
export function addPauseRoute(server: FastifyInstance, { floor, stopRequest, ticks }: PauseRouteParts): void {
  server.get<{ Params: { robot: string } }>("/api/v1/robots/:robot/pause", async ({ params }, reply) => {
    const facts = floor.robots().get(params.robot);
    if (facts === undefined) return sendProblem(reply, 404, unknownRobot(params.robot).message);
    const { missions, presence } = facts;
    const stops = stopsOf(activitiesOf({ missions, presence, conveyors: [] }));
    const commands = stops.map(({ stop }) => stopRequest(params.robot, stop));
    return reply.send({ commands, tick: ticks.fresh() });
  });
}

/** `GET /api/v1/alarms` answers 200 with all alarms, the most urgent first. */
export function addAlarmRoutes(server: FastifyInstance, listedAlarms: () => readonly Alarm[]): void {
  server.get<{ Querystring: Query }>("/api/v1/alarms", async ({ query }, reply) => {
    const items = listedAlarms().toSorted((a, b) => (urgencyKey(a) < urgencyKey(b) ? -1 : 1));
    return sendPage(reply, query, { name: "alarms", items, keyOf: urgencyKey, write: alarmOf });
  });
}

/** The most urgent first, in the order of `byUrgency`. */
function urgencyKey({ severity, sinceMs, id }: Alarm): string {
  return `${reverseOrderKey(severity)}${reverseOrderKey(sinceMs)}${id}`;
}

/** Of one component. Its own bounds are lower, unless somebody raises them. */
const MOST_PEERS = 500;
/** The components whose queues wait for another program. */
const queueParts = ["outbox", "journald"];
/** Figures of the disk's work: they are no queues, and the metrics have them. */
const diskWork = ["store_records", "store_syncs"];

/**
 * `GET /api/v1/connections`: the connections of the gateway with their peers; the queues to them; and what
 * will end: certificates, the token, room on the disk.
 */
export function addConnectionRoutes(
  server: FastifyInstance,
  condition: GatewayCondition,
  peers: readonly PeerSource[],
  clock: Pick<Clock, "nowMs">,
): void {
  const { stateSinceMs } = condition;
  server.get<{ Querystring: Query }>("/api/v1/connections", async ({ query }, reply) => {
    const health = publishedHealth(condition.health());
    const list = {
      name: "connections",
      items: Object.entries(health)
        .filter(([name]) => linkNames.includes(name))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
      keyOf: ([name]: readonly [string, Health]) => name,
      write: ([name, part]: readonly [string, Health]) =>
        connectionJson(name, part, isoTime(stateSinceMs(name)), peers),
    };
    return sendPage(reply, query, list, around(condition, health, clock.nowMs()));
  });
}

function connectionJson(
  name: string,
  part: Health,
  since: string | null,
  peers: readonly PeerSource[],
): Connection {
  const found = peers.filter((source) => source.part === name).flatMap((source) => source.peers());
  return {
    name,
    state: part.state,
    since,
    detail: part.detail ?? "",
    figures: part.figures ?? {},
    peer_count: found.length,
    peers: found.slice(0, MOST_PEERS).map(peerJson),
  };
}

function peerJson({
  kind,
  name,
  client,
  address,
  state,
  sinceMs,
  detail,
}: Peer): Connection["peers"][number] {
  return { kind, name, client, address, state, since: isoTime(sinceMs), detail };
}

/** The members of the answer beside the connections. */
function around(
  { disk, certificates, health, cluster = null }: GatewayCondition,
  published: Readonly<Record<string, Health>>,
  nowMs: number,
): Pick<Connections, "queues" | "cluster" | "disk" | "expiries"> {
  const { path, freeBytes } = disk();
  const kept = queueParts.flatMap((name) => {
    const figures = published[name]?.figures;
    if (figures === undefined) return [];
    const ofQueue = Object.entries(figures).filter(([key]) => !diskWork.includes(key));
    return [{ name, figures: Object.fromEntries(ofQueue) }];
  });
  return {
    queues: [...queuesOf(health().queues), ...kept],
    ...(cluster === null ? {} : { cluster: clusterPlaceOf(cluster) }),
    disk: { path, free_bytes: freeBytes, detail: published.disk?.detail ?? "" },
    expiries: [...tokenExpiry(published.fleet, nowMs), ...certificateExpiries(certificates(), nowMs)],
  };
}

function tokenExpiry(fleet: Health | undefined, nowMs: number): readonly Expiry[] {
  const seconds = fleet?.figures?.token_seconds_left ?? 0;
  if (seconds <= 0) return [];
  const endMs = nowMs + seconds * 1_000;
  return [
    { kind: "token", name: "fleet service", path: null, ends_at: timeText(endMs), seconds_left: seconds },
  ];
}

/** The soonest first. */
function certificateExpiries(
  certificates: ReturnType<GatewayCondition["certificates"]>,
  nowMs: number,
): readonly Expiry[] {
  return certificates
    .toSorted((a, b) => a.endMs - b.endMs)
    .map(({ key, path, endMs }) => ({ kind: "certificate", name: key, path, ...endOf(endMs, nowMs) }));
}
