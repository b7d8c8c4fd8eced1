import { randomBytes } from "node:crypto";
import type { MqttClient } from "mqtt";
import mqtt from "mqtt";
import { afterEach, describe, expect, test } from "vitest";
import { silentLog } from "../../../../src/platform/log.ts";
import { field } from "../../../support/sparkplug/payload.ts";
import { haveMosquitto, startMosquitto } from "../mosquitto.ts";
import { external, recordingCommander } from "../mqtt-harness.ts";
import { command, newNode, openHost } from "./sparkplug-harness.ts";

const NCMD = "spBv1.0/plant/NCMD/fleet";
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A node at a mosquitto, a host that follows it, and a client that means it harm. */
async function born(protocolVersion: 4 | 5) {
  const mosquitto = await startMosquitto();
  cleanups.push(() => mosquitto.stop());
  const host = await openHost(mosquitto.url);
  cleanups.push(() => host.client.endAsync(true));
  const hostile: MqttClient = await mqtt.connectAsync(mosquitto.url, { reconnectPeriod: 0 }, false);
  cleanups.push(() => hostile.endAsync(true));
  const commander = recordingCommander();
  const options = { broker: external(mosquitto.url), protocolVersion };
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text: string) => void warned.push(text) };
  const link = newNode({ options, commander, log, sparkplug: { commands: true } });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [], events: [] });
  const birth = await host.on("NBIRTH");
  const alias = birth.metrics.find(({ name }) => name === "Commands/Request")?.alias ?? 0;
  const answers = () =>
    host.seen.filter(({ type, metrics }) => type === "NDATA" && metrics.some(({ value }) => isAnswer(value)));
  /** Resolves when the node has read all that was sent before. */
  const answered = async (id: string) => {
    const drive = { operation: "CreateMission", expires_in_ms: 10_000, request: { robot_id: "r1" } };
    const value = JSON.stringify({ id, ...drive });
    await hostile.publishAsync(NCMD, command([{ name: "Commands/Request", type: "String", value }]), {
      qos: 1,
    });
    await host.receive(() => answers().some(({ metrics }) => metrics.some((one) => isAnswer(one.value, id))));
  };
  return { host, hostile, commander, alias, answers, answered, link, warned };
}

const isAnswer = (value: unknown, id?: string) =>
  typeof value === "string" && value.startsWith(id === undefined ? '{"id":' : `{"id":"${id}"`);

describe.skipIf(!haveMosquitto).each([4, 5] as const)("MQTT %s", (protocolVersion) => {
  test("what is no command is ignored", async () => {
    const { host, hostile, commander, alias, answers, answered } = await born(protocolVersion);
    const rebirth = { name: "Node Control/Rebirth", type: "Boolean", value: true } as const;
    const garbage = [
      Buffer.alloc(0),
      ...Array.from({ length: 50 }, (_, index) => randomBytes(index * 7)),
      Buffer.alloc(1024 * 1024, 0x0b),
      Buffer.alloc(1024 * 1024, 0x7b),
      command([rebirth]).subarray(0, -1),
      command([{ ...rebirth, value: false }]),
      command([{ ...rebirth, type: "String", value: "true" } as never]),
      command([{ ...rebirth, type: "Int32", value: 1 } as never]),
      command([{ alias: 999_999, type: "Boolean", value: true } as never]),
      command([{ name: "Battery/ChargePercent", type: "Int32", value: 5 }]),
    ];
    for (const payload of garbage) await hostile.publishAsync(NCMD, payload, { qos: 1 });
    await hostile.publishAsync("spBv1.0/plant/DCMD/fleet/r1", command([rebirth]), { qos: 1 });
    await answered("after");
    expect(answers()).toHaveLength(1);
    expect(host.seen.filter(({ type }) => type === "NBIRTH")).toHaveLength(1);
    for (const wrong of [
      { alias, type: "Int32", value: 7 },
      { alias, type: "Boolean", value: true },
      { name: "Commands/Request", type: "Bytes", value: new Uint8Array(9) },
    ])
      await hostile.publishAsync(NCMD, command([wrong as never]), { qos: 1 });
    await answered("last");
    expect(answers()).toHaveLength(2);
    expect(commander.commands).toHaveLength(2);
  });

  test("what cannot be read is counted, and told in one line", async () => {
    const { hostile, answered, link, warned } = await born(protocolVersion);
    const name = field(1, Buffer.from("Commands/Request"));
    const value = field(15, Buffer.from("{}"));
    let nested: Buffer = Buffer.from([0x10, 7]);
    for (let depth = 0; depth < 1_000; depth += 1) nested = field(18, field(2, nested));
    const readable = [nested, field(9, field(2, field(9, nested))), field(17, field(4, Buffer.alloc(9, 8)))];
    for (const part of readable)
      await hostile.publishAsync(NCMD, field(2, Buffer.concat([part, name, value])), { qos: 1 });
    const unreadable = [
      Buffer.from([0x12, ...Array(9).fill(0xff), 1]),
      Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]),
      field(2, Buffer.from([0x10, ...Array(10).fill(0xff), 1])),
      Buffer.alloc(300_000, 0x5b),
      Buffer.alloc(300_000, Buffer.from([0x18, 1])),
      // A broker of MQTT 5 does not deliver it.
      ...(protocolVersion === 4 ? [Buffer.alloc(1024 * 1024)] : []),
    ];
    for (const payload of unreadable) await hostile.publishAsync(NCMD, payload, { qos: 1 });
    await answered("after");
    expect(link.health().figures).toMatchObject({ commandsUnreadable: unreadable.length });
    expect(warned.filter((text) => text.includes("no command of Sparkplug B"))).toHaveLength(1);
  });

  test("what no host can write is counted, and told in one line", async () => {
    const { hostile, answered, link, warned } = await born(protocolVersion);
    const other = command([{ name: "Battery/ChargePercent", type: "Int32", value: 5 }]);
    for (const topic of ["spBv1.0/plant/DCMD/fleet/r1", NCMD])
      await hostile.publishAsync(topic, other, { qos: 1 });
    await answered("after");
    expect(link.health().figures).toMatchObject({ commandsUnreadable: 2 });
    expect(warned.filter((text) => text.includes("no command of Sparkplug B"))).toHaveLength(1);
  });

  test("a message of very many metrics is not worked through", async () => {
    const { hostile, alias, answers, answered } = await born(protocolVersion);
    const one = Buffer.from([0x12, 2, 0x10, alias]);
    await hostile.publishAsync(NCMD, Buffer.concat(Array(3_000).fill(one)), { qos: 1 });
    await answered("after");
    expect(answers()).toHaveLength(1);
  });
});
