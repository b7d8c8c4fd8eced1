import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Client, type ServiceError, status } from "@grpc/grpc-js";
import { LOOKS_A_SILENCE } from "../../domain/detection.ts";
import { type Clock, within } from "../../platform/clock.ts";
import { openTls } from "../../platform/tls-trial.ts";
import { bareHost } from "../../platform/url-host.ts";
import { ProxyFailed, proxyAnswer, proxyFailed } from "../error-text.ts";
import type { FleetOptions } from "../options.ts";
import { asIs, authorization, isMadeUp } from "./grpc-js.ts";

/** The address of the service, and the way to it. */
export type ConnectOptions = Pick<FleetOptions, "grpcAddress" | "proxyUrl" | "tls" | "times">;

/** In HTTP/2, no setting means no limit. */
const UNLIMITED = 4_294_967_295;

/**
 * Finds out whether the service can be reached, and how many streams it allows on one
 * connection: connects, reads its SETTINGS, and closes again. Rejects with what is wrong.
 *
 * grpc-js does neither. It knows the limit, does not show it, and queues further
 * calls in silence. And a channel that is closed after a failed attempt connects
 * later all the same, and that connection is never closed; so a channel is
 * made only after an attempt that succeeded.
 */
export type Preflight = (signal: AbortSignal) => Attempt;

export interface Attempt {
  /** Monotonic milliseconds. Callers that joined it later have waited since then too. */
  readonly beganAtMs: number;
  /** How many streams the service allows. */
  readonly streamLimit: Promise<number>;
}

/** Callers at the same time share one attempt. */
export function createPreflight(options: ConnectOptions, clock: Clock): Preflight {
  let underWay: Attempt | null = null;
  return (signal) => {
    underWay ??= {
      beganAtMs: clock.monotonicMs(),
      streamLimit: within(signal, options.times.connectMs, (bounded) =>
        readStreamLimit(options, bounded),
      ).finally(() => {
        underWay = null;
      }),
    };
    return underWay;
  };
}

async function readStreamLimit(options: ConnectOptions, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  const socket = await connectTls(options, signal);
  if (socket.alpnProtocol !== "h2") {
    socket.destroy();
    throw new Error(
      `fleet.grpc.address (${options.grpcAddress}): the server does not speak HTTP/2; look whether the ports for gRPC and for HTTPS are swapped`,
    );
  }
  const session = connectHttp2(`https://${options.grpcAddress}`, { createConnection: () => socket });
  try {
    return await new Promise<number>((resolve, reject) => {
      session.once("remoteSettings", (settings) => resolve(settings.maxConcurrentStreams ?? UNLIMITED));
      session.once("error", reject);
      session.once("close", () => reject(new Error("the connection closed before its settings came")));
      signal.addEventListener("abort", () => reject(new Error("the server sends no HTTP/2 settings")), {
        once: true,
      });
    });
  } finally {
    session.destroy();
  }
}

async function connectTls(options: ConnectOptions, signal: AbortSignal): Promise<TLSSocket> {
  const { grpcAddress, proxyUrl, tls } = options;
  const { hostname, port } = new URL(`https://${grpcAddress}`);
  const tunnel = proxyUrl === null ? null : await openTunnel(proxyUrl, grpcAddress, signal);
  const address = { host: bareHost(hostname), port: Number(port === "" ? 443 : port) };
  return openTls({ ...address, ...tls, protocols: ["h2"], tunnel }, { rejectUnauthorized: true }, signal);
}

/** Opens a tunnel through an HTTP proxy to `address`, before TLS. */
export function openTunnel(proxyUrl: string, address: string, signal: AbortSignal): Promise<Socket> {
  const proxy = new URL(proxyUrl);
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const tunnel = request({
      host: proxy.hostname,
      port: proxy.port === "" ? 80 : proxy.port,
      method: "CONNECT",
      path: address,
      headers:
        proxy.username === ""
          ? { host: address }
          : { host: address, "proxy-authorization": `Basic ${Buffer.from(user).toString("base64")}` },
      signal,
    });
    tunnel.once("connect", (answer, socket) => {
      if (answer.statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(new ProxyFailed(proxyAnswer(answer.statusCode ?? 0, address)));
      }
    });
    tunnel.once("error", (error) => reject(proxyFailed(error, proxyUrl)));
    tunnel.end();
  });
}

/** Codes that mean that nothing came from the service itself. */
const noAnswer: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
]);

/** If the timer is this late, the process was held up, and an answer may lie unread. */
const HELD_UP_MS = 50;

/**
 * Whether the server answers on this connection at all. HTTP/2 pings would show it, but grpc-js hides their
 * answers and many servers punish them. So this calls a read that names no robot: any answer is a sign of
 * life, also a refusal or a failure of the service (docs/internals/service.md, ERR-43). If the process was
 * held up beyond the time for the answer, it calls once more, because the timer runs before the answer is
 * read.
 */
export async function proveAlive(
  client: Client,
  options: FleetOptions,
  jwt: string | null,
): Promise<boolean> {
  const { callMs, connectMs, streamSilenceMs } = options.times;
  const waitMs = Math.min(callMs, connectMs, streamSilenceMs / LOOKS_A_SILENCE);
  const dueAtMs = performance.now() + waitMs;
  // On a channel that is closed grpc-js throws: nothing answers there.
  const ask = () => answerTo(client, options.serviceName, jwt, waitMs).catch(() => "none" as const);
  const answer = await ask();
  if (answer !== "late" || performance.now() - dueAtMs <= HELD_UP_MS) return answer === "given";
  return (await ask()) === "given";
}

function answerTo(
  client: Client,
  serviceName: string,
  jwt: string | null,
  waitMs: number,
): Promise<"given" | "late" | "none"> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${serviceName}/ListWebhooks`,
      asIs,
      asIs,
      Buffer.alloc(0),
      authorization(jwt ?? ""),
      { deadline: new Date(Date.now() + waitMs) },
      (error) => {
        if (error === null || isAnswer(error)) resolve("given");
        else resolve(error.code === status.DEADLINE_EXCEEDED ? "late" : "none");
      },
    );
  });
}

function isAnswer({ code, details }: ServiceError): boolean {
  return !noAnswer.has(code ?? status.UNKNOWN) && !isMadeUp(details);
}
