import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Connection } from "../../../../src/contracts/link.ts";
import type { SparkplugLink } from "../../../../src/northbound/mqtt/sparkplug/link.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { createMemoryDisk } from "../../../support/memory-tables.ts";
import { startLimitedBroker } from "../limited-broker.ts";
import { haveMosquitto, type Mosquitto, startMosquitto } from "../mosquitto.ts";
import { external } from "../mqtt-harness.ts";
import { createScriptedBroker } from "../scripted-broker.ts";
import {
  batteryChange,
  command,
  type Host,
  type NodeChanges,
  newNode,
  openHost,
  robotChange,
} from "./sparkplug-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connected(link: SparkplugLink): Promise<Connection> {
  const connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return connection;
}

/** What the node sends to a broker before its first birth. */
async function sentTo(changes: NodeChanges) {
  const broker = createScriptedBroker();
  const connection = await newNode({ openBroker: broker.open, ...changes }).connect(never);
  await connection.write({ changes: [robotChange("r1")], events: [] });
  await connection[Symbol.asyncDispose]();
  return broker.received;
}

describe("the connection", () => {
  test("has the death as its last will: QoS 1, not retained, with bdSeq by name and without seq", async () => {
    const connect = (await sentTo({})).find(({ cmd }) => cmd === "connect");
    expect(connect).toMatchObject({ clean: true, clientId: "fleetgate-test-sparkplug" });
    const will = connect?.cmd === "connect" ? connect.will : undefined;
    expect(will).toMatchObject({ topic: "spBv1.0/plant/NDEATH/fleet", qos: 1, retain: false });
    // Field 3 of the payload is seq, and 2 of the metric its alias.
    const text = Buffer.from(will?.payload ?? "").toString("latin1");
    expect(text).toContain("bdSeq");
    expect(text).not.toContain("\x18\x00");
  });

  test("with MQTT 5 it asks for a clean start, and for no session that outlives the connection", async () => {
    const broker = await startLimitedBroker({});
    cleanups.push(() => broker.close());
    await connected(newNode({ options: { broker: external(broker.url), protocolVersion: 5 } }));
    expect(broker.connects).toMatchObject([
      { clean: true, properties: { sessionExpiryInterval: 0 }, will: { qos: 1, retain: false } },
    ]);
  });

  test("bdSeq is one more at every connection, over restarts, and goes from 255 on to 0", async () => {
    const disk = createMemoryDisk();
    const births: number[] = [];
    for (let run = 0; run < 258; run += 1) births.push(bdSeqOf(await sentTo({ disk })));
    expect(births).toEqual([...Array.from({ length: 256 }, (_, index) => index), 0, 1]);
  });

  test("bdSeq stays the same at a broker that refuses the connection, for no CONNECT leaves", async () => {
    const disk = createMemoryDisk();
    expect(bdSeqOf(await sentTo({ disk }))).toBe(0);
    for (const host of ["127.0.0.1", "localhost", "nowhere.invalid"]) {
      const refused = newNode({ disk, options: { broker: external(`mqtt://${host}:1`) } });
      await expect(refused.connect(never)).rejects.toThrow(host);
    }
    expect(bdSeqOf(await sentTo({ disk }))).toBe(1);
  });

  test("subscribes to commands and its own births at QoS 1 before it is born", async () => {
    const sent = await sentTo({});
    const subscribed = sent.findIndex(({ cmd }) => cmd === "subscribe");
    const packet = sent[subscribed];
    const subscriptions = packet?.cmd === "subscribe" ? packet.subscriptions : [];
    expect(subscriptions.map(({ topic, qos }) => [topic, qos])).toEqual([
      ["spBv1.0/plant/NCMD/fleet", 1],
      ["spBv1.0/plant/NCMD/fleet/+", 1],
      ["spBv1.0/plant/DCMD/fleet/+", 1],
      ["spBv1.0/plant/NBIRTH/fleet", 1],
      ["spBv1.0/plant/NDEATH/fleet", 1],
    ]);
    expect(sent.findIndex(({ cmd }) => cmd === "publish")).toBeGreaterThan(subscribed);
  });

  test("with MQTT 3.1.1 it leaves with one death, before DISCONNECT", async () => {
    const sent = await sentTo({});
    const deaths = sent.filter((packet) => packet.cmd === "publish" && packet.topic.includes("NDEATH"));
    expect(deaths).toHaveLength(1);
    expect(sent.at(-1)).toMatchObject({ cmd: "disconnect" });
    expect(sent.at(-2)).toBe(deaths[0]);
  });
});

/** The number in a birth: a foreign decoder reads it. */
function bdSeqOf(sent: Awaited<ReturnType<typeof sentTo>>): number {
  for (const packet of sent)
    if (packet.cmd === "publish" && packet.topic.includes("NBIRTH")) {
      const payload = Buffer.from(packet.payload);
      // The name, and its value: field 11, a number.
      const at = payload.indexOf("bdSeq");
      const rest = payload.subarray(at, at + 64);
      return readVarint(rest, rest.indexOf(0x58, "bdSeq".length + 8) + 1);
    }
  throw new Error("no birth");
}

