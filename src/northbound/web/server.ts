import type { Server } from "node:net";
import { Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import type { Acts } from "../../contracts/acts.ts";
import type { CertificateAudit } from "../../contracts/client-certificates.ts";
import type { RefusalAudit, SessionAudit } from "../../contracts/commander.ts";
import type { Alarm } from "../../domain/alarm.ts";
import type { Clock } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import { closedPort, type Hang } from "../../platform/liveness.ts";
import type { Log } from "../../platform/log.ts";
import { listenError } from "../../platform/port-taken.ts";
import type { Readiness } from "../../platform/readiness.ts";
import { listenerTlsProblem, usablePair } from "../../platform/tls-files.ts";
import { type Access, type ConfirmUser, createAccess } from "./access/access.ts";
import { limitMoves, refusedMoves } from "./access/session-routes.ts";
import { addActRoutes } from "./acts.ts";
import { addAlarmRoutes } from "./alarms.ts";
import { addCertificateRoutes, type CertificateRouteParts } from "./client-certificates.ts";
import type { CheckTick } from "./command-envelope.ts";
import { addCommandRoute, type CommandRouteParts } from "./commands.ts";
import { createWebConnections, listenerBounds, type WebConnections } from "./connections.ts";
import { addConsole } from "./console-files.ts";
import type { FleetApi } from "./fleet-api.ts";
import { addHealthRoutes } from "./health.ts";
import { addMethodCheck, hostIn, misdirected } from "./host-check.ts";
import { createHttpServer, listenerHealth, logFailures } from "./http-server.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { addMetricsRoute } from "./metrics/route.ts";
import type { WebOptions, WebTls } from "./options.ts";
import { sendProblem } from "./problem.ts";
import { addJsonBodies } from "./request-body.ts";
import { addRightsRoutes, type RightsRouteParts } from "./rights.ts";
import { senderOfViewer } from "./sender.ts";
import { addSimulatorRoutes, type WebSimulator } from "./simulator-routes.ts";
import type { ViewerOf } from "./viewer.ts";

/** The dependencies of the web server. */
export interface WebParts
  extends Omit<CommandRouteParts, "senderOf" | "checkTick">,
    Pick<CertificateRouteParts, "clientCertificates">,
    Pick<RightsRouteParts, "rights" | "catalogue"> {
  readonly api: FleetApi;
  readonly acts: Acts;
  readonly standingAlarms: () => readonly Alarm[];
  readonly gatewayId: string;
  /** The folder of the console's files; null: it was not built. */
  readonly consoleFolder: string | null;
  /** The present health of every component, by name. */
  readonly health: () => Readonly<Record<string, Health>>;
  /** The present stalled component. */
  readonly hang: () => Hang | null;
  readonly readiness: Pick<Readiness, "problem">;
  readonly metrics: Metrics;
  readonly audit: RefusalAudit & SessionAudit & CertificateAudit;
  /** Absent: the fleet service is a real one, and these routes do not exist. */
  readonly simulator?: WebSimulator;
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
 *
 */
export function createWebServer(options: Omit<WebOptions, "floor">, parts: WebParts): WebServer {
  let health: Health = { state: "starting" };
  let url: string | null = null;
  let listener: Server | null = null;
  let tlsFault: string | null = null;
  let leave = () => {};
  const connections = createWebConnections(listenerBounds, parts.clock, parts.log);
  const access = createAccess(options.access.now, { ...parts, isTls: options.tls.now() !== null });
  options.access.onChange(access.changed);
  options.tls.onChange((_was, is) => {
    showCertificate(listener, is);
    tlsFault = listenerTlsProblem("web.tls", is);
  });
  return {
    name: "web",
    health: () => listenerHealth({ ...health, figures: access.figures() }, connections, tlsFault),
    hang: () => closedPort(listener),
    url: () => url,
    async run(signal, ready) {
      const server = makeServer(options, parts, connections, access);
      tlsFault = listenerTlsProblem("web.tls", options.tls.now());
      try {
        url = await bind(server, options);
        listener = server.server;
        logFailures(server, parts.log);
        if (!signal.aborted) {
          health = { state: "up", detail: url };
          leave = parts.api.open();
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

function makeServer(
  options: Omit<WebOptions, "floor">,
  parts: WebParts,
  connections: WebConnections,
  access: Access,
): FastifyInstance {
  const server = createHttpServer(connections, parts.log, options.tls.now());
  addHostCheck(server, options.hostnames);
  addMethodCheck(server);
  // Before access: it may be known without a log-in that there is no such page.
  addConsole(server, parts.consoleFolder, parts.simulator !== undefined);
  access.addTo(server);
  addHealthRoutes(server, parts);
  addMetricsRoute(server, parts.metrics);
  const movesFrom = () => options.access.now().movesFrom;
  const commander = limitMoves({ ...parts, movesFrom });
  const moves = { refusedMoves: (address: string) => refusedMoves(address, movesFrom()) };
  const { viewerOf, confirm } = access;
  addWebApi(server, { ...parts, ...moves, commander, viewerOf, confirm });
  return server;
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

const NO_TIMES = "give expires_in_ms or expires_at, or as tick the id of the stream's last tick";

export interface WebApiParts
  extends Omit<WebParts, "consoleFolder" | "health" | "hang" | "readiness" | "metrics" | "log" | "audit"> {
  readonly audit: RefusalAudit & CertificateAudit;
  readonly viewerOf: ViewerOf;
  readonly confirm: ConfirmUser;
  readonly refusedMoves: RightsRouteParts["refusedMoves"];
}

/**
 * The API of the control socket, without the routes for the machine: levels of the log, reload, recordings.
 */
export function addWebApi(server: FastifyInstance, parts: WebApiParts): void {
  const { api, gatewayId } = parts;
  const sent = { ...parts, senderOf: senderOfViewer(parts.viewerOf) };
  addJsonBodies(server);
  api.addRoutes(server, { ...sent, part: "web", browserCookie: browserCookie(gatewayId) });
  addAlarmRoutes(server, parts.standingAlarms);
  addActRoutes(server, sent);
  addCertificateRoutes(server, sent);
  addRightsRoutes(server, sent);
  const checkTick: CheckTick = (tick, hasExpiry) => {
    if (tick !== null) return api.stream.ticks.refused(tick);
    return hasExpiry ? null : NO_TIMES;
  };
  addCommandRoute(server, { ...sent, checkTick });
  const { simulator } = parts;
  if (simulator !== undefined) addSimulatorRoutes(server, { ...parts, simulator });
}

/** A browser sends the cookies of a host to all its ports: another gateway there needs another name. */
function browserCookie(gatewayId: string): string {
  return `fleetgate_browser_${Buffer.from(gatewayId).toString("hex")}`;
}
