import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest, ServerHttp2Stream } from "node:http2";

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
