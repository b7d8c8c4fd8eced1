import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { listenError } from "../../platform/listener.ts";
import type { Log } from "../../platform/log.ts";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../wire/grpc/health/v1/health_pb.js";
import { type CodeName, invalid, Refusal } from "../refusal.ts";
import type { TlsIdentity } from "../tls/identity.ts";
import { handleCall } from "./call.ts";
import { createResponse, type GrpcMethod, type MethodTable, type Response } from "./response.ts";

export interface GrpcServerOptions {
  readonly identity: TlsIdentity;
  readonly methods: MethodTable;
  /** Calls at once on one connection; deployed services commonly allow 100. */
  readonly maxConcurrentStreams: number;
  readonly maxMessageBytes: number;
  /** Bytes that may wait for a subscriber that does not read. */
  readonly maxUnreadBytes: number;
  /** While true calls are neither read nor answered; connections stay open and pings are answered. */
  isSilent(): boolean;
  /** While true every new connection is closed at once. */
  isCut(): boolean;
  readonly log: Log;
}

/**
 * gRPC over TLS, directly on HTTP/2 (docs/internals/decisions.md, gRPC is served on `node:http2`). A burst to
 * one subscriber is one write.
 */
export interface GrpcServer {
  /** Binds and returns the port. Rejects with PortTaken. */
  listen(host: string, port: number): Promise<number>;
  /** Ends every call under way with a status. */
  endCalls(code: CodeName, message: string): void;
  /** Cuts off every call under way with RST_STREAM code 0, as load balancers do. */
  resetCalls(): void;
  /** Sends GOAWAY on every connection, and drops those that are left after `graceMs` on this clock. */
  goAway(graceMs: number, clock: Clock): void;
  /** Destroys every connection. */
  closeConnections(): void;
  /** Calls under way: all, or those of the method with this name. */
  openCalls(method?: string): number;
  close(): Promise<void>;
}

// Node counts the waiting bytes of subscribers against this, and refuses new calls past it.
const MAX_SESSION_MEGABYTES = 512;
const CLOSE_GRACE_MS = 500;

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { identity, log } = options;
  const sessions = new Set<ServerHttp2Session>();
  const calls = new Map<ServerHttp2Stream, Response>();
  const pathsOf = new WeakMap<ServerHttp2Stream, string>();
  const server = createSecureServer({
    key: identity.key,
    cert: identity.certificate,
    minVersion: "TLSv1.2",
    handshakeTimeout: 10_000,
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    settings: { maxConcurrentStreams: options.maxConcurrentStreams },
  });

  // Before TLS takes over the socket.
  server.prependListener("connection", (socket) => {
    if (options.isCut()) socket.destroy();
  });
  server.on("session", (session) => {
    // It was being opened when the cut began.
    if (options.isCut()) return session.destroy();
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A client that breaks the protocol only loses its connection.
    session.on("error", (error) => log.debug({ err: error }, "a gRPC connection broke"));
  });
  server.on("sessionError", (error) => log.debug({ err: error }, "a gRPC connection broke"));
  server.on("tlsClientError", (error) => log.debug({ err: error }, "a client failed to speak TLS"));
  server.on("stream", (stream, headers) => {
    stream.on("error", (error) => log.debug({ err: error }, "a gRPC call broke"));
    if (options.isSilent() || refusedAsHttp(stream, headers)) return;
    const response = createResponse(stream, options);
    calls.set(stream, response);
    pathsOf.set(stream, String(headers[":path"]));
    stream.once("close", () => calls.delete(stream));
    handleCall(stream, headers, response, options);
  });

  function goAway(graceMs: number, clock: Clock): void {
    for (const session of sessions) {
      session.close();
      session.once(
        "close",
        clock.after(graceMs, () => session.destroy()),
      );
    }
  }
  const endCalls = (code: CodeName, message: string) => {
    for (const response of calls.values()) response.end(code, message);
  };

  return {
    listen: (host, port) => listen(server, host, port),
    endCalls,
    resetCalls() {
      for (const response of calls.values()) response.reset(constants.NGHTTP2_NO_ERROR);
    },
    goAway,
    closeConnections() {
      for (const session of sessions) session.destroy();
    },
    openCalls(method) {
      if (method === undefined) return calls.size;
      return [...calls.keys()].filter((stream) => pathsOf.get(stream)?.endsWith(`/${method}`)).length;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      endCalls("UNAVAILABLE", "the service is shutting down");
      // The service stops in the machine's time, even if its own clock stands still.
      goAway(CLOSE_GRACE_MS, systemClock);
      await closed;
    },
  };
}

/** Answers a request that is no gRPC call, by HTTP. */
function refusedAsHttp(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const isPost = headers[":method"] === "POST";
  const isGrpc = /^application\/grpc(\+proto)?(;|$)/.test(headers["content-type"] ?? "");
  if (isPost && isGrpc) return false;
  stream.respond({ ":status": isPost ? 415 : 405 }, { endStream: true });
  stream.resume();
  return true;
}

function listen(server: Http2SecureServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => reject(listenError(error, "fleet gRPC", port));
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      // Bound to a host and port, so the address is no pipe's name.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/**
 * grpc.health.v1.Health. A server that answers at all serves, so only the name is checked. Needs no token.
 */
export function healthMethods(serviceNames: readonly string[]): ReadonlyMap<string, GrpcMethod> {
  const known = new Set(["", ...serviceNames]);
  const answer = (status: ServingStatus) =>
    toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status }));
  return new Map<string, GrpcMethod>([
    [
      `/${Health.typeName}/${Health.method.check.name}`,
      {
        kind: "unary",
        async answer(request) {
          const service = askedFor(request);
          if (!known.has(service)) throw new Refusal("NOT_FOUND", `there is no service ${service}`);
          return answer(ServingStatus.SERVING);
        },
      },
    ],
    [
      `/${Health.typeName}/${Health.method.watch.name}`,
      {
        kind: "stream",
        async open(request, _headers, response) {
          const service = askedFor(request);
          response.write(answer(known.has(service) ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN));
        },
      },
    ],
  ]);
}

function askedFor(request: Uint8Array): string {
  try {
    return fromBinary(HealthCheckRequestSchema, request).service;
  } catch {
    throw invalid("the request is no HealthCheckRequest");
  }
}
