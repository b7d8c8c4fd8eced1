import mqtt from "mqtt";
import { CLUSTER } from "./box.ts";

/** Clients at the plant's broker, which do not know how many boxes there are. */
export interface MqttClient {
  /** Publishes a command of this client. Resolves with what is replied; null: nothing within this time. */
  ask(
    name: string,
    operation: string,
    command: { readonly id: string } & object,
    withinMs: number,
  ): Promise<MqttReply | null>;
  close(): Promise<void>;
}

export type MqttReply = Readonly<Record<string, unknown>>;

const BASE = `fleetgate/${CLUSTER}/clients`;

export async function openMqttClient(brokerUrl: string): Promise<MqttClient> {
  const client = await mqtt.connectAsync(brokerUrl, { clientId: "scada", protocolVersion: 4 });
  const waiting = new Map<string, (reply: MqttReply) => void>();
  client.on("message", (topic, payload) =>
    waiting.get(topic.slice(topic.lastIndexOf("/") + 1))?.(JSON.parse(payload.toString()) as MqttReply),
  );
  await client.subscribeAsync(`${BASE}/+/reply/+`, { qos: 1 });
  return {
    async ask(name, operation, command, withinMs) {
      let timer: NodeJS.Timeout | undefined;
      const reply = new Promise<MqttReply | null>((resolve) => {
        waiting.set(command.id, resolve);
        timer = setTimeout(() => resolve(null), withinMs);
      });
      client.publish(`${BASE}/${name}/command/${operation}`, JSON.stringify(command), { qos: 1 });
      const told = await reply;
      clearTimeout(timer);
      waiting.delete(command.id);
      return told;
    },
    close: () => client.endAsync(true),
  };
}
