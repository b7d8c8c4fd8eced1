import { Client, connectivityState, credentials, Metadata } from "@grpc/grpc-js";
import type { Clock } from "../../platform/clock.ts";
import type { FleetOptions } from "../options.ts";

/** An open gRPC connection. */
export interface Connection {
  readonly client: Client;
  /** Resolves when no new call should be made on it: it was cut, or the server said GOAWAY. Never rejects. */
  readonly lost: Promise<void>;
  /** Lets go of it; calls that are still open on it go on to their end. */
  close(): void;
}

/** A connection could not be made. Nothing was sent on it. */
export class ConnectFailed extends Error {
  override readonly name = "ConnectFailed";
}

/** Makes one connection; rejects with ConnectFailed that says why, also when the signal is aborted. */
export type Connect = (signal: AbortSignal) => Promise<Connection>;

const NEVER_MS = 2_147_483_647;

/**
 * Connections to the service's gRPC address, each of its own (no shared
 * subchannels), over TLS always. Reconnecting is left to our own backoff: a
 * connection that is lost is thrown away, and so nothing is ever retried
 * behind our back (pitfalls, gRPC).
 */
export function createConnect(options: FleetOptions, clock: Clock): Connect {
  const { ca, client: own } = options.tls;
  const channelCredentials = credentials.createSsl(
    ca === null ? null : Buffer.from(ca),
    own === null ? null : Buffer.from(own.key),
    own === null ? null : Buffer.from(own.certificate),
  );
  const { target, channelOptions } = channelSettings(options);

  return async (signal) => {
    const client = new Client(target, channelCredentials, channelOptions);
    try {
      await becomeReady(client, options.times.connectMs, clock, signal);
    } catch (error) {
      client.close();
      throw error;
    }
    return { client, lost: becomeUnready(client), close: () => client.close() };
  };
}

function channelSettings(options: FleetOptions) {
  const { keepaliveMs, keepaliveTimeoutMs } = options.times;
  const common = {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    // The environment is read by config/ alone.
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

/** Waits for READY. The first failure is the end of the attempt. */
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
    const onAbort = () => settle(new ConnectFailed("the attempt was given up"));
    const cancelTimer = clock.after(timeoutMs, () =>
      settle(new ConnectFailed(`no connection within ${timeoutMs} ms`)),
    );
    const look = () => {
      if (settled) return;
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) settle(null);
      else if (state === connectivityState.TRANSIENT_FAILURE) void explain(client).then(settle);
      else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
    };
    if (signal.aborted) onAbort();
    else {
      signal.addEventListener("abort", onAbort, { once: true });
      look();
    }
  });
}

/**
 * A channel does not say why it failed, but a call on it does, and ends at once.
 * The call carries no token and names a method that no service has.
 */
function explain(client: Client): Promise<ConnectFailed> {
  const asIs = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    const deadline = new Date(Date.now() + 1_000);
    client.makeUnaryRequest(
      "/fleetgate.Connection/Explain",
      asIs,
      asIs,
      Buffer.alloc(0),
      new Metadata(),
      { deadline },
      (error) => resolve(new ConnectFailed(tidy(error?.details ?? "the connection failed"))),
    );
  });
}

/** grpc-js dates and repeats its messages; a log that tells transitions needs equal ones to be equal. */
function tidy(details: string): string {
  return details
    .replace(/^No connection established\. Last error: /, "")
    .replace(/\s*\(\d{4}-\d\d-\d\dT[^)]*\)/g, "")
    .replace(/\. Resolution note:\s*$/, "");
}

/** Resolves as soon as the channel is anything but READY. */
function becomeUnready(client: Client): Promise<void> {
  return new Promise((resolve) => {
    const channel = client.getChannel();
    if (channel.getConnectivityState(false) !== connectivityState.READY) resolve();
    else channel.watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, () => resolve());
  });
}
