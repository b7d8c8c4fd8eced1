// Loaded before the simulated service: gives it simulated time, cuts its connections on demand, and tells
// when a token is asked for.
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Server, type Socket } from "node:net";
import { isMainThread } from "node:worker_threads";
import { realNowMs } from "./pace.ts";
import type { ServiceRequest, TokenRequested } from "./protocol.ts";
import { useAcceleratedClock } from "./use-clock.ts";

const EXCHANGE_PATH = "/authorizeApiAccess";

if (isMainThread) {
  const { clock, setPace } = await useAcceleratedClock();
  const sockets = new Set<Socket>();
  let cutUntilMs = 0;

  const listen = Server.prototype.listen;
  // What the original takes, whatever it is.
  Server.prototype.listen = function cuttable(this: Server, ...args: unknown[]) {
    this.prependListener("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      if (realNowMs() < cutUntilMs) socket.destroy();
    });
    return Reflect.apply(listen, this, args);
  };

  subscribe("http.server.request.start", (event) => {
    const { request, response } = event as { request: IncomingMessage; response: ServerResponse };
    // Node.js would tell the machine's time.
    response.setHeader("date", new Date(clock.nowMs()).toUTCString());
    if (request.url?.startsWith(EXCHANGE_PATH)) process.send?.({ soak: "token" } satisfies TokenRequested);
  });

  process.on("message", (request: ServiceRequest) => {
    if (request.soak === "pace") setPace(request.pace);
    else {
      cutUntilMs = realNowMs() + request.forMs;
      for (const socket of sockets) socket.destroy();
    }
  });
  process.channel?.unref();
}
