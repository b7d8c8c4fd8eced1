import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyServerOptions, fastify } from "fastify";
import type { Health } from "../../platform/component.ts";
import { describeError } from "../../platform/error-text.ts";
import { answerLast } from "../../platform/listener.ts";
import type { Log } from "../../platform/log.ts";
import type { WebConnections } from "./connections.ts";
import { problemAnswer, problemOf, sendProblem } from "./problem.ts";
import { REQUEST_TIMEOUT_MS } from "./request-body.ts";
import { createTwoProtocols } from "./two-protocols.ts";

const KEEP_ALIVE_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** How often the server checks for requests that take too long to arrive. */
const LOOK_PERIOD_MS = 1_000;
/** Of a request without a limit of its own. */
const BODY_BYTES = 1_024;
/** A robot_id of 256 characters, each percent-encoded from three bytes. */
const PARAMETER_CHARACTERS = 256 * 9;

/** Status and detail for bytes that never became a request, by the code of the error. */
const brokenRequests: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: [431, "the headers are too large"],
};
/** What would be right, by the status of a request that the framework refuses without advice. */
const advice: Readonly<Record<number, string>> = {
  414: `a part of the address is longer than ${PARAMETER_CHARACTERS} characters`,
  415: "the body must be JSON: send content-type: application/json",
};
const NO_REQUEST = [400, "these bytes are no HTTP request"] as const;

/** No script and no frame; only the page's own style sheet. */
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
 * An HTTP server without routes, with bounds, security headers, and errors as problem+json. The caller makes
 * it listen.
 *
 * @param isTls whether it speaks TLS; the caller sets its certificate
 */
export function createHttpServer(connections: WebConnections, log: Log, isTls = false): FastifyInstance {
  const server = makeServer(isTls, connections, {
    logger: false,
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS },
    frameworkErrors: ({ statusCode = 400, message }, _request, reply) =>
      void sendProblem(reply as FastifyReply, statusCode, advice[statusCode] ?? message),
    clientErrorHandler: ({ code }, socket) =>
      answerLast(socket, problemAnswer(...(brokenRequests[code] ?? NO_REQUEST))),
  });
  server.addHook("onRequest", async (request, reply) => {
    // Requests that a client pipelined beyond the limit, which has closed the connection already.
    if (request.raw.socket.destroyed) return reply.hijack();
    reply.headers(securityHeaders);
    const problem = hostProblem(request.raw);
    if (problem !== null) return sendProblem(reply.header("connection", "close"), 400, problem);
    // A body of one-byte chunks takes many times its size in memory, and nothing bounds it without a length.
    if (request.headers["transfer-encoding"] !== undefined)
      return sendProblem(reply.header("connection", "close"), 411, "send a body with content-length");
  });
  server.setNotFoundHandler(async ({ method }, reply) =>
    sendProblem(reply, 404, `there is nothing to ${method} at this address`),
  );
  server.setErrorHandler<Error & { statusCode?: number }>(async (error, request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode < 500) return sendProblem(reply, statusCode, advice[statusCode] ?? error.message);
    log.error({ err: error, route: request.routeOptions.url }, "a web request failed");
    return sendProblem(reply, statusCode, "the gateway failed; its log says why");
  });
  return server;
}

/** What is wrong with the number of Host headers (RFC 9112, 3.2); null: nothing. */
function hostProblem({ httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (!httpVersion.startsWith("1.")) return null;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts > 1) return "give one Host header: there are several";
  return hosts === 0 && httpVersion === "1.1" ? "give a Host header: HTTP/1.1 asks for one" : null;
}

/** Otherwise Node itself would answer without a body. */
function refuseExpectations(server: Server): void {
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    const { type, body } = problemOf(417, "Expect: only 100-continue is known");
    const length = Buffer.byteLength(body);
    const headers = { "content-type": type, "content-length": length, connection: "close" };
    response.writeHead(417, headers).end(body);
  });
}

function makeServer(
  isTls: boolean,
  connections: WebConnections,
  options: FastifyServerOptions,
): FastifyInstance {
  // A request without a host is refused here, with a problem.
  const http = {
    requireHostHeader: false,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: LOOK_PERIOD_MS,
  };
  if (!isTls) {
    const server = fastify({ ...options, http });
    connections.limit(server.server);
    refuseExpectations(server.server);
    return server;
  }
  const times = { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS };
  const https = { ...http, ...times, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
  let closeSessions = () => {};
  const server = fastify({
    ...options,
    serverFactory(listener) {
      const both = createTwoProtocols(https, listener);
      closeSessions = both.closeSessions;
      connections.limit(both.server, both.http2);
      refuseExpectations(both.server);
      return both.server;
    },
  });
  server.addHook("preClose", async () => closeSessions());
  return server;
}

/** Logs connections that could not be accepted; the server goes on. For a server that listens. */
export function logFailures({ server }: FastifyInstance, log: Log): void {
  server.on("error", (error) =>
    log.error({ cause: describeError(error) }, "a web connection was not accepted"),
  );
}

/** The health of a listener, degraded while it closes connections for lack of room. */
export function listenerHealth(health: Health, connections: WebConnections): Health {
  const figures = { ...health.figures, ...connections.figures() };
  const problem = connections.problem();
  if (health.state !== "up" || problem === null) return { ...health, figures };
  return { state: "degraded", detail: problem, figures };
}
