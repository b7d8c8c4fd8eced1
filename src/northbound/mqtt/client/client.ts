import type { Duplex } from "node:stream";
import type { IClientOptions, IClientSubscribeOptions, MqttClient } from "mqtt";
import { type Clock, noLaterThan } from "../../../platform/clock.ts";
import type { MqttOptions } from "../options.ts";
import { dial } from "./dial.ts";
import { brokerProblem, type LeftOut, LimitedClient, reasonOf } from "./limited-client.ts";
import { type Sorted, SortedStream } from "./sorted-stream.ts";

/** A stream into a broker in this process. Throws when that broker is not up. */
export type OpenBroker = () => Duplex;

/** The last will: what the broker says when the gateway can no longer speak. */
export interface Will {
  readonly topic: string;
  readonly payload: string | Uint8Array;
  /**
   * It is not retained, and a broker that takes no QoS 1 is not used. Absent: as much as the broker takes.
   */
  readonly isFixed?: true;
}

const CONNECT_TIMEOUT_MS = 10_000;
const END_MS = 1_000;
const KEEPALIVE_SECONDS = 15;
const RECEIVE_MAXIMUM = 1_000;
/** Reasons of MQTT 5, CONNACK. */
const RETAIN_NOT_SUPPORTED = 0x9a;
const QOS_NOT_SUPPORTED = 0x9b;

/** What a connection needs besides the options. */
interface ClientParts {
  /** Null: none. */
  readonly will: Will | null;
  /** The largest packet that the broker may send. */
  readonly maximumPacketSize: number;
  /** Null with a broker of the plant. */
  readonly openBroker: OpenBroker | null;
  readonly sort: (bytes: Buffer) => Sorted;
  readonly leftOut: LeftOut;
}

/** How the last will is registered: a broker may refuse more. */
interface WillForm {
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

/**
 * Connects once: coming back is the link runner's job. Resolves when the broker has accepted the gateway;
 * rejects with what it said, or when the signal is aborted.
 */
export async function openClient(
  options: MqttOptions,
  parts: ClientParts,
  signal: AbortSignal,
): Promise<LimitedClient> {
  const isFixed = parts.will?.isFixed === true;
  let form: WillForm = { qos: 1, retain: !isFixed };
  for (;;) {
    try {
      return await openOnce(options, parts, form, signal);
    } catch (error) {
      const less = lessThan(form, error);
      if (less === null || parts.will === null || isFixed) throw error;
      form = less;
    }
  }
}

/** What to ask for after the broker has refused the form of the last will; null: that was not the reason. */
function lessThan(form: WillForm, error: unknown): WillForm | null {
  const code = error instanceof Error ? reasonOf(error.cause) : undefined;
  if (code === RETAIN_NOT_SUPPORTED && form.retain) return { ...form, retain: false };
  return code === QOS_NOT_SUPPORTED && form.qos === 1 ? { ...form, qos: 0 } : null;
}

function openOnce(
  options: MqttOptions,
  parts: ClientParts,
  form: WillForm,
  signal: AbortSignal,
): Promise<LimitedClient> {
  signal.throwIfAborted();
  // Opened here, so that a broker that is not up rejects, instead of throwing inside the client.
  const stream = new SortedStream(openConnection(options, parts.openBroker), parts.sort);
  const client = new LimitedClient(() => stream, clientOptions(options, parts, form), parts.leftOut);
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
    // mqtt.js passes on only those with a code; those of WebSocket have none.
    stream.once("error", (error) => {
      failure ??= error;
    });
    const onClose = () =>
      failure === null
        ? settle(new Error("the MQTT broker closed the connection at once"))
        : onError(failure);
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
  const succeeds = work.then(
    () => true,
    () => false,
  );
  return noLaterThan(clock, limitMs, succeeds, false);
}

function openConnection({ broker }: MqttOptions, openBroker: OpenBroker | null): Duplex {
  if (broker.kind === "external") return dial(broker, CONNECT_TIMEOUT_MS);
  if (openBroker === null) throw new Error("the embedded broker was not given to the MQTT link");
  return openBroker();
}

function clientOptions(
  options: MqttOptions,
  { will, maximumPacketSize }: ClientParts,
  form: WillForm,
): IClientOptions {
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
    ...(will === null ? {} : { will: { topic: will.topic, payload: Buffer.from(will.payload), ...form } }),
  };
  if (options.broker.kind === "embedded") return { ...common, protocolVersion: 4 };
  const { username, password } = options.broker;
  return {
    ...common,
    protocolVersion: options.protocolVersion,
    ...(options.protocolVersion === 5
      ? { properties: { sessionExpiryInterval: 0, maximumPacketSize, receiveMaximum: RECEIVE_MAXIMUM } }
      : {}),
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
  };
}

/** A filter was refused, by MQTT 3.1.1 and 5. */
const REFUSED = 0x80;

/**
 * Subscribes, and resolves with the filters that the broker refused: mqtt.js rejects for all of them, and
 * with it for those that were granted. Rejects when there is no answer.
 */
export function subscribe(
  client: MqttClient,
  filters: readonly string[],
  options: IClientSubscribeOptions,
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    client.subscribe([...filters], options, (error, _subscriptions, answer) => {
      const codes = answer?.granted;
      if (codes?.length === filters.length)
        resolve(filters.filter((_filter, index) => Number(codes[index]) >= REFUSED));
      else reject(error ?? new Error("the broker answered a subscription with other filters"));
    });
  });
}

/**
 * The end of a connection, reported once. Waiting for either a drain or the end goes through `orElse`: racing
 * a promise that lives for weeks would keep a reaction of every race until it settles.
 */
export interface Loss {
  readonly lost: Promise<Error>;
  /** Why the connection ended; null: it has not. */
  cause(): Error | null;
  report(cause: Error): void;
  /** Waits for the callback of `start`; rejects if the connection ends first. */
  orElse(start: (done: (error?: Error | null) => void) => void): Promise<void>;
}

export function createLoss(): Loss {
  let cause: Error | null = null;
  let notify: (cause: Error) => void = () => {};
  const lost = new Promise<Error>((resolve) => {
    notify = resolve;
  });
  const waiting = new Set<(cause: Error) => void>();
  return {
    lost,
    cause: () => cause,
    report(error) {
      if (cause !== null) return;
      cause = error;
      notify(error);
      for (const reject of waiting) reject(error);
      waiting.clear();
    },
    orElse(start) {
      if (cause !== null) return Promise.reject(cause);
      return new Promise((resolve, reject) => {
        waiting.add(reject);
        start((error) => {
          waiting.delete(reject);
          if (error) reject(error);
          else resolve();
        });
      });
    },
  };
}
