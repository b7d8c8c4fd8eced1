import { connect, type Socket } from "node:net";
import type { Config } from "../../config/load.ts";
import { openTunnel } from "../../fleet/channels/preflight.ts";
import { ProxyFailed } from "../../fleet/error-text.ts";
import { createClockSkew } from "../../fleet/robot-clocks.ts";
import { tryStream, tryToken } from "../../fleet/trial/stream-trial.ts";
import { type Clock, within } from "../../platform/clock.ts";
import { connectFaultOf, lateError } from "../../platform/connect-fault.ts";
import { type TlsTrial, tryTls } from "../../platform/tls-trial.ts";
import { urlHost } from "../../platform/url-host.ts";
import { type Endpoint, ok, type Part, skipped, TRY_MS, wrong } from "./endpoints.ts";

/** Beyond it the gateway raises CLOCK_SKEW (docs/troubleshoot.md, A clock is wrong). */
const MOST_SKEW_MS = 2_000;

/** @param skewMs the service's clock minus this machine's; null: there was no answer with a Date */
export function clockPart(skewMs: number | null): Part {
  const part = "clock";
  if (skewMs === null) return skipped(part, "no answer of the service has a Date to compare with");
  const seconds = Math.abs(Math.round(skewMs / 100) / 10);
  if (Math.abs(skewMs) <= MOST_SKEW_MS)
    return ok(part, `this machine's clock agrees with the service's, by ${seconds} s`);
  const way = skewMs > 0 ? "behind" : "ahead of";
  return wrong(
    part,
    `this machine's clock is ${seconds} s ${way} the service's`,
    "let a time service set it (timedatectl shows which); expires_at and certificates are judged by this clock",
  );
}

/** Exchanges the API key once. The token is null if there is none. */
export async function tryKey(
  { fleet }: Config,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly part: Part; readonly jwt: string | null }> {
  const part = "token";
  const trial = await tryToken(fleet, clock, TRY_MS, signal);
  switch (trial.kind) {
    case "token": {
      const minutes = Math.round(trial.lifeMs / 60_000);
      return { part: ok(part, `the API key is accepted; a token lives for ${minutes} min`), jwt: trial.jwt };
    }
    case "withheld": {
      const detail = `not asked: the gateway has used up its rate of token requests for ${Math.ceil(trial.waitMs / 1000)} s more`;
      return { part: skipped(part, detail, "try again after that time"), jwt: null };
    }
    case "refused":
      return {
        part: wrong(
          part,
          trial.message,
          "let fleet.credentials name the document of a key that is valid, and look whether fleet.authUrl is of the same service",
        ),
        jwt: null,
      };
    case "limited":
      return {
        part: wrong(part, trial.message, limitedAdvice(trial.retryAfterMs)),
        jwt: null,
      };
    default:
      return {
        part: wrong(
          part,
          trial.message,
          "look whether fleet.authUrl (else fleet.https) is of the authentication server",
        ),
        jwt: null,
      };
  }
}

/**
 * The service counts for a key and an address, whichever program asks (docs/internals/service.md, ERR-56).
 */
function limitedAdvice(retryAfterMs: number | null): string {
  const time = retryAfterMs === null ? "5 minutes" : `${Math.ceil(retryAfterMs / 1000)} s`;
  return (
    `wait ${time} before the next check: each asks for a token, and the service gives 20 in 5 minutes; ` +
    "if it stays so, another program uses the same key"
  );
}

