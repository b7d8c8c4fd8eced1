import { afterEach, beforeEach, expect, test } from "vitest";
import type { Connection } from "../../../src/contracts/link.ts";
import type { MqttLink } from "../../../src/northbound/mqtt/link.ts";
import { type Chronicle, createChronicle } from "../../support/chronicle.ts";
import { type PlantBroker, startPlantBroker } from "../../support/plant-broker.ts";
import { newLink } from "./link-harness.ts";
import { base, external, listen, mqttOptions } from "./mqtt-harness.ts";

interface Told {
  readonly active: boolean;
  readonly text: string;
}

interface Gateway {
  readonly link: MqttLink;
  readonly connection: Connection;
  readonly notified: Chronicle<Told>;
}

let broker: PlantBroker;
const cleanups: Array<() => PromiseLike<unknown>> = [];
beforeEach(async () => {
  broker = await startPlantBroker();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await broker.close();
});

/** A gateway with the id of every other in this file. */
async function gateway(sessionId: string, clientId = sessionId): Promise<Gateway> {
  const notified = createChronicle<Told>(({ active, text }) => `${active} ${text}`);
  const link = newLink({
    options: mqttOptions({ broker: external(broker.url), clientId }),
    sessionId,
    onDuplicate: (active, text) => notified.add({ active, text }),
  });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return { link, connection, notified };
}

const someoneElse = (session: string) =>
  `another gateway with the id "test" is at this broker (session ${session}): one of the two must have another gateway.id`;

test("two gateways with one id event each other, say so once, and end it when one goes", async () => {
  const first = await gateway("s1");
  expect(first.link.health()).toMatchObject({ state: "up" });
  const second = await gateway("s2");
  await first.notified.first("the second", ({ active }) => active);
  await second.notified.first("the first", ({ active }) => active);
  expect(first.notified.entries).toEqual([{ active: true, text: someoneElse("s2") }]);
  expect(second.link.health()).toMatchObject({ state: "degraded", detail: someoneElse("s1") });
  await second.connection[Symbol.asyncDispose]();
  await first.notified.first("gone", ({ active }) => !active);
  expect(first.notified.entries).toHaveLength(2);
  expect(first.link.health()).toMatchObject({ state: "up" });
});

test("two gateways with one client id too, which throw each other off, are told", async () => {
  const first = await gateway("s1", "fleetgate");
  const second = await gateway("s2", "fleetgate");
  const again = async ({ link, notified }: Gateway) => {
    if (notified.entries.length > 0) return;
    const connection = await link.connect(new AbortController().signal);
    cleanups.push(() => connection[Symbol.asyncDispose]());
  };
  for (let turn = 0; turn < 3; turn += 1) {
    await again(first);
    await again(second);
  }
  for (const [gate, other] of [
    [first, "s2"],
    [second, "s1"],
  ] as const) {
    const { text } = await gate.notified.first("the other", ({ active }) => active);
    expect(text).toContain(`with the id "test" and the same MQTT client id (session ${other})`);
    expect(gate.link.health()).toMatchObject({ detail: text });
  }
});

test("a gateway whose connection is lost now and then has no duplicate", async () => {
  const { link, notified, connection } = await gateway("s1", "fleetgate");
  await connection[Symbol.asyncDispose]();
  for (let turn = 0; turn < 3; turn += 1) {
    const anew = await link.connect(new AbortController().signal);
    await anew[Symbol.asyncDispose]();
  }
  expect(notified.entries).toEqual([]);
});

test("what another session leaves on the status topic does not hide that this gateway is online", async () => {
  await gateway("s1");
  const ear = await listen(broker.url);
  cleanups.push(() => ear.client.endAsync(true));
  const status = `${base}/status`;
  const lastWill = '{"state":"offline","session_id":"s0","gateway_id":"test"}';
  await ear.client.publishAsync(status, lastWill, { qos: 1, retain: true });
  const isLastWill = ({ text }: { text: string }) => text === lastWill;
  await ear.on("status", isLastWill);
  const index = ear.received.findIndex(isLastWill);
  const isOnline = ({ text }: { text: string }) => {
    const { state, session_id: sessionId } = JSON.parse(text) as Record<string, string>;
    return `${state} ${sessionId}` === "online s1";
  };
  await ear.on("status", (message) => isOnline(message) && ear.received.indexOf(message) > index);
  // Who comes later is told that, and nothing else.
  const late = await listen(broker.url);
  cleanups.push(() => late.client.endAsync(true));
  const notified = await late.on("status");
  expect([isOnline(notified), notified.packet.retain]).toEqual([true, true]);
});

test.each(["no JSON", "[]", '{"state":"online"}', '{"state":"odd","session_id":"s9"}'])(
  "a status that is none (%s) is nobody",
  async (text) => {
    const { link, notified } = await gateway("s1");
    const ear = await listen(broker.url);
    cleanups.push(() => ear.client.endAsync(true));
    await ear.client.publishAsync(`${base}/status`, text, { qos: 1 });
    // What comes after it is heard after it.
    await ear.client.publishAsync(`${base}/status`, '{"state":"online","session_id":"s2"}', { qos: 1 });
    await notified.first("a real one", ({ active }) => active);
    expect(notified.entries).toEqual([{ active: true, text: someoneElse("s2") }]);
    expect(link.health()).toMatchObject({ state: "degraded" });
  },
);
