import type { Socket } from "node:net";
import { Client, connectivityState } from "@grpc/grpc-js";
import type { RandomSource } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { tlsCredentials } from "../../platform/grpc-channel.ts";
import type { Log } from "../../platform/log.ts";
import { connectProblem } from "../error-text.ts";
import type { FleetTimes } from "../options.ts";
import type { ConnectOptions, Preflight } from "./preflight.ts";

/** An open gRPC connection. */
export interface Connection {
  readonly client: Client;
  /** How many streams the server allows on it. */
  readonly streamLimit: number;
  /** Resolves when no new call should be made on it: it was cut, or the server sent GOAWAY. Never rejects. */
  readonly lost: Promise<void>;
  /** Closes it; open calls on it continue to their end. */
  close(): void;
  /** Cuts it: what the kernel has not delivered yet will not be delivered. Open calls on it end at once. */
  cut(): void;
}

/** A connection could not be made. Nothing was sent on it. */
export class ConnectFailed extends Error {
  override readonly name = "ConnectFailed";
  /** When the attempt began, on the monotonic clock. */
  readonly beganAtMs: number;

  constructor(message: string, beganAtMs: number, options?: ErrorOptions) {
    super(message, options);
    this.beganAtMs = beganAtMs;
  }
}

/**
 * Makes one connection. Rejects with ConnectFailed, which gives the reason, also if the signal is aborted.
 */
type Connect = (signal: AbortSignal) => Promise<Connection>;

/** The dependencies for keeping connections open, and for making more. */
export interface PoolParts {
  readonly connect: Connect;
  /** Whether the server answers anything on this connection. */
  readonly prove: (client: Client) => Promise<boolean>;
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

const NEVER_MS = 2_147_483_647;

/**
 * Connections to the service's gRPC address, each of its own (no shared
 * subchannels), over TLS always. Reconnecting is left to our own backoff: a
 * connection that is lost is thrown away, so grpc-js never sends a call again
 * by itself.
 */
export function createConnect(
  options: ConnectOptions,
  clock: Clock,
  preflight: Preflight,
  all: OpenSockets,
): Connect {
  const { target, channelOptions } = channelSettings(options);
  const url = `https://${options.grpcAddress}`;
  const at = { key: "fleet.grpc.address", url, proxyUrl: options.proxyUrl };

  return async (signal) => {
    const attempt = preflight(signal);
    const failed = (error: unknown) =>
      new ConnectFailed(connectProblem(error, at, clock.nowMs()), attempt.beganAtMs, { cause: error });
    const streamLimit = await attempt.streamLimit.catch((error: unknown) => {
      throw failed(error);
    });
    const own = createOpenSockets();
    let hasFailed = false;
    const channelCredentials = tlsCredentials(options.tls, (socket) => {
      // After its own backoff grpc-js connects once more, though its channel is closed. Nobody would close
      // that connection.
      if (hasFailed) socket.destroy();
      own.add(socket);
      all.add(socket);
    });
    const client = new Client(target, channelCredentials, channelOptions);
    try {
      await becomeReady(client, options.times.connectMs, clock, signal);
    } catch (error) {
      hasFailed = true;
      client.close();
      throw failed(error);
    }
    return { client, streamLimit, lost: becomeUnready(client), close: () => client.close(), cut: own.cut };
  };
}

function channelSettings(options: ConnectOptions) {
  const { keepaliveMs, keepaliveTimeoutMs } = options.times;
  const common = {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    // Only config/ reads the environment.
    "grpc.enable_http_proxy": 0,
    "grpc.client_idle_timeout_ms": NEVER_MS,
    "grpc.max_receive_message_length": 16 * 1024 * 1024,
    ...(keepaliveMs === null
      ? {}
      : {
          "grpc.keepalive_time_ms": keepaliveMs,
          "grpc.keepalive_timeout_ms": keepaliveTimeoutMs,
          "grpc.keepalive_permit_without_calls": 1,
        }),
  };
  if (options.proxyUrl === null) return { target: `dns:${options.grpcAddress}`, channelOptions: common };
  const proxy = new URL(options.proxyUrl);
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return {
    target: `dns:${proxy.hostname}:${proxy.port === "" ? "80" : proxy.port}`,
    channelOptions: {
      ...common,
      "grpc.http_connect_target": `dns:${options.grpcAddress}`,
      "grpc.default_authority": options.grpcAddress,
      ...(proxy.username === "" ? {} : { "grpc.http_connect_creds": user }),
    },
  };
}

/** Waits for READY. The first failure ends the attempt. */
function becomeReady(client: Client, timeoutMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const channel = client.getChannel();
    let settled = false;
    const settle = (failure: Error | null) => {
      if (settled) return;
      settled = true;
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
      if (failure === null) resolve();
      else reject(failure);
    };
    const onAbort = () => settle(new Error("the attempt was given up"));
    const cancelTimer = clock.after(timeoutMs, () =>
      settle(new Error(`no connection within ${timeoutMs} ms`)),
    );
    const look = () => {
      if (settled) return;
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) settle(null);
      else if (state === connectivityState.TRANSIENT_FAILURE) settle(new Error("the connection failed"));
      else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
    };
    if (signal.aborted) onAbort();
    else {
      signal.addEventListener("abort", onAbort, { once: true });
      look();
    }
  });
}

/** Resolves as soon as the channel is no longer READY. */
function becomeUnready(client: Client): Promise<void> {
  return new Promise((resolve) => {
    const channel = client.getChannel();
    if (channel.getConnectivityState(false) !== connectivityState.READY) resolve();
    else channel.watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, () => resolve());
  });
}

/** TCP connections to the service that are open. */
interface OpenSockets {
  add(socket: Socket): void;
  /**
   * Cuts them with a reset. An orderly close would leave it to the kernel to deliver for minutes what it has
   * taken, and a command that arrives late moves a robot that others have stopped meanwhile.
   */
  cut(): void;
}

export function createOpenSockets(): OpenSockets {
  const sockets = new Set<Socket>();
  return {
    add(socket) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}
