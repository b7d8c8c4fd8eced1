import { afterEach, expect, test } from "vitest";
import { silentLog } from "../../../src/platform/log.ts";
import { newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import { base, external, type Listener, listen, mqttOptions, recordingCommander } from "./mqtt-harness.ts";
import { createScriptedBroker } from "./scripted-broker.ts";

const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const TOPIC = `${base}/clients/hmi/command/CreateMission`;
const wide = `{"id":"1","request":[${Array(80_000).fill("{}").join()}]}`;

test("large messages leave time for everything else", async () => {
  const broker = createScriptedBroker();
  const commander = recordingCommander();
  const connection = await newLink({ commander, openBroker: broker.open }).connect(
    new AbortController().signal,
  );
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await broker.subscribed;
  const refused = () => commander.figures().refusedAtIntake ?? 0;
  const count = 30;
  const message = { cmd: "publish", topic: TOPIC, payload: wide, qos: 0, dup: false, retain: false } as const;
  const inOneTurn: number[] = [];
  broker.say(Array(count).fill(message));
  for (let before = 0; before < count; before = refused()) {
    await new Promise(setImmediate);
    inOneTurn.push(refused() - before);
  }
  // One of them takes some milliseconds.
  expect(Math.max(...inOneTurn)).toBeLessThan(10);
});

test.skipIf(!haveMosquitto)(
  "a message that is larger than any that is read is refused and logged",
  async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const logged: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => void logged.push(fields) };
    const commander = recordingCommander(undefined, { log });
    const link = newLink({ options: mqttOptions({ broker: external(mosquitto.url) }), commander });
    const connection = await link.connect(new AbortController().signal);
    cleanups.push(() => connection[Symbol.asyncDispose]());
    const client: Listener = await listen(mosquitto.url);
    cleanups.push(() => client.client.endAsync(true));
    await client.client.publishAsync(TOPIC, Buffer.alloc(1_000_000, 32), { qos: 1 });
    await expect.poll(() => commander.figures().refusedAtIntake).toBe(1);
    expect(logged).toEqual([expect.objectContaining({ user: "hmi", code: "MALFORMED" })]);
  },
);

test.skipIf(!haveMosquitto)(
  "one that is retained is cleared: it would come at every connection",
  async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const client: Listener = await listen(mosquitto.url);
    cleanups.push(() => client.client.endAsync(true));
    await client.client.publishAsync(TOPIC, Buffer.alloc(1_000_000, 32), { qos: 1, retain: true });
    const commander = recordingCommander();
    const link = newLink({ options: mqttOptions({ broker: external(mosquitto.url) }), commander });
    const connection = await link.connect(new AbortController().signal);
    cleanups.push(() => connection[Symbol.asyncDispose]());
    await client.receive(({ topic, text }) => topic === TOPIC && text === "");
    expect(commander.figures().refusedAtIntake).toBe(1);
  },
);
