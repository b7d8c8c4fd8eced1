import type { Server } from "node:net";
import { Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import type { RefusalAudit, SessionAudit } from "../../contracts/commander.ts";
import type { Clock } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import { closedPort } from "../../platform/liveness.ts";
import type { Log } from "../../platform/log.ts";
import { listenError } from "../../platform/port-taken.ts";
import type { StartRetry } from "../../platform/start-retry.ts";
import { listenerTlsProblem, usablePair } from "../../platform/tls-files.ts";
import { createAccess } from "./access/access.ts";
import { createWebConnections, listenerBounds } from "./connections.ts";
import { addConsole } from "./console-files.ts";
import { addMethodCheck, hostIn, misdirected } from "./host-check.ts";
import { createHttpServer, listenerHealth, logFailures } from "./http-server.ts";
import { addMonitoringRoutes, type Monitoring } from "./monitoring.ts";
import type { WebOptions, WebTls } from "./options.ts";
import { sendProblem } from "./problem.ts";
import type { WebApi } from "./web-api.ts";

/** The dependencies of the web server. */
interface WebParts {
  readonly api: WebApi;
  readonly monitoring: Monitoring;
  /** The folder of the console's files; null: it was not built. */
  readonly consoleFolder: string | null;
  readonly gatewayId: string;
  readonly audit: RefusalAudit & SessionAudit;
  /** Absent: a start that fails once has failed. */
  readonly retry?: StartRetry;
  readonly clock: Clock;
  readonly log: Log;
}

/** The web server as a component; `url` is null until it listens. */
export interface WebServer extends Component {
  url(): string | null;
}

/**
 * `/healthz`, `/livez`, `/readyz` and `/metrics` for machines, the console for people, and the HTTP API.
 * `run` rejects with PortTaken if another program has the port.
 */
export function createWebServer(
  options: Omit<WebOptions, "floor">,
  { api, monitoring, consoleFolder, gatewayId, audit, clock, log, retry }: WebParts,
): WebServer {
  let health: Health = { state: "starting" };
  let url: string | null = null;
  let listener: Server | null = null;
  let tlsFault: string | null = null;
  let leave = () => {};
  const connections = createWebConnections(listenerBounds, clock, log);
  const isTls = options.tls.now() !== null;
  const access = createAccess(options.access.now, { gatewayId, isTls, audit, clock, log });
  options.access.onChange(access.changed);
  options.tls.onChange((_was, is) => {
    showCertificate(listener, is);
    tlsFault = listenerTlsProblem("web.tls", is);
  });

  function makeServer(): FastifyInstance {
    const server = createHttpServer(connections, log, options.tls.now());
    addHostCheck(server, options.hostnames);
    addMethodCheck(server);
    // Before access: it may be known without a log-in that there is no such page.
    addConsole(server, consoleFolder, api.hasSimulator);
    access.addTo(server);
    addMonitoringRoutes(server, monitoring);
    api.addRoutes(server, access, () => options.access.now().movesFrom);
    return server;
  }

  return {
    name: "web",
    health: () => listenerHealth({ ...health, figures: access.figures() }, connections, tlsFault),
    hang: () => closedPort(listener),
    url: () => url,
    async run(signal, ready) {
      const server = makeServer();
      tlsFault = listenerTlsProblem("web.tls", options.tls.now());
      try {
        await retry?.waitForAddress("web", options.listen, signal, ready);
        if (!signal.aborted) {
          url = await bind(server, options);
          listener = server.server;
          logFailures(server, log);
          health = { state: "up", detail: url };
          leave = api.open();
          ready();
        }
        await aborted(signal);
      } finally {
        health = { state: "down" };
        url = null;
        listener = null;
        leave();
        access.close();
        await server.close();
      }
    },
  };
}

/** Connections that are open keep the certificate that they have seen. */
function showCertificate(listener: Server | null, tls: WebTls | null): void {
  if (listener instanceof TlsServer && tls !== null) listener.setSecureContext(usablePair(tls));
}

async function bind(server: FastifyInstance, { listen, tls }: Omit<WebOptions, "floor">): Promise<string> {
  try {
    const address = await server.listen({ host: listen.host, port: listen.port });
    return tls.now() === null ? address : address.replace(/^http:/, "https:");
  } catch (error) {
    throw listenError(error, "web", listen.port);
  }
}

function addHostCheck(server: FastifyInstance, hostnames: readonly string[]): void {
  server.addHook("onRequest", async ({ raw: { headers, socket } }, reply) => {
    const problem = misdirected({ host: hostIn(headers), localAddress: socket.localAddress }, hostnames);
    if (problem !== null) return sendProblem(reply, 421, problem);
  });
}
