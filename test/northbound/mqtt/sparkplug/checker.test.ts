import { connect } from "node:net";
import { generate } from "mqtt-packet";
import { expect, test } from "vitest";
import { findDefects, rules } from "../../../support/sparkplug/check.ts";
import { createEdgeNode, groupId, nodeId, rebirthRequest } from "../../../support/sparkplug/edge-node.ts";
import { createForeignHost } from "../../../support/sparkplug/foreign-host.ts";
import { recordDeliveries, startWireRelay } from "../../../support/sparkplug/relay.ts";
import { unobserved } from "../../../support/sparkplug/unobserved.ts";
import { createRecording, type WireEvent } from "../../../support/sparkplug/wire.ts";
import { haveMosquitto, startMosquitto } from "../mosquitto.ts";
import { bear, CHARGE, idsOf, live, stage } from "./checker-harness.ts";

/** Of version 3.0.0 of the standard. */
const ASSERTIONS = 299;

test("each assertion of the standard has a rule, or a reason why it has none", () => {
  const ids = [...rules.map(({ id }) => id), ...unobserved.flatMap((group) => group.ids)];
  expect(ids.length).toBe(new Set(ids).size);
  expect(ids.filter((id) => id.startsWith("tck-id-"))).toHaveLength(ASSERTIONS);
});

test("a correct edge node passes", () => {
  expect(idsOf(live(stage()))).toEqual([]);
});

test("a foreign host reconstructs the values by births and data", () => {
  const on = live(stage());
  const host = createForeignHost(groupId, nodeId);
  for (const event of on.recording.events) if (event.kind === "publish") host.receive(event.message);
  expect(host.gaps).toEqual([]);
  expect(host.values(null).get(CHARGE)).toMatchObject({ value: 77, quality: null });
  expect(host.values("r1").get(CHARGE)).toMatchObject({ value: 50, quality: null });
  expect(host.devices()).toEqual(["r1", "r2"]);
  expect([null, "r1", "r2"].map(host.isAlive)).toEqual([false, false, false]);
});

test("a foreign host knows what is null, what is dead, and what it has missed", () => {
  const { node, recording, connect } = stage();
  const host = createForeignHost(groupId, nodeId);
  connect();
  bear(node);
  node.data(null, "r1");
  node.deviceDeath("r2");
  node.history(3, "r1");
  const said = recording.events.flatMap((event) => (event.kind === "publish" ? [event.message] : []));
  for (const message of said) host.receive(message);
  expect(host.values("r1").get(CHARGE)).toMatchObject({ value: null, quality: 500 });
  expect([null, "r1", "r2"].map(host.isAlive)).toEqual([true, true, false]);
  node.data(9, "r1");
  node.data(9, "r2");
  const last = recording.events.at(-1);
  if (last?.kind === "publish") host.receive(last.message);
  expect(host.gaps).toEqual(["DDATA: 7 after 5", `spBv1.0/plant/DDATA/cell/r2: no birth has 3`]);
});

const wireIt = test.skipIf(!haveMosquitto);

wireIt("the relay records both ways, and the subscriber beside what the broker delivers", async () => {
  const broker = await startMosquitto();
  const brokerPort = Number(new URL(broker.url).port);
  const recording = createRecording();
  const relay = await startWireRelay({ recording, brokerPort: () => brokerPort });
  const beside = await recordDeliveries(broker.url, recording);
  const socket = connect(relay.port, "127.0.0.1");
  const seen = (test: (event: WireEvent) => boolean) =>
    expect.poll(() => recording.events.some(test)).toBe(true);
  try {
    const node = createEdgeNode({ send: (packet) => void socket.write(generate(packet)) });
    node.connect();
    node.subscribe([`spBv1.0/${groupId}/NCMD/${nodeId}`]);
    await seen(({ kind }) => kind === "connack");
    bear(node);
    await beside.publishAsync(`spBv1.0/${groupId}/NCMD/${nodeId}`, rebirthRequest());
    await seen((event) => event.kind === "receive" && event.message.type === "NCMD");
    bear(node);
    node.data(3, "r1");
    await seen((event) => event.kind === "deliver" && event.message.type === "DDATA");
    socket.destroy();
    await seen((event) => event.kind === "deliver" && event.message.type === "NDEATH");
  } finally {
    socket.destroy();
    await beside.endAsync(true);
    await relay.close();
    await broker.stop();
  }
  recording.end();
  expect(findDefects(recording.events, { groupId, nodeId })).toEqual([]);
  expect(recording.events.map(({ kind }) => kind)).toContain("close");
});
