import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import type { Clock } from "../../../platform/clock.ts";
import type { ExternalBrokerOptions, MqttOptions } from "../options.ts";
import { brokerProblem } from "./broker-problem.ts";
import { type Sorted, SortedStream } from "./sorted-stream.ts";

/** A stream into a broker in this process. Throws when that broker is not up. */
export type OpenBroker = () => Duplex;

/** The last will: what the broker says when the gateway can no longer speak. */
export interface Will {
  readonly topic: string;
  readonly payload: string;
}

const CONNECT_TIMEOUT_MS = 10_000;
const END_MS = 1_000;
const KEEPALIVE_SECONDS = 15;
const RECEIVE_MAXIMUM = 1_000;
const TCP_PORT = 1883;
const TLS_PORT = 8883;

/**
 * Connects once, with a last will unless it is null: coming back is the link runner's job. Resolves when the
 * broker has accepted the gateway; rejects with what it said, or when the signal is aborted.
 */
export function openClient(
  options: MqttOptions,
  will: Will | null,
  maximumPacketSize: number,
  openBroker: OpenBroker | null,
  sort: (bytes: Buffer) => Sorted,
  signal: AbortSignal,
): Promise<MqttClient> {
  signal.throwIfAborted();
  // Opened here, so that a broker that is not up rejects, instead of throwing inside the client.
  const stream = new SortedStream(openConnection(options, openBroker), sort);
  const client = new mqtt.MqttClient(() => stream, clientOptions(options, will, maximumPacketSize));
  return new Promise((resolve, reject) => {
    let failure: Error | null = null;
    const settle = (error: Error | null) => {
      signal.removeEventListener("abort", onAbort);
      client.removeListener("connect", onConnect);
      client.removeListener("close", onClose);
      if (error === null) {
        client.removeListener("error", onError);
        resolve(client);
        return;
      }
      // The error listener stays: a late error of a client given up must not end the process.
      client.end(true);
      reject(error);
    };
    const onConnect = () => settle(null);
    const onError = (error: Error) => {
      failure = error;
      settle(new Error(brokerProblem(error, options, Date.now()), { cause: error }));
    };
    const onClose = () => settle(failure ?? new Error("the MQTT broker closed the connection at once"));
    const onAbort = () => settle(new Error("connecting was given up", { cause: signal.reason }));
    client.on("connect", onConnect);
    client.on("error", onError);
    client.on("close", onClose);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Says goodbye and closes; a broker that does not answer is left after a second. */
export async function endClient(client: MqttClient, clock: Clock): Promise<void> {
  const ended = new Promise<void>((resolve) => client.end(false, () => resolve()));
  if (!(await within(clock, END_MS, ended))) client.stream.destroy();
}

/** Whether `work` succeeds within the time. What it fails with is told elsewhere: by the lost connection. */
export function within(clock: Clock, limitMs: number, work: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(false));
    const settle = (done: boolean) => {
      cancel();
      resolve(done);
    };
    work.then(
      () => settle(true),
      () => settle(false),
    );
  });
}

function openConnection({ broker }: MqttOptions, openBroker: OpenBroker | null): Duplex {
  if (broker.kind === "external") return dial(broker);
  if (openBroker === null) throw new Error("the embedded broker was not given to the MQTT link");
  return openBroker();
}

/** Nagle's algorithm would cost tens of milliseconds a message. */
function dial({ url, ca, clientCert }: ExternalBrokerOptions): Duplex {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol === "mqtt:") return connectTcp({ host, port: Number(port || TCP_PORT) }).setNoDelay(true);
  return connectTls({
    host,
    port: Number(port || TLS_PORT),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === null ? {} : { ca }),
    ...(clientCert === null ? {} : { cert: clientCert.cert, key: clientCert.key }),
  }).setNoDelay(true);
}

function clientOptions(options: MqttOptions, will: Will | null, maximumPacketSize: number): IClientOptions {
  const common: IClientOptions = {
    clientId: options.clientId,
    clean: true,
    reconnectPeriod: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepalive: KEEPALIVE_SECONDS,
    // It would make a buffer for each number below 65,536, once for all that write MQTT here: 10 MB of heap.
    writeCache: false,
    // Pings on their own schedule: publishing into a dead connection must not count as life.
    reschedulePings: false,
    // Its debug lines are made up for each packet, and thrown away.
    log: () => {},
    ...(will === null
      ? {}
      : { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true } }),
  };
  if (options.broker.kind === "embedded") return { ...common, protocolVersion: 4 };
  const { username, password } = options.broker;
  return {
    ...common,
    protocolVersion: options.protocolVersion,
    ...(options.protocolVersion === 5
      ? { properties: { maximumPacketSize, receiveMaximum: RECEIVE_MAXIMUM } }
      : {}),
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
  };
}
