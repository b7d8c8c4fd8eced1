import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Server } from "node:http2";
import type { Server, Socket } from "node:net";
import { type TLSSocket, Server as TlsServer } from "node:tls";
import type { Clock } from "../../platform/clock.ts";
import { createIdleConnections } from "../../platform/idle-connections.ts";
import type { Log } from "../../platform/log.ts";
import { createRecurringProblem } from "../../platform/recurring-problem.ts";
import { SILENCE_MS } from "./silence.ts";

/** An HTTP server, with TLS or without. */
interface LimitedServer extends Server {
  setTimeout(ms: number): unknown;
}

/** Connections of an HTTP server. */
export interface WebConnections {
  /**
   * Limits a server's connections from now on.
   * @param http2 is given those of its connections that speak HTTP/2
   */
  limit(server: LimitedServer, http2?: Http2Server): void;
  /** Why connections are closed; null when none was within the last half minute. */
  problem(): string | null;
  figures(): { readonly connections: number; readonly connectionsClosed: number };
}

export interface ConnectionBounds {
  /** Of all connections. A new one beyond it is closed at once. */
  readonly most: number;
  /**
   * Of connections without a request under way, when many have one. Others may be there only while as many
   * places again are free. A new one beyond that closes the oldest: new clients get in.
   */
  readonly mostIdle: number;
}

/** Requests that a connection of HTTP/1.1 may have under way at once. */
const MOST_PIPELINED = 4;

type Message = Pick<IncomingMessage, "socket">;

export function createWebConnections(bounds: ConnectionBounds, clock: Clock, log: Log): WebConnections {
  const { most, mostIdle } = bounds;
  let closedWhenLogged = 0;
  const closing = createRecurringProblem(clock, () => {
    const { closed } = idle.figures();
    log.info({ closed: closed - closedWhenLogged }, "idle web connections are not closed any more");
    closedWhenLogged = closed;
  });
  const underWay = new Map<Socket, number>();
  /** A client that has connected and not asked yet is idle too: many may come at once. */
  const idleNow = () => Math.max(mostIdle, most - mostIdle - underWay.size);
  let reached = mostIdle;
  const idle = createIdleConnections(idleNow, (address) => {
    reached = idleNow();
    if (closing.note())
      log.warn(
        { address, most: reached },
        "too many idle web connections: the oldest are closed for new ones",
      );
  });
  let open = 0;

  function began(socket: Socket, most: number): void {
    const requests = (underWay.get(socket) ?? 0) + 1;
    underWay.set(socket, requests);
    idle.remove(socket);
    if (requests > most) socket.destroy();
  }

  function ended(socket: Socket): void {
    const requests = (underWay.get(socket) ?? 1) - 1;
    if (requests > 0) underWay.set(socket, requests);
    else {
      underWay.delete(socket);
      idle.add(socket);
    }
  }

  return {
    limit(server, http2) {
      server.maxConnections = most;
      server.setTimeout(SILENCE_MS);
      server.on("connection", (socket) => {
        open += 1;
        socket.once("close", () => {
          open -= 1;
          underWay.delete(socket);
        });
        idle.add(socket);
      });
      const socketOf = followHandshakes(server, idle.remove, idle.add);
      // Before the request's handler, which ignores the requests of a destroyed socket.
      const follow = (mostRequests: number) => (request: Message, response: ServerResponse) => {
        const socket = socketOf(request);
        began(socket, mostRequests);
        response.once("close", () => ended(socket));
      };
      server.prependListener("request", follow(MOST_PIPELINED));
      http2?.setTimeout(SILENCE_MS);
      // The protocol itself bounds their number.
      http2?.prependListener("request", follow(Number.POSITIVE_INFINITY) as never);
    },
    problem: () =>
      closing.isRecurring()
        ? `more than ${reached} idle web connections: the oldest are closed for new ones`
        : null,
    figures: () => ({ connections: open, connectionsClosed: idle.figures().closed }),
  };
}

/**
 * Over TLS a connection has two sockets: the one that was accepted, and after the handshake the one of its
 * requests. Address and port of the peer are the same for both, and for what HTTP/2 gives as socket of a
 * request. The result gives the socket of a request.
 */
function followHandshakes(
  server: Server,
  leave: (accepted: Socket) => void,
  enter: (secured: Socket) => void,
): (request: Message) => Socket {
  if (!(server instanceof TlsServer)) return ({ socket }) => socket;
  const sockets = new Map<string, Socket>();
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    sockets.set(peer, socket);
    socket.once("close", () => sockets.delete(peer));
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const peer = peerOf(socket);
    const before = sockets.get(peer);
    if (before !== undefined) leave(before);
    sockets.set(peer, socket);
    enter(socket);
  });
  return ({ socket }) => sockets.get(peerOf(socket)) ?? socket;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
