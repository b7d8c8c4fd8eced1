import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Clock } from "../../platform/clock.ts";
import { createIdleConnections } from "../../platform/idle-connections.ts";
import type { Log } from "../../platform/log.ts";
import { createRecurringProblem } from "../../platform/recurring-problem.ts";

/** Connections of the web server. */
export interface WebConnections {
  /** Limits a server's connections from now on. */
  limit(server: Server): void;
  /** Why connections are closed; null when none was within the last half minute. */
  problem(): string | null;
  figures(): { readonly connections: number; readonly connectionsClosed: number };
}

/** Without a request under way. Beyond it the oldest goes for a new one, so that a health check always gets in. */
const MOST_IDLE = 150;
/** In all: what is left over is for requests under way, which are answered at once. */
const MOST = 200;
/** A client that takes nothing of its answer, and asks nothing, is cut off. */
const SILENCE_MS = 10_000;

export function createWebConnections(clock: Clock, log: Log): WebConnections {
  let closedWhenLogged = 0;
  const closing = createRecurringProblem(clock, () => {
    const { closed } = idle.figures();
    log.info({ closed: closed - closedWhenLogged }, "web connections are not closed for new ones any more");
    closedWhenLogged = closed;
  });
  const idle = createIdleConnections(MOST_IDLE, (address) => {
    if (closing.note())
      log.warn(
        { address, most: MOST_IDLE },
        "too many idle web connections: the oldest are closed for new ones",
      );
  });
  let open = 0;

  return {
    limit(server) {
      server.maxConnections = MOST;
      server.setTimeout(SILENCE_MS);
      server.on("connection", (socket) => {
        open += 1;
        socket.once("close", () => {
          open -= 1;
        });
        idle.add(socket);
      });
      server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
        idle.remove(socket);
        response.once("close", () => idle.add(socket));
      });
    },
    problem: () =>
      closing.isRecurring()
        ? `more than ${MOST_IDLE} idle web connections: the oldest are closed for new ones`
        : null,
    figures: () => ({ connections: open, connectionsClosed: idle.figures().closed }),
  };
}
