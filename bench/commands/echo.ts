// Answers every message at once with its own payload: what MQTT alone costs, there and back, in a process of
// its own.
import mqtt from "mqtt";
import { ECHO_IN, ECHO_OUT, type EchoRequest } from "./protocol.ts";

async function serve({ mqttPort }: EchoRequest): Promise<void> {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${mqttPort}`, { clientId: "bench-echo" });
  (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
  client.on("message", (topic, payload) => {
    client.publish(`${ECHO_OUT}/${topic.slice(topic.lastIndexOf("/") + 1)}`, payload, { qos: 0 });
  });
  await client.subscribeAsync(`${ECHO_IN}/+`, { qos: 0 });
  process.send?.({ kind: "echoing" });
}

process.on("message", (request: EchoRequest) => void serve(request));
