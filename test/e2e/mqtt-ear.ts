import mqtt from "mqtt";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";

/** A message as a subscriber got it. */
export interface Received {
  /** Under the base of the gateway. */
  readonly topic: string;
  readonly text: string;
  readonly retain: boolean;
}

/** A reply to a command (docs/mqtt.md, Commands). */
export interface Reply {
  readonly id: string;
  readonly outcome: string;
  readonly code: string;
  readonly message: string;
  readonly retry_safe: boolean;
  readonly response: Readonly<Record<string, unknown>> | null;
  readonly duplicate: boolean;
}

/** A foreign client that hears everything under the gateway's base, and sends commands. */
export interface MqttEar {
  readonly received: Chronicle<Received>;
  /** The first message on a topic, from place `from` of what was heard. */
  on(topic: string, is?: (text: string) => boolean, from?: number): Promise<Received>;
  /** The texts heard on a topic so far, in order. */
  texts(topic: string): readonly string[];
  /** Publishes on a topic of its own, as `command/Hold`. */
  publish(topic: string, text: string): Promise<void>;
  /** Publishes a command as `text`. */
  sendText(operation: string, text: string): Promise<void>;
  /** Sends a command that may be sent within the next minute, and waits for its reply. */
  send(operation: string, id: string, request: unknown): Promise<Reply>;
  /** The first reply to a command, as it came. */
  replyText(id: string): Promise<string>;
  close(): Promise<void>;
}

/** Longer than a test lets the service's clock run ahead of this machine's. */
const IN_AN_HOUR_MS = 3_600_000;

/** Connects as the client `name`, and is subscribed to everything under the base. */
export async function listenMqtt(
  url: string,
  name: string,
  base: string,
  login: { readonly password?: string; readonly ca?: string } = {},
): Promise<MqttEar> {
  const user = login.password === undefined ? {} : { username: name, password: login.password };
  const tls = login.ca === undefined ? {} : { ca: login.ca };
  const options = { ...user, ...tls, reconnectPeriod: 0, protocolVersion: 4 } as const;
  const client = await mqtt.connectAsync(url, options, false);
  const received = createChronicle<Received>(({ topic, text }) => `${topic} ${text}`);
  client.on("message", (topic, payload, { retain }) =>
    received.add({ topic: topic.slice(base.length + 1), text: payload.toString(), retain }),
  );
  await client.subscribeAsync(`${base}/#`, { qos: 1 });

  const on: MqttEar["on"] = (topic, is = () => true, from = 0) =>
    received.first(topic, (message) => message.topic === topic && is(message.text), from);
  async function publish(topic: string, text: string): Promise<void> {
    await client.publishAsync(`${base}/clients/${name}/${topic}`, text, { qos: 1 });
  }
  const sendText = (operation: string, text: string) => publish(`command/${operation}`, text);
  const replyTopic = (id: string) => `clients/${name}/reply/${id}`;
  return {
    received,
    on,
    texts: (topic) => received.entries.filter((message) => message.topic === topic).map(({ text }) => text),
    publish,
    sendText,
    async send(operation, id, request) {
      const from = received.entries.length;
      const expiresAt = new Date(Date.now() + IN_AN_HOUR_MS).toISOString();
      await sendText(operation, JSON.stringify({ id, expires_at: expiresAt, request }));
      return JSON.parse((await on(replyTopic(id), () => true, from)).text) as Reply;
    },
    replyText: async (id) => (await on(replyTopic(id))).text,
    close: () => client.endAsync(true),
  };
}
