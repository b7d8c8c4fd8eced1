import type { AddressInfo, Socket } from "node:net";
import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from "fastify";
import type { Clock } from "../../platform/clock.ts";
import { messageOf } from "../../platform/error-text.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import { answerLast, listenError } from "../../platform/listener.ts";
import type { Log } from "../../platform/log.ts";
import { codes, httpStatus, invalid, Refusal, statusHeaders, toRefusal } from "../refusal.ts";
import type { TlsIdentity } from "../tls/identity.ts";

export interface HttpServerOptions {
  readonly identity: TlsIdentity;
  readonly maxBodyBytes: number;
  /** While true requests are read and never answered: a fault. */
  isSilent(): boolean;
  /** While true requests end with their connection: a fault. */
  isCut(): boolean;
  /** The clock for the Date of answers. */
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
  addRoutes(app: FastifyInstance): void;
}

/** The HTTPS side of the service. */
export interface HttpServer {
  /** Binds and returns the port. Rejects with PortTaken. */
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

const VERBS = ["GET", "POST", "PUT", "DELETE"] as const;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { identity, log } = options;
  const app = fastify({
    https: { key: identity.key, cert: identity.certificate, minVersion: "TLSv1.2" },
    bodyLimit: options.maxBodyBytes,
    // A HEAD of FinishTaskChain, which is a GET, would confirm a task.
    exposeHeadRoutes: false,
    // Idle connections must not delay a shutdown.
    forceCloseConnections: true,
    requestTimeout: 30_000,
    frameworkErrors: (error, _request, reply) => void refuse(reply, invalid(error.message)),
    clientErrorHandler: answerBadRequest,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false },
  });
  // A close that has begun does not know a connection whose handshake ends later, and would wait for it.
  app.server.prependListener("secureConnection", (socket: Socket) => {
    if (!app.server.listening) socket.destroy();
  });
  // Bodies are read by our own rules, whatever their content type says.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (request, reply) => {
    reply.header("date", new Date(options.clock.nowMs()).toUTCString());
    // The control endpoint ends faults, so it must stay reachable.
    if (request.url.startsWith("/simulator/")) return;
    if (options.isCut()) {
      request.raw.socket.destroy();
      return reply.hijack();
    }
    if (options.isSilent()) await new Promise(() => {});
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof Refusal) return refuse(reply, error);
    const status = error.statusCode ?? 500;
    if (status === 413) return refuse(reply, new Refusal("RESOURCE_EXHAUSTED", error.message), 413);
    if (status < 500) return refuse(reply, invalid(error.message));
    const logBug = (bug: unknown) => log.error({ err: bug, url: request.url }, "a request failed by a bug");
    return refuse(reply, toRefusal(error, logBug));
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0] ?? "";
    const others = VERBS.filter((method) => app.findRoute({ method, url: path }) !== null);
    if (others.length === 0) return refuse(reply, new Refusal("NOT_FOUND", `there is no ${path}`));
    reply.header("allow", others.join(", "));
    return refuse(reply, new Refusal("UNIMPLEMENTED", `${path} takes ${others.join(", ")} only`), 405);
  });
  options.addRoutes(app);

  return {
    async listen(host, port) {
      try {
        await app.listen({ host, port });
      } catch (error) {
        throw listenError(error, "fleet HTTPS", port);
      }
      // Bound to a host and port, so the address is no pipe's name.
      return (app.server.address() as AddressInfo).port;
    },
    close: () => app.close(),
  };
}

/** Answers bytes that are no HTTP request. */
function answerBadRequest(error: Error, socket: Socket): void {
  const body = JSON.stringify({ code: "INVALID_ARGUMENT", message: `no HTTP request: ${error.message}` });
  answerLast(
    socket,
    `HTTP/1.1 400 Bad Request\r\ngrpc-status: ${codes.INVALID_ARGUMENT}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** The parts of an HTTP request that become an operation's message. */
export interface RequestParts {
  /** The body's bytes; undefined or empty: there is none. */
  readonly body: unknown;
  /** Values taken from the path, by field name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly isQueryMeant: boolean;
}

/** The JSON of an operation's request. Throws INVALID_ARGUMENT. */
export function requestJson({ body, params, query, isQueryMeant }: RequestParts): Json {
  const fields = isQueryMeant ? queryFields(query) : bodyFields(body);
  for (const [name, value] of Object.entries(params)) {
    if (!/^-?\d{1,20}$/.test(value)) throw invalid(`${name} in the path is no integer`);
    for (const spelling of [name, toCamelCase(name)]) {
      if (Object.hasOwn(fields, spelling) && !isText(fields[spelling], value)) {
        throw invalid(`${name} is ${value} in the path and something else in the body`);
      }
      delete fields[spelling];
    }
    fields[name] = Number(value);
  }
  return fields;
}

/** A query has each value as a list. */
function isText(given: unknown, text: string): boolean {
  const values = [given].flat();
  const [only] = values;
  return values.length === 1 && (typeof only === "string" || typeof only === "number") && `${only}` === text;
}

function bodyFields(body: unknown): Record<string, Json> {
  const parsed = parseBody(body) ?? {};
  if (!isJsonObject(parsed)) throw invalid("the body is no JSON object");
  return { ...parsed };
}

/** Parses a body; undefined: there is none. Throws INVALID_ARGUMENT if it is no JSON. */
export function parseBody(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw invalid(`the body is no JSON: ${messageOf(error)}`);
  }
}

/** Lists may be given by repeating the key, by commas, or both (docs/internals/service.md, END-05). */
function queryFields(query: RequestParts["query"]): Record<string, Json> {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(query)) {
    fields[name] = [value]
      .flat()
      .flatMap((each) => each.split(","))
      .filter((each) => each !== "");
  }
  return fields;
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Answers with a refusal: the HTTP status of its code (or `status`), the two
 * gRPC headers, and `{"code","message"}` (docs/internals/service.md, ERR-59).
 */
export function refuse(
  reply: FastifyReply,
  refusal: Refusal,
  status = httpStatus[refusal.code],
): FastifyReply {
  return reply
    .code(status)
    .headers(statusHeaders(refusal.code, refusal.message))
    .send({ code: refusal.code, message: refusal.message });
}
