import type { IncomingMessage, RequestListener } from "node:http";
import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2ServerRequest,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { TLSSocket } from "node:tls";

/** An HTTPS server that speaks HTTP/2 with clients that ask for it, and HTTP/1.1 with all others. */
export interface TwoProtocols {
  /** Listens, and speaks HTTP/1.1. */
  readonly server: Server;
  /** Never listens: it gets the connections that speak HTTP/2. */
  readonly http2: Http2Server;
  /** Ends all connections that speak HTTP/2. */
  closeSessions(): void;
}

/** A browser has one connection for all its tabs: their streams, 48 waiting commands, and other requests. */
const MOST_STREAMS = 64;
/** Node's own bound for HTTP/1.1. */
const HEADER_BYTES = 16 * 1024;

/**
 * Node's own server for both protocols puts no bound on the time of an HTTP/1.1 request (Node 20), so each
 * protocol has its own server (docs/internals/decisions.md, Each protocol of the web listener has a server).
 */
export function createTwoProtocols(options: ServerOptions, listener: RequestListener): TwoProtocols {
  const server = createServer({ ...options, ALPNProtocols: ["h2", "http/1.1"] }, listener);
  const settings = {
    maxConcurrentStreams: MOST_STREAMS,
    maxHeaderListSize: HEADER_BYTES,
    enablePush: false,
  };
  // Its messages have all members of HTTP/1.1 that a listener uses.
  const http2 = createHttp2Server({ settings, maxSessionMemory: 4 }, listener as never);
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  const [speakHttp1] = server.listeners("secureConnection");
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket: TLSSocket) => {
    // HTTP/2 ends the process on a socket that was ended or written to. And if the server is closing, it does
    // not know this connection, and would wait until the client leaves.
    if (!socket.writable || socket.writableLength > 0 || !server.listening) socket.destroy();
    else if (socket.alpnProtocol === "h2") http2.emit("connection", socket);
    else speakHttp1?.call(server, socket);
  });
  return {
    server,
    http2,
    closeSessions() {
      for (const session of sessions) session.destroy();
    },
  };
}

/** A connection without any traffic for this long is closed. */
export const SILENCE_MS = 10_000;

interface Connection {
  setTimeout(ms: number): unknown;
}

/** How much longer the requests under way of each connection allow it to be silent. */
const allowed = new WeakMap<Connection, number[]>();

/**
 * Lets the connection of a request be silent for this much longer, while its client waits for an answer. Over
 * HTTP/2 other requests of the connection may wait too. Call the returned function when the request is
 * answered.
 */
export function allowSilence(request: IncomingMessage, ms: number): () => void {
  const connection = connectionOf(request);
  if (connection === undefined) return () => {};
  const waits = allowed.get(connection) ?? [];
  allowed.set(connection, waits);
  waits.push(ms);
  const apply = () => connection.setTimeout(SILENCE_MS + Math.max(0, ...waits));
  apply();
  return () => {
    waits.splice(waits.indexOf(ms), 1);
    apply();
  };
}

/** Undefined: it is closed. */
function connectionOf(request: IncomingMessage): Connection | undefined {
  const stream = streamOf(request);
  return stream === null ? request.socket : stream.session;
}

/** The stream of a request of HTTP/2; null: it is of HTTP/1.1. */
export function streamOf(request: IncomingMessage): ServerHttp2Stream | null {
  return request.httpVersionMajor === 2 ? (request as unknown as Http2ServerRequest).stream : null;
}
