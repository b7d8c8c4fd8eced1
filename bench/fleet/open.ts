import type { Gateway } from "../gateway.ts";
import { pause, until } from "../section-run.ts";
import type { Service } from "../service.ts";

/** An answer of `/healthz` costs 1.5 ms of CPU with 1,000 robots: so often, 0.3 % of a core. */
const LOOK_MS = 500;
/** The service tells what it saw no later than this. */
const TOLD_MS = 500;
const START_TIMEOUT_MS = 120_000;

/** How a gateway opened its streams. */
export interface Opened {
  readonly streams: number;
  readonly connections: number;
  /** From the gateway's first connection to the service. */
  readonly seconds: number;
  /** From the start of the gateway's process. */
  readonly sinceStartSeconds: number;
}

/** Waits until the gateway says that all streams are open; when that was, the service's process has seen. */
export async function streamsOpen(
  gateway: Gateway,
  service: Service,
  robots: number,
  startedAtMs: number,
): Promise<Opened> {
  let figures: Readonly<Record<string, number>> = {};
  await until(
    "all streams open",
    async () => {
      // Until its web server listens there is nothing to ask.
      const health = await gateway.health().catch(() => null);
      figures = health?.components.fleet?.figures ?? {};
      return (
        figures.robots === robots &&
        figures.families_pending === 0 &&
        figures.streams_open === figures.streams_wanted
      );
    },
    START_TIMEOUT_MS,
    LOOK_MS,
  );
  await pause(TOLD_MS);
  return openedSince(service, startedAtMs, figures.streams_open ?? 0);
}

/** Waits until every robot has its nodes on OPC UA. */
export async function nodesBuilt(
  gateway: Gateway,
  robots: number,
  withinMs = START_TIMEOUT_MS,
): Promise<void> {
  await until(
    "all nodes built",
    async () => {
      const health = await gateway.health().catch(() => null);
      return health?.components.opcua?.figures?.robots === robots;
    },
    withinMs,
    LOOK_MS,
  );
}

/** What the service saw of a gateway that was started at `startedAtMs` and opened so many streams. */
export function openedSince(service: Service, startedAtMs: number, streams: number): Opened {
  const since = service.observations.filter(({ atMs }) => atMs >= startedAtMs);
  const connections = since.filter(({ kind }) => kind === "connection");
  const allOpen = since.find(({ kind, openStreams }) => kind === "streams" && openStreams >= streams);
  const atMs = allOpen?.atMs ?? Number.NaN;
  return {
    streams,
    connections: connections.length,
    seconds: (atMs - (connections[0]?.atMs ?? Number.NaN)) / 1000,
    sinceStartSeconds: (atMs - startedAtMs) / 1000,
  };
}