function readVarint(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  return first < 0x80 ? first : (first & 0x7f) + 0x80 * (bytes[at + 1] ?? 0);
}

describe.skipIf(!haveMosquitto).each([4, 5] as const)(
  "MQTT %s at a broker of the plant",
  (protocolVersion) => {
    let mosquitto: Mosquitto;
    let host: Host;

    beforeEach(async () => {
      mosquitto = await startMosquitto();
      cleanups.push(() => mosquitto.stop());
      host = await openHost(mosquitto.url);
      cleanups.push(() => host.client.endAsync(true));
    });

    const atBroker = (changes: NodeChanges = {}) =>
      newNode({ options: { broker: external(mosquitto.url), protocolVersion }, ...changes });
    const node = (changes: NodeChanges = {}) => connected(atBroker(changes));

    const types = () => host.seen.map(({ type, device }) => type + device);

    test("an orderly end is one death, with the number of the birth", async () => {
      const connection = await node();
      await connection.write({ changes: [robotChange("r1")], events: [] });
      await host.on("DBIRTH", "r1");
      await connection[Symbol.asyncDispose]();
      const death = await host.on("NDEATH");
      expect(death.seq).toBeNull();
      expect(death.metrics).toHaveLength(1);
      expect(death.metrics[0]).toMatchObject({ name: "bdSeq", alias: null });
      const birth = await host.on("NBIRTH");
      const bdSeq = birth.metrics.find(({ name }) => name === "bdSeq");
      expect(Number(death.metrics[0]?.value)).toBe(Number(bdSeq?.value));
      await host.client.unsubscribeAsync("none");
      expect(types()).toEqual(["NBIRTH", "DBIRTHr1", "NDEATH"]);
    });

    test("a rebirth is NBIRTH and all DBIRTHs with the same bdSeq, without a death", async () => {
      const disk = createMemoryDisk();
      const connection = await node({ disk });
      await connection.write({ changes: [robotChange("r1"), batteryChange("r1", 50)], events: [] });
      await host.on("DBIRTH", "r1");
      await host.askRebirth();
      await host.receive(({ type }) => type === "DBIRTH" && count("DBIRTH") === 2);
      expect(types()).toEqual(["NBIRTH", "DBIRTHr1", "NBIRTH", "DBIRTHr1"]);
      expect(host.seen.map(({ seq }) => seq)).toEqual([0, 1, 0, 1]);
      const numbers = host.seen
        .filter(({ type }) => type === "NBIRTH")
        .map(({ metrics }) => Number(metrics.find(({ name }) => name === "bdSeq")?.value));
      expect(numbers).toEqual([0, 0]);
    });

    test("rebirths within 10 s are merged into one, and data go on until then", async () => {
      const clock = createManualClock();
      const link = atBroker({ clock });
      const connection = await connected(link);
      await connection.write({ changes: [robotChange("r1"), batteryChange("r1", 50)], events: [] });
      await host.on("DBIRTH", "r1");
      for (let asked = 0; asked < 5; asked += 1) await host.askRebirth();
      await host.receive(() => count("DBIRTH") === 2);
      await expect.poll(() => link.health().figures?.rebirthsMerged).toBe(4);
      await connection.write({ changes: [batteryChange("r1", 51)], events: [] });
      await host.on("DDATA", "r1");
      expect(count("NBIRTH")).toBe(2);
      await clock.settle(11_000);
      await host.receive(() => count("DBIRTH") === 3);
      expect(count("NBIRTH")).toBe(3);
      expect(host.values("").get("Gateway/RebirthsMerged")?.value).toBe(4);
    });

    test("an old last will after the birth makes the node born again", async () => {
      const connection = await node();
      await connection.write({ changes: [robotChange("r1")], events: [] });
      await host.on("DBIRTH", "r1");
      const old = command([{ name: "bdSeq", type: "Int64", value: 250 }]);
      await host.client.publishAsync("spBv1.0/plant/NDEATH/fleet", old, { qos: 1 });
      await host.receive(() => count("DBIRTH") === 2);
      expect(types()).toEqual(["NBIRTH", "DBIRTHr1", "NDEATH", "NBIRTH", "DBIRTHr1"]);
    });

    test("another gateway with this group and node is told, and there is no storm of births", async () => {
      const told: boolean[] = [];
      const first = await node({ onDuplicate: (active) => told.push(active) });
      await first.write({ changes: [robotChange("r1")], events: [] });
      await host.on("DBIRTH", "r1");
      const second = await node({
        options: { broker: external(mosquitto.url), protocolVersion, clientId: "other" },
      });
      await second.write({ changes: [robotChange("r1")], events: [] });
      await host.receive(() => count("DBIRTH") === 2);
      await expect.poll(() => told).toEqual([true]);
      // A birth in answer to it would come before.
      await first.write({ changes: [batteryChange("r1", 50)], events: [] });
      await host.on("DDATA", "r1");
      expect(count("NBIRTH")).toBe(2);
      await second[Symbol.asyncDispose]();
      await host.receive(() => count("NBIRTH") === 3);
      expect(told).toEqual([true, false]);
    });

    const count = (type: string) => host.seen.filter((message) => message.type === type).length;
  },
);
