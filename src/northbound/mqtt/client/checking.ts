import { type Clock, noLaterThan } from "../../../platform/clock.ts";
import type { MqttOptions } from "../options.ts";
import { endClient, openClient, subscribe } from "./client.ts";
import type { LimitedClient } from "./limited-client.ts";

const LARGEST_PACKET = 16 * 1024;
const ANSWER_MS = 5_000;
const RETAINED_MS = 2_000;
/** What a connection gets that only looks: it has no last will, and reads nothing ahead. */
export const checkingParts = {
  will: null,
  maximumPacketSize: LARGEST_PACKET,
  openBroker: null,
  sort: (bytes: Buffer) => ({ rest: [bytes], acks: null }),
  leftOut: { onTooLarge() {}, onRefused() {}, onNotTaken: () => false, onTaken() {} },
};

/** The client id of connections that only look whether a broker takes the gateway. */
export function checkingClientId(clientId: string): string {
  return `${clientId}-check`;
}

/**
 * Resolves when a broker has kept a connection for so long; rejects with the reason it has not. The
 * connection has a client id of its own: in a cluster the gateway's own would end the one it has.
 */
export async function reachable(
  options: MqttOptions,
  clock: Clock,
  durationMs: number,
  onReached: () => void,
  signal: AbortSignal,
): Promise<void> {
  await withClient(options, clock, signal, async (client) => {
    onReached();
    await new Promise<void>((resolve, reject) => {
      const end = (error: Error | null) => {
        cancel();
        signal.removeEventListener("abort", giveUp);
        if (error === null) resolve();
        else reject(error);
      };
      const cancel = clock.after(durationMs, () => end(null));
      const giveUp = () => end(new Error("given up", { cause: signal.reason }));
      client.once("close", () => end(new Error("the MQTT broker has closed the connection again")));
      signal.addEventListener("abort", giveUp, { once: true });
      if (signal.aborted) giveUp();
    });
  });
}

/** What the status topic of a broker should say after the gateway has left it without a goodbye. */
export interface LeftStatus {
  readonly topic: string;
  readonly offline: string;
  /** What the gateway has said at the broker that it is at now: in a cluster it is said here too. */
  readonly latest: string;
}

/**
 * Publishes `offline` at a broker that still shows the gateway as online: one that was killed, and has kept
 * its messages, has published no last will. Resolves when the broker's status is right.
 */
export async function correctStatus(
  options: MqttOptions,
  clock: Clock,
  { topic, offline, latest }: LeftStatus,
  signal: AbortSignal,
): Promise<void> {
  await withClient(options, clock, signal, async (client) => {
    const retained = new Promise<string>((resolve) => {
      client.on("message", (_topic: string, payload: Buffer) => resolve(payload.toString("utf8")));
    });
    const granted = await noLaterThan(clock, ANSWER_MS, subscribe(client, [topic], { qos: 1 }), null);
    if (granted === null) throw new Error("the broker answers no subscription");
    const text = await noLaterThan(clock, RETAINED_MS, retained, null);
    if (text === null || text === latest || !text.includes('"online"')) return;
    // Said after the gateway has come back, it would hide that.
    signal.throwIfAborted();
    const published = new Promise<boolean>((resolve, reject) => {
      const done = (error?: Error) => (error ? reject(error) : resolve(true));
      client.publish(topic, offline, { qos: 1, retain: true }, done);
    });
    if (!(await noLaterThan(clock, ANSWER_MS, published, false)))
      throw new Error("the broker acknowledges no message");
  });
}

async function withClient(
  options: MqttOptions,
  clock: Clock,
  signal: AbortSignal,
  use: (client: LimitedClient) => Promise<void>,
): Promise<void> {
  const own = { ...options, clientId: checkingClientId(options.clientId) };
  const client = await openClient(own, checkingParts, signal);
  client.on("error", () => {});
  const cut = () => client.end(true);
  signal.addEventListener("abort", cut, { once: true });
  try {
    await use(client);
  } finally {
    signal.removeEventListener("abort", cut);
    await endClient(client, clock);
  }
}
