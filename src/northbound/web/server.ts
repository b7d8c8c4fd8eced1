import type { Server } from "node:net";
import { networkInterfaces } from "node:os";
import { Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import type { RefusalAudit, SessionAudit } from "../../contracts/commander.ts";
import { beginListening, type StartRetry, startOnce } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import { listenError } from "../../platform/listener.ts";
import { closedPort } from "../../platform/liveness.ts";
import type { Log } from "../../platform/log.ts";
import { acceptedPair, type TlsPair } from "../../platform/tls-files.ts";
import { createAccess } from "./access/access.ts";
import { createWebConnections, listenerBounds } from "./connections.ts";
import { addConsole } from "./console-files.ts";
import { addMethodCheck, hostIn, misdirected, pageUrl } from "./host-check.ts";
import { createHttpServer, listenerHealth, logFailures } from "./http-server.ts";
import { addMonitoringRoutes, type Monitoring } from "./monitoring.ts";
import type { WebOptions } from "./options.ts";
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
  { api, monitoring, consoleFolder, gatewayId, audit, clock, log, retry = startOnce }: WebParts,
): WebServer {
  let health: Health = { state: "starting" };
  let url: string | null = null;
  let listener: Server | null = null;
  let leave = () => {};
  const connections = createWebConnections(listenerBounds, clock, log);
  const isTls = options.tls.now() !== null;
  const access = createAccess(options.access.now, { gatewayId, isTls, audit, clock, log });
  options.access.onChange(access.changed);
  options.tls.onChange((_was, is) => {
    if (listener === null || is === null) return;
    showCertificate(listener, is);
    health = { state: "up", detail: pageOf(listener, options, is) };
  });

  function makeServer(): FastifyInstance {
    const server = createHttpServer(connections, log, isTls);
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
    health: () => listenerHealth({ ...health, figures: access.figures() }, connections),
    hang: () => closedPort(listener),
    url: () => url,
    async run(signal, ready) {
      const server = makeServer();
      try {
        let bound = "";
        let shown: TlsPair | null = null;
        const listen = async () => {
          const pair = options.tls.now();
          shown = pair === null ? null : await acceptedPair(pair);
          if (shown !== null) showCertificate(server.server, shown);
          bound = await bind(server, options);
        };
        await beginListening(retry, "web", options.listen, listen, signal, ready);
        if (!signal.aborted) {
          url = bound;
          listener = server.server;
          logFailures(server, log);
          health = { state: "up", detail: pageOf(listener, options, shown) };
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
function showCertificate(listener: Server, tls: TlsPair): void {
  if (listener instanceof TlsServer) listener.setSecureContext(tls);
}

function pageOf(
  listener: Server,
  { listen, hostnames }: Pick<WebOptions, "listen" | "hostnames">,
  tls: TlsPair | null,
): string {
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : listen.port;
  const certificate = tls === null ? null : tls.cert;
  return pageUrl({ host: listen.host, port, hostnames, addresses: outerAddresses(), certificate });
}

/** The addresses of this machine that others may reach. */
function outerAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((found = []) =>
    found.flatMap(({ internal, address }) => (internal || address.startsWith("fe80:") ? [] : [address])),
  );
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