/** Opens one stream for its first message. */
export async function tryMissions(
  { fleet }: Config,
  jwt: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<Part> {
  const part = "stream";
  const trial = await tryStream(fleet, jwt, clock, TRY_MS, signal);
  switch (trial.kind) {
    case "message": {
      const of = trial.robotId === null ? "" : `, of ${trial.robotId}`;
      return ok(part, `the first message came after ${Math.round(trial.afterMs)} ms${of}`);
    }
    case "silent":
      return ok(
        part,
        `the service takes it, and has sent nothing within ${TRY_MS / 1000} s`,
        "look whether a robot of this configuration is switched on",
      );
    case "unconnected":
      return wrong(part, trial.message, "look at fleet.grpc.address, and at firewalls that end HTTP/2");
    case "ended":
      return wrong(
        part,
        `the service ends it: ${trial.ending.code}: ${trial.ending.message}`,
        endingAdvice(trial.ending.code),
      );
  }
}

function endingAdvice(code: string): string {
  switch (code) {
    case "UNIMPLEMENTED":
      return "correct fleet.grpc.serviceName: the service knows no such package and name";
    case "UNAUTHENTICATED":
      return "look whether fleet.grpc.address and fleet.authUrl are of the same service";
    case "INVALID_ARGUMENT":
    case "NOT_FOUND":
    case "PERMISSION_DENIED":
      return "correct fleet.robots or fleet.locations, or let the fleet's operator give the key the right to them";
    default:
      return "try again; if it stays so, ask the fleet's operator";
  }
}

/** The result of connecting to an endpoint. */
export interface Wire {
  readonly part: Part;
  /** The service's clock minus this machine's, by the Date of an answer; null: there was none. */
  readonly skewMs: number | null;
}

const withoutTls: ReadonlySet<Endpoint["speaks"]> = new Set(["proxy", "mqtt", "opcua", "etcd"]);

/** Connects to one endpoint, with TLS if it needs it, and closes. */
export async function tryWire(
  endpoint: Endpoint,
  config: Config,
  clock: Clock,
  signal: AbortSignal,
): Promise<Wire> {
  const part = `connection ${endpoint.key}`;
  try {
    if (withoutTls.has(endpoint.speaks)) {
      await tryTcp(endpoint, signal);
      return {
        part: ok(
          part,
          `${place(endpoint)} takes connections${endpoint.speaks === "opcua" ? "" : ", without TLS"}`,
        ),
        skewMs: null,
      };
    }
    const skew = createClockSkew(clock);
    const trial = await trySecure(endpoint, config, signal);
    skew.received(trial.date ?? undefined, trial.askedAtMs);
    return { part: evaluate(part, endpoint, trial, clock.nowMs()), skewMs: skew.nowMs() };
  } catch (error) {
    return { part: failed(part, endpoint, error, clock.nowMs()), skewMs: null };
  }
}

function failed(part: string, endpoint: Endpoint, error: unknown, nowMs: number): Part {
  if (error instanceof ProxyFailed)
    return error.cause === undefined
      ? wrong(
          part,
          `${place(endpoint)}: ${error.message}`,
          "look at fleet.proxy, and at the rules of the proxy",
        )
      : skipped(part, "the proxy cannot be reached");
  const { what, advice } = connectFaultOf(error, endpoint, nowMs);
  return wrong(part, `${place(endpoint)}: ${what}`, advice);
}

function evaluate(part: string, endpoint: Endpoint, trial: TlsTrial, nowMs: number): Part {
  const where = place(endpoint);
  if (trial.distrust !== null) {
    const { what, advice } = connectFaultOf(trial.distrust, endpoint, nowMs);
    return wrong(part, `${where}: ${what}`, advice);
  }
  if (endpoint.speaks === "grpc" && trial.protocol !== "h2")
    return wrong(part, `${where} does not speak HTTP/2, which gRPC needs`, swapped);
  if (endpoint.speaks === "https" && !trial.speaksHttp)
    return wrong(part, `${where} gives no answer of HTTP`, swapped);
  return ok(part, `${where} speaks TLS, and its certificate is accepted`);
}

const swapped =
  "look whether the ports are swapped: fleet.grpc.address has the one for gRPC, fleet.https the one for HTTPS";

async function trySecure(endpoint: Endpoint, config: Config, signal: AbortSignal): Promise<TlsTrial> {
  const { fleet, mqtt, cluster } = config;
  const { host, port, speaks } = endpoint;
  const direct = { host, port, tunnel: null, asksDate: false };
  if (speaks === "mqtts") {
    const broker = mqtt?.broker.kind === "external" ? mqtt.broker : null;
    const own = broker?.tls.clientCert ?? null;
    const client = own === null ? null : { certificate: own.cert, key: own.key };
    return tryTls({ ...direct, ca: broker?.tls.ca ?? null, client, protocols: [] }, TRY_MS, signal);
  }
  if (speaks === "etcds") {
    const { ca = null, client = null } = cluster?.etcd.tls ?? {};
    return tryTls({ ...direct, ca, client, protocols: ["h2"] }, TRY_MS, signal);
  }
  const isGrpc = speaks === "grpc";
  const tunnel = fleet.proxyUrl === null ? null : await tunnelTo(fleet.proxyUrl, endpoint, signal);
  const protocols = [isGrpc ? "h2" : "http/1.1"];
  const options = { host, port, ...fleet.tls, protocols, tunnel, asksDate: !isGrpc };
  return tryTls(options, TRY_MS, signal);
}

function tunnelTo(proxyUrl: string, endpoint: Endpoint, signal: AbortSignal): Promise<Socket> {
  return within(signal, TRY_MS, (bounded) => openTunnel(proxyUrl, place(endpoint), bounded));
}

function tryTcp({ host, port }: Endpoint, signal: AbortSignal): Promise<void> {
  return within(
    signal,
    TRY_MS,
    (bounded) =>
      new Promise((resolve, reject) => {
        const socket = connect({ host, port });
        socket.once("connect", () => {
          socket.destroy();
          resolve();
        });
        socket.on("error", reject);
        const giveUp = () => {
          socket.destroy();
          reject(lateError(socket));
        };
        bounded.addEventListener("abort", giveUp, { once: true });
      }),
  );
}

function place({ host, port }: Endpoint): string {
  return `${urlHost(host)}:${port}`;
}
