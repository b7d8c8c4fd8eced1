import type { Server } from "node:net";
import type { FastifyInstance } from "fastify";
import type { FleetView } from "../../contracts/fleet-view.ts";
import type { Clock } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import { closedPort, type Hang } from "../../platform/liveness.ts";
import type { Log } from "../../platform/log.ts";
import { listenError } from "../../platform/port-taken.ts";
import type { Readiness } from "../../platform/readiness.ts";
import { createWebConnections } from "./connections.ts";
import { addHealthRoutes } from "./health.ts";
import { misdirected } from "./host-check.ts";
import { createHttpServer, listenerHealth, logFailures } from "./http-server.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { addMetricsRoute } from "./metrics/route.ts";
import type { WebOptions } from "./options.ts";
import { renderPage } from "./page.ts";
import { sendProblem } from "./problem.ts";
import { robotRows } from "./robot-rows.ts";
import { style } from "./style.ts";

/** The dependencies of the web server. */
export interface WebParts {
  readonly gatewayId: string;
  readonly view: FleetView;
  /** Every component's health by name, now. */
  readonly health: () => Readonly<Record<string, Health>>;
  /** The part that hangs, now. */
  readonly hang: () => Hang | null;
  readonly readiness: Pick<Readiness, "problem">;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The web server as a component; `url` is null until it listens. */
export interface WebServer extends Component {
  url(): string | null;
}

/** A page may be this old: browsers ask every two seconds, and share it. */
const PAGE_LIFE_MS = 500;
const bounds = { most: 200, mostIdle: 150 };

/**
 * `/healthz`, `/livez`, `/readyz` and `/metrics` for machines and `/` for people, all read only. `run`
 * rejects with PortTaken when another program has the port.
 */
export function createWebServer(options: WebOptions, parts: WebParts): WebServer {
  let health: Health = { state: "starting" };
  let url: string | null = null;
  let listener: Server | null = null;
  const connections = createWebConnections(bounds, parts.clock, parts.log);
  return {
    name: "web",
    health: () => listenerHealth(health, connections),
    hang: () => closedPort(listener),
    url: () => url,
    async run(signal, ready) {
      const server = createHttpServer(connections, parts.log);
      addHostCheck(server, options.hostnames);
      addHealthRoutes(server, parts);
      addMetricsRoute(server, parts.metrics);
      addPage(server, parts);
      try {
        url = await bind(server, options);
        listener = server.server;
        logFailures(server, parts.log);
        if (!signal.aborted) {
          health = { state: "up", detail: url };
          ready();
        }
        await aborted(signal);
      } finally {
        health = { state: "down" };
        url = null;
        listener = null;
        await server.close();
      }
    },
  };
}

async function bind(server: FastifyInstance, { listen }: WebOptions): Promise<string> {
  try {
    return await server.listen({ host: listen.host, port: listen.port });
  } catch (error) {
    throw listenError(error, "web", listen.port);
  }
}

function addHostCheck(server: FastifyInstance, hostnames: readonly string[]): void {
  server.addHook("onRequest", async ({ raw: { headers, socket } }, reply) => {
    const problem = misdirected({ host: headers.host, localAddress: socket.localAddress }, hostnames);
    if (problem !== null) return sendProblem(reply, 421, problem);
  });
}

function addPage(server: FastifyInstance, parts: WebParts): void {
  const page = createPage(parts);
  server.get("/", async (_request, reply) => reply.type("text/html; charset=utf-8").send(page()));
  server.get("/style.css", async (_request, reply) => reply.type("text/css; charset=utf-8").send(style));
}

function createPage({ gatewayId, view, health, clock }: WebParts): () => string {
  let madeAtMs = Number.NEGATIVE_INFINITY;
  let text = "";
  return () => {
    if (clock.monotonicMs() - madeAtMs >= PAGE_LIFE_MS) {
      text = renderPage({ gatewayId, nowMs: clock.nowMs(), health: health(), rows: robotRows(view) });
      madeAtMs = clock.monotonicMs();
    }
    return text;
  };
}
