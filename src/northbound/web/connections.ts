import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Server } from "node:http2";
import type { Server, Socket } from "node:net";
import { type TLSSocket, Server as TlsServer } from "node:tls";
import type { Clock } from "../../platform/clock.ts";
import { createBoundedConnections } from "../../platform/listener.ts";
import type { Log } from "../../platform/log.ts";
import { createRecurringProblem } from "../../platform/log-bounds.ts";
import { SILENCE_MS } from "./two-protocols.ts";

/** An HTTP server, with TLS or without. */
interface LimitedServer extends Server {
  setTimeout(ms: number): unknown;
}

/** Connections of an HTTP server. */
export interface WebConnections {
  /**
   * Limits a server's connections from now on.
   *
   * @param http2 the server that handles its connections of HTTP/2
   */
  limit(server: LimitedServer, http2?: Http2Server): void;
  /** Why connections are closed; null: none was within the last half minute. */
  problem(): string | null;
  figures(): { readonly connections: number; readonly connectionsClosed: number };
}

export interface ConnectionBounds {
  /** Of all connections. A further one is closed at once. */
  readonly most: number;
  /**
   * Of connections without a whole request under way, while many have one. Further ones are allowed only
   * while as many places again are free. Beyond that, a new one closes the oldest, so new clients always get
   * a connection.
   */
  readonly mostIdle: number;
  /**
   * Of connections with a whole request under way. A further one closes the oldest of the address with the
   * most.
   */
  readonly mostBusy: number;
}

/**
 * Of a listener. Waiting commands and streams take 176 of the busy ones; busy and idle ones together
 * leave 48 places for new clients.
 */
export const listenerBounds: ConnectionBounds = { most: 320, mostIdle: 48, mostBusy: 224 };

/** How many requests a connection of HTTP/1.1 may have under way at once. */
const MOST_PIPELINED = 4;

type Message = Pick<IncomingMessage, "socket" | "headers" | "once" | "off">;

/** The requests of a connection. */
interface UnderWay {
  all: number;
  /** Requests that have arrived with their whole body. */
  whole: number;
}

export function createWebConnections(bounds: ConnectionBounds, clock: Clock, log: Log): WebConnections {
  const { most, mostIdle, mostBusy } = bounds;
  const closed = () => idle.figures().closed + busy.figures().closed;
  let closedWhenLogged = 0;
  const closing = createRecurringProblem(clock, () => {
    log.info({ closed: closed() - closedWhenLogged }, "web connections are not closed for others any more");
    closedWhenLogged = closed();
  });
  let reason = "";
  function note(address: string, what: string): void {
    reason = `${what}: the oldest are closed for new ones`;
    if (closing.note()) log.warn({ address }, reason);
  }
  const busy = createBoundedConnections(
    () => mostBusy,
    (address) => note(address, `more than ${mostBusy} web connections have a request under way`),
  );
  /** A client that has connected and not sent a request yet is idle too: many may come at once. */
  const idleNow = () => Math.max(mostIdle, most - mostIdle - busy.figures().open);
  const idle = createBoundedConnections(idleNow, (address) =>
    note(address, `more than ${idleNow()} idle web connections`),
  );
  const underWay = new WeakMap<Socket, UnderWay>();
  let open = 0;

  function arrived(socket: Socket): void {
    const requests = underWay.get(socket);
    if (requests === undefined) return;
    requests.whole += 1;
    if (requests.whole > 1) return;
    idle.remove(socket);
    busy.add(socket);
  }

  function ended(socket: Socket, isWhole: boolean): void {
    const requests = underWay.get(socket);
    if (requests === undefined) return;
    requests.all -= 1;
    if (!isWhole) return;
    requests.whole -= 1;
    if (requests.whole > 0) return;
    busy.remove(socket);
    idle.add(socket);
  }

  /** Until its body has arrived, a request costs its client nothing: the connection counts as idle. */
  function began(socket: Socket, request: Message, response: ServerResponse, mostRequests: number): void {
    const requests = underWay.get(socket) ?? { all: 0, whole: 0 };
    underWay.set(socket, requests);
    requests.all += 1;
    if (requests.all > mostRequests) return void socket.destroy();
    let isWhole = false;
    const onWhole = () => {
      isWhole = true;
      arrived(socket);
    };
    response.once("close", () => {
      request.off("end", onWhole);
      ended(socket, isWhole);
    });
    if (Number(request.headers["content-length"] ?? 0) === 0) onWhole();
    else request.once("end", onWhole);
  }

  return {
    limit(server, http2) {
      server.maxConnections = most;
      server.setTimeout(SILENCE_MS);
      server.on("connection", (socket) => {
        open += 1;
        socket.once("close", () => {
          open -= 1;
        });
        idle.add(socket);
      });
      const socketOf = followHandshakes(server, idle.remove, idle.add);
      // Before the request's handler, which ignores the requests of a destroyed socket.
      const follow = (mostRequests: number) => (request: Message, response: ServerResponse) => {
        began(socketOf(request), request, response, mostRequests);
      };
      server.prependListener("request", follow(MOST_PIPELINED));
      http2?.setTimeout(SILENCE_MS);
      // HTTP/2 itself bounds their number.
      http2?.prependListener("request", follow(Number.POSITIVE_INFINITY) as never);
    },
    problem: () => (closing.isRecurring() ? reason : null),
    figures: () => ({ connections: open, connectionsClosed: closed() }),
  };
}

/**
 * Over TLS a connection has two sockets: the accepted one, and after the handshake the one of its requests.
 * Address and port of the peer are the same for both, and for the socket that HTTP/2 gives to a request. The
 * returned function finds the accepted socket of a request.
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
