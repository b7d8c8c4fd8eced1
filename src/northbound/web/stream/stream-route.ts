import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sendProblem } from "../problem.ts";
import { MOST_STREAMS, type WhoseStream } from "./readers.ts";
import type { Stream } from "./stream.ts";

interface Route {
  readonly Querystring: { readonly last_event_id?: unknown };
}

const ID_BYTES = 16;

/**
 * `GET /api/v1/stream` answers 200 and then server-sent events, as long as the client reads. The id of the
 * last event comes in the header `Last-Event-ID`, or in the query for a client that cannot set headers.
 */
export function addStreamRoute(
  server: FastifyInstance,
  {
    stream,
    browserCookie,
    whose,
  }: {
    readonly stream: Pick<Stream, "add">;
    /**
     * The name of the cookie: a browser sends the cookies of a host to all its ports. Null: there are no
     * browsers.
     */
    readonly browserCookie: string | null;
    /** The user of a request. */
    readonly whose: (request: FastifyRequest) => WhoseStream;
  },
): void {
  // A HEAD request would read the stream, and get nothing of it.
  server.get<Route>("/api/v1/stream", { exposeHeadRoute: false }, (request, reply) => {
    const { headers, query } = request;
    const known = browserCookie === null ? null : cookieIn(headers.cookie, browserCookie);
    const isBounded = browserCookie !== null && request.raw.httpVersionMajor === 1;
    const browser = isBounded ? (known ?? randomBytes(ID_BYTES).toString("base64url")) : null;
    const { raw } = reply;
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value);
    raw.setHeader("content-type", "text/event-stream; charset=utf-8");
    // Otherwise a proxy that buffers answers until they end would pass nothing on.
    raw.setHeader("x-accel-buffering", "no");
    if (browser !== null && known === null)
      raw.setHeader("set-cookie", `${browserCookie}=${browser}; ${attributes(request.protocol)}`);
    const last = headers["last-event-id"] ?? query.last_event_id;
    const lastEventId = typeof last === "string" && last !== "" ? last : null;
    if (stream.add({ response: raw, browser, whose: whose(request), lastEventId }))
      return void reply.hijack();
    const full = `${MOST_STREAMS} readers follow the gateway already: end one of them`;
    return sendProblem(reply, 503, full);
  });
}

function attributes(protocol: string): string {
  return `Path=/api/v1; HttpOnly; SameSite=Strict${protocol === "https" ? "; Secure" : ""}`;
}

function cookieIn(header: string | undefined, name: string): string | null {
  for (const part of (header ?? "").split(";")) {
    const [key, value] = part.trim().split("=");
    if (key === name && value !== undefined && /^[\w-]{22}$/.test(value)) return value;
  }
  return null;
}
