import { connect, type Socket } from "node:net";
import type { Config } from "../../config/load.ts";
import { openTunnel } from "../../fleet/channels/preflight.ts";
import { ProxyFailed } from "../../fleet/proxy-fault.ts";
import { createClockSkew } from "../../fleet/robot-clocks.ts";
import type { Clock } from "../../platform/clock.ts";
import { connectFaultOf, lateError } from "../../platform/connect-fault.ts";
import { type TlsTrial, tryTls } from "../../platform/tls-trial.ts";
import { within } from "../../platform/within.ts";
import { type Endpoint, ok, type Part, skipped, TRY_MS, wrong } from "./endpoints.ts";

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

function tunnelTo(proxyUrl: string, { host, port }: Endpoint, signal: AbortSignal): Promise<Socket> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return within(signal, TRY_MS, (bounded) => openTunnel(proxyUrl, address, bounded));
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
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
