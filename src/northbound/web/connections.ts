import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../platform/clock.ts";
import { createIdleConnections } from "../../platform/idle-connections.ts";
import type { Log } from "../../platform/log.ts";
import { createRecurringProblem } from "../../platform/recurring-problem.ts";

/** Connections of an HTTP server. */
export interface WebConnections {
  /** Limits a server's connections from now on. */
  limit(server: Server): void;
  /** Why connections are closed; null when none was within the last half minute. */
  problem(): string | null;
  figures(): { readonly connections: number; readonly connectionsClosed: number };
}

export interface ConnectionBounds {
  /** Of all connections. A new one beyond it is closed at once. */
  readonly most: number;
  /**
   * Of connections without a request under way. A new one beyond it closes the oldest: new clients get in.
   */
  readonly mostIdle: number;
}

/** A connection on which nothing moves for this long is closed. */
export const SILENCE_MS = 10_000;
/** Requests that a connection may have under way at once. */
const MOST_PIPELINED = 4;

export function createWebConnections(bounds: ConnectionBounds, clock: Clock, log: Log): WebConnections {
  const { most, mostIdle } = bounds;
  let closedWhenLogged = 0;
  const closing = createRecurringProblem(clock, () => {
    const { closed } = idle.figures();
    log.info({ closed: closed - closedWhenLogged }, "idle web connections are not closed any more");
    closedWhenLogged = closed;
  });
  const idle = createIdleConnections(mostIdle, (address) => {
    if (closing.note())
      log.warn(
        { address, most: mostIdle },
        "too many idle web connections: the oldest are closed for new ones",
      );
  });
  const underWay = new Map<Socket, number>();
  let open = 0;

  function began({ socket }: IncomingMessage): void {
    const requests = (underWay.get(socket) ?? 0) + 1;
    underWay.set(socket, requests);
    idle.remove(socket);
    if (requests > MOST_PIPELINED) socket.destroy();
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
    limit(server) {
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
      // Before the request's handler, which ignores the requests of a destroyed socket.
      server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
        began(request);
        response.once("close", () => ended(request.socket));
      });
    },
    problem: () =>
      closing.isRecurring()
        ? `more than ${mostIdle} idle web connections: the oldest are closed for new ones`
        : null,
    figures: () => ({ connections: open, connectionsClosed: idle.figures().closed }),
  };
}
