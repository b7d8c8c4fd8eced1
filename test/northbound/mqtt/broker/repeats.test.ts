import mqtt from "mqtt";
import { afterEach, expect, test } from "vitest";
import { newBroker } from "../link-harness.ts";
import { base, listen, start } from "../mqtt-harness.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("a message that another one overtakes reaches a client that subscribes to both, once", async () => {
  const broker = newBroker();
  cleanups.push(await start(broker));
  const { client, received, on } = await listen(`mqtt://127.0.0.1:${broker.port()}`);
  cleanups.push(() => client.endAsync(true));
  await client.subscribeAsync([`${base}/robots/#`, `${base}/robots/+/mission`], { qos: 1 });
  const stream = broker.open();
  const gateway = new mqtt.MqttClient(() => stream, { clientId: "fleetgate-test", reconnectPeriod: 0 });
  cleanups.push(() => gateway.endAsync(true));
  await new Promise<void>((resolve) => gateway.once("connect", () => resolve()));
  gateway.stream.cork();
  for (let number = 1; number <= 20; number += 1) {
    gateway.publish(`${base}/robots/r1/event/mission`, `event ${number}`, { qos: 1 });
    gateway.publish(`${base}/robots/r1/mission`, `state ${number}`, { qos: 0, retain: true });
    gateway.publish(`${base}/robots/r1/tags/x`, `tag ${number}`, { qos: 0 });
  }
  gateway.stream.uncork();
  gateway.publish(`${base}/status`, "last", { qos: 1 });
  await on("status", ({ text }) => text === "last");
  const all = (kind: string) => Array.from({ length: 20 }, (_value, index) => `${kind} ${index + 1}`);
  const texts = (kind: string) => received.map(({ text }) => text).filter((text) => text.startsWith(kind));
  expect(texts("event")).toEqual(all("event"));
  expect(texts("state")).toEqual(all("state"));
  expect(texts("tag")).toEqual(all("tag"));
});
