import type { FastifyInstance } from "fastify";
import type { Peer, PeerSource } from "../../../contracts/peers.ts";
import { clusterPlaceOf } from "../../../models/cluster.ts";
import { isoTime, timeText } from "../../../models/json-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Health } from "../../../platform/component.ts";
import { publishedHealth } from "../../../platform/health-history.ts";
import type { Connection, Connections, Expiry } from "../api/connection.ts";
import { sendProblem } from "../problem.ts";
import { type GatewayCondition, linkNames, queuesOf } from "../status-report.ts";
import { type Query, sendPage, unknownParameter } from "./list-page.ts";

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
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
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
    .map(({ key, path, endMs }) => ({
      kind: "certificate",
      name: key,
      path,
      ends_at: isoTime(endMs),
      seconds_left: Number.isFinite(endMs) ? Math.floor((endMs - nowMs) / 1_000) : null,
    }));
}
