// Loaded before the simulated service: tells what the service sees of its clients, without asking them,
// and lets a successor bind its ports at a given moment.
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import http2, { type Http2SecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import { Server } from "node:net";

/** Something that the service saw, in Unix milliseconds. */
export interface Observation {
  /**
   * `stop`: a call of UpdateMission. `call`: one of the method that is to be told. `streams`: a subscription
   * was answered, or ended.
   */
  readonly kind: "listening" | "connection" | "token-request" | "stop" | "call" | "streams";
  readonly port: number;
  readonly atMs: number;
  /** Subscriptions that are answered and have not ended. */
  readonly openStreams: number;
}

const TELL_EVERY_MS = 100;
const EXCHANGE_PATH = "/authorizeApiAccess";
const STOP_METHOD = "/UpdateMission";
const SUBSCRIPTION = /\/Subscribe\w+$/;
const listenAtMs = Number(process.env.BENCH_LISTEN_AT_MS ?? 0);
const toldMethod = process.env.BENCH_TOLD_METHOD ?? "";
let unreported: Observation[] = [];
let openStreams = 0;

function note(kind: Observation["kind"], port: number): void {
  unreported.push({ kind, port, atMs: performance.timeOrigin + performance.now(), openStreams });
}

function portOf(server: Server): number {
  const address = server.address();
  return address === null || typeof address === "string" ? 0 : address.port;
}

const listen = Server.prototype.listen;
// What the original takes, whatever it is.
Server.prototype.listen = function held(this: Server, ...args: unknown[]) {
  this.once("listening", () => note("listening", portOf(this)));
  this.on("connection", () => note("connection", portOf(this)));
  setTimeout(() => Reflect.apply(listen, this, args), Math.max(0, listenAtMs - Date.now()));
  return this;
};

subscribe("http.server.request.start", (event) => {
  const { request } = event as { readonly request: IncomingMessage };
  if (request.url?.startsWith(EXCHANGE_PATH)) note("token-request", request.socket.localPort ?? 0);
});

/** Counts a subscription from its first answer to its end. */
function watchSubscription(stream: ServerHttp2Stream, port: number): void {
  const respond = stream.respond.bind(stream);
  stream.respond = (...answer) => {
    openStreams += 1;
    note("streams", port);
    stream.once("close", () => {
      openStreams -= 1;
      note("streams", port);
    });
    respond(...answer);
  };
}

const { createSecureServer } = http2;
http2.createSecureServer = (...args: unknown[]) => {
  const server: Http2SecureServer = Reflect.apply(createSecureServer, http2, args);
  server.prependListener("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const path = headers[":path"] ?? "";
    if (path.endsWith(STOP_METHOD)) note("stop", portOf(server));
    if (toldMethod !== "" && path.endsWith(`/${toldMethod}`)) note("call", portOf(server));
    if (SUBSCRIPTION.test(path)) watchSubscription(stream, portOf(server));
  });
  return server;
};
syncBuiltinESMExports();

setInterval(() => {
  if (unreported.length === 0 || !process.connected) return;
  process.send?.(unreported);
  unreported = [];
}, TELL_EVERY_MS).unref();
