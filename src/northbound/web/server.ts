import { type FastifyInstance, fastify } from "fastify";
import type { FleetView } from "../../contracts/fleet-view.ts";
import type { Clock } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import type { Log } from "../../platform/log.ts";
import { listenError } from "../../platform/port-taken.ts";
import { createWebConnections, type WebConnections } from "./connections.ts";
import { healthReport } from "./health.ts";
import { misdirected } from "./host-check.ts";
import type { WebOptions } from "./options.ts";
import { renderPage } from "./page.ts";
import { robotRows } from "./robot-rows.ts";
import { style } from "./style.ts";

/** What the web server shows, and where it gets it. */
export interface WebParts {
  readonly gatewayId: string;
  readonly view: FleetView;
  /** Every component's health by name, now. */
  readonly health: () => Readonly<Record<string, Health>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The web server as a component; `url` is null until it listens. */
export interface WebServer extends Component {
  url(): string | null;
}

const REQUEST_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 5_000;
/** How often connections that are too slow are looked for. */
const LOOK_PERIOD_MS = 1_000;

/** A browser asks every two seconds, and there may be many: they share a page that is at most this old. */
const PAGE_LIFE_MS = 500;

/** Nothing but its own style sheet, and never in a frame. */
const securityHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
} as const;

/**
 * `/healthz` for machines and `/` for people, both read only. `run` rejects with
 * PortTaken when another program has the port.
 */
export function createWebServer(options: WebOptions, parts: WebParts): WebServer {
  let health: Health = { state: "starting" };
  let url: string | null = null;
  const connections = createWebConnections(parts.clock, parts.log);
  return {
    name: "web",
    health() {
      const figures = connections.figures();
      const problem = connections.problem();
      if (health.state !== "up" || problem === null) return { ...health, figures };
      return { state: "degraded", detail: problem, figures };
    },
    url: () => url,
    async run(signal, ready) {
      const server = createRoutes(parts, options.hostnames, connections);
      try {
        url = await bind(server, options);
        if (!signal.aborted) {
          health = { state: "up", detail: url };
          ready();
        }
        await Promise.race([aborted(signal), failure(server)]);
      } finally {
        health = { state: "down" };
        url = null;
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

function failure(server: FastifyInstance): Promise<never> {
  return new Promise((_, reject) => {
    server.server.once("error", reject);
  });
}

function createRoutes(
  parts: WebParts,
  hostnames: readonly string[],
  connections: WebConnections,
): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit: 1024,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: LOOK_PERIOD_MS },
  });
  connections.limit(server.server);
  server.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders);
    const { headers, socket } = request.raw;
    const problem = misdirected({ host: headers.host, localAddress: socket.localAddress }, hostnames);
    if (problem !== null) return reply.code(421).type("text/plain").send(`${problem}\n`);
  });
  server.setNotFoundHandler(async (_request, reply) =>
    reply.code(404).type("text/plain").send("not found\n"),
  );
  server.setErrorHandler<Error & { statusCode?: number }>(async (error, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500)
      parts.log.error({ err: error, route: request.routeOptions.url }, "a web request failed");
    return reply
      .code(status)
      .type("text/plain")
      .send(status >= 500 ? "internal error\n" : "bad request\n");
  });
  const page = createPage(parts);
  server.get("/", async (_request, reply) => reply.type("text/html; charset=utf-8").send(page()));
  server.get("/style.css", async (_request, reply) => reply.type("text/css; charset=utf-8").send(style));
  server.get("/healthz", async (_request, reply) => {
    const report = healthReport(parts.health());
    return reply.code(report.ok ? 200 : 503).send(report.body);
  });
  return server;
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
