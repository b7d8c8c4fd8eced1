import type { IConnackPacket } from "mqtt-packet";
import { afterEach, describe, expect, it } from "vitest";
import type { FleetEvent } from "../../../src/domain/event.ts";
import type { MissionQueue } from "../../../src/domain/mission.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { messageFaults } from "../../support/message-schemas.ts";
import { startLimitedBroker } from "./limited-broker.ts";
import { type LinkChanges, newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import {
  base,
  done,
  external,
  listen,
  mission,
  missionChange,
  mqttOptions,
  recordingCommander,
} from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const topic = (name: string) => `${base}/${name}`;
const longQueue: MissionQueue = {
  missions: [{ ...mission, owner: "x".repeat(3_000) }],
  currentMissionIndex: 0,
};

function event(eventId: string, owner = "api"): FleetEvent {
  const states = { from: "STATE_RUNNING", to: "STATE_SUCCEEDED" } as const;
  return {
    kind: "mission",
    eventId,
    robotId: "r1",
    atMs: 0,
    missionId: "m1",
    ...states,
    owner,
    command: null,
  };
}

async function connect(url: string, options: Partial<MqttOptions> = {}, parts: LinkChanges = {}) {
  const said: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void said.push(`${message} ${JSON.stringify(fields)}`),
  };
  const five = mqttOptions({ broker: external(url), protocolVersion: 5, ...options });
  const link = newLink({ options: five, log, ...parts });
  const connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return { link, connection, said };
}

async function limited(properties: NonNullable<IConnackPacket["properties"]>) {
  const broker = await startLimitedBroker(properties);
  cleanups.push(() => broker.close());
  return broker;
}

describe("a broker's receive maximum", () => {
  it("bounds the events that are not acknowledged; the others follow in order", async () => {
    const broker = await limited({ receiveMaximum: 3 });
    const { connection, link } = await connect(broker.url);
    const acknowledge = broker.holdAcks();
    const before = broker.published.length;
    const events = Array.from({ length: 10 }, (_, i) => event(`e${i}`));
    const written = connection.write({ changes: [missionChange("r1")], events });
    await broker.received((packet) => packet.payload.includes('"e2"'));
    // What is written later arrives, while the fourth event still waits.
    await expect.poll(() => broker.published.length).toBe(before + 4);
    acknowledge();
    await written;
    const names = broker.published
      .slice(before)
      .filter(({ qos }) => qos === 1)
      .map(({ payload }) => JSON.parse(String(payload)).event_id);
    expect(names).toEqual(events.map(({ eventId }) => eventId));
    expect(link.health().state).toBe("up");
  });

  it("keeps the order of state and what removes it", async () => {
    const broker = await limited({ receiveMaximum: 1 });
    const { connection } = await connect(broker.url);
    const acknowledge = broker.holdAcks();
    const gone = (chainId: number) => ({ kind: "task_chain_evicted", chainId }) as const;
    const before = broker.published.length;
    const changes = [gone(1), gone(2), missionChange("r2")];
    const written = connection.write({ changes, events: [] });
    const first = await broker.received(({ topic: name }) => name === topic("task_chains/1"));
    expect(broker.published.at(-1)).toBe(first);
    acknowledge();
    await written;
    await broker.received(({ topic: name }) => name === topic("robots/r2/mission"));
    const names = broker.published.slice(before).map(({ topic: name }) => name.slice(base.length + 1));
    expect(names.slice(0, 3)).toEqual(["task_chains/1", "task_chains/2", "robots/r2/mission"]);
  });

  it("holds back what is only said again, while something waits", async () => {
    const broker = await limited({ receiveMaximum: 1 });
    const clock = createManualClock();
    const { connection } = await connect(broker.url, { stateQos: 1 }, { clock });
    await connection.write({ changes: [missionChange("r1")], events: [] });
    const missions = () => broker.published.filter(({ topic: name }) => name === topic("robots/r1/mission"));
    const acknowledge = broker.holdAcks();
    const written = connection.write({ changes: [], events: [event("e1"), event("e2")] });
    await broker.received((packet) => packet.payload.includes('"e1"'));
    clock.advance(300_000);
    acknowledge();
    await written;
    await connection.write({ changes: [], events: [event("e3")] });
    expect(missions()).toHaveLength(1);
    clock.advance(4_000);
    await expect.poll(() => missions().length).toBe(2);
    cleanups.push(() => clock.advance(10_000));
  });

  it("lets the goodbye of a connection with waiting messages pass", async () => {
    const broker = await limited({ receiveMaximum: 1 });
    const { connection } = await connect(broker.url);
    const acknowledge = broker.holdAcks();
    const written = connection.write({ changes: [], events: [event("e1"), event("e2")] });
    await broker.received((packet) => packet.payload.includes('"e1"'));
    const closed = connection[Symbol.asyncDispose]();
    acknowledge();
    await Promise.all([written, closed]);
    expect(String(broker.published.at(-1)?.payload)).toContain('"offline"');
  });

  it("gives up what waits when the connection is lost", async () => {
    const broker = await limited({ receiveMaximum: 1 });
    const { connection } = await connect(broker.url);
    broker.holdAcks();
    const written = connection.write({ changes: [], events: [event("e1"), event("e2"), event("e3")] });
    await broker.received((packet) => packet.payload.includes('"e1"'));
    const failed = expect(written).rejects.toThrow();
    await broker.close();
    await failed;
    await connection.lost;
  });
});

describe("a broker's maximum packet size", () => {
  it("leaves out state, and the older value with it, and says so once a topic", async () => {
    const broker = await limited({ maximumPacketSize: 1_500 });
    const { connection, link, said } = await connect(broker.url);
    await connection.write({ changes: [missionChange("r1")], events: [] });
    for (let i = 0; i < 3; i += 1)
      await connection.write({ changes: [missionChange("r1", "good", longQueue)], events: [event(`e${i}`)] });
    const missions = broker.published.filter(({ topic: name }) => name === topic("robots/r1/mission"));
    expect(missions.map(({ payload }) => payload.length > 0)).toEqual([true, false, false, false]);
    expect(missions.every(({ retain }) => retain)).toBe(true);
    const lines = said.filter((line) => line.startsWith("a message is larger"));
    expect(lines).toEqual([expect.stringContaining("robots/r1/mission")]);
    expect(link.health()).toMatchObject({
      state: "degraded",
      detail: expect.stringMatching(/more than the 1500 bytes .*robots\/r1\/mission/),
      figures: { messagesTooLarge: 3 },
    });
  });

  it("tells of an event that it leaves out in its place, and goes on with those after it", async () => {
    const broker = await limited({ maximumPacketSize: 1_500 });
    const { connection, link } = await connect(broker.url);
    const large = { ...event("e2", "y".repeat(2_000)), atMs: 60_000, historical: true } as FleetEvent;
    await connection.write({ changes: [], events: [event("e1"), large, event("e3")] });
    const told = broker.published
      .filter(({ topic: name }) => name.startsWith(topic("robots/r1/event/")))
      .map(({ topic: name, payload, qos }) => [name.split("/").at(-1), qos, JSON.parse(String(payload))]);
    const dropped = {
      ...{ event_id: "e2.dropped", robot_id: "r1", historical: true, count: 1, reason: "too_large" },
      ...{ from: "1970-01-01T00:01:00.000Z", to: "1970-01-01T00:01:00.000Z" },
    };
    expect(told).toMatchObject([
      ["mission", 1, { event_id: "e1" }],
      ["dropped", 1, dropped],
      ["mission", 1, { event_id: "e3" }],
    ]);
    for (const { topic: name, payload } of broker.published)
      expect(messageFaults(name.slice(base.length + 1), String(payload))).toEqual([]);
    expect(link.health().figures).toMatchObject({ messagesTooLarge: 1 });
  });

  it("tells the sender whose command's event it leaves out", async () => {
    const broker = await limited({ maximumPacketSize: 1_500 });
    const { connection } = await connect(broker.url);
    const source = { protocol: "mqtt", name: "hmi" } as const;
    const outcome = { ...refusal("MALFORMED", ""), message: "z".repeat(2_000) };
    const ended = {
      kind: "command",
      eventId: "c9",
      robotId: "r1",
      atMs: 0,
      from: "received",
      outcome,
    } as const;
    const command = { source, requestId: "9" };
    await connection.write({ changes: [], events: [{ ...ended, command, operation: "GetMap" }] });
    const told = broker.published.find(({ topic: name }) => name === topic("event/dropped"));
    expect(JSON.parse(String(told?.payload))).toMatchObject({ robot_id: "", protocol: "mqtt", user: "hmi" });
  });

  it("counts the bytes of the packet, not the characters of its text", async () => {
    const broker = await limited({ maximumPacketSize: 1_100 });
    const { connection, link } = await connect(broker.url);
    await connection.write({
      changes: [],
      events: [event("e1", "ü".repeat(600)), event("e2", "u".repeat(600))],
    });
    expect(link.health().figures?.messagesTooLarge).toBe(1);
    expect(String(broker.published.at(-1)?.payload)).toContain("e2");
  });

  it("tells the sender of a command its outcome without the response", async () => {
    const broker = await limited({ maximumPacketSize: 1_500 });
    const large = { ...done, responseJson: JSON.stringify({ mission_id: "z".repeat(2_000) }) };
    await connect(broker.url, {}, { commander: recordingCommander(async () => large) });
    const command = { id: "c1", expires_in_ms: 10_000, request: { robot_id: "r1" } };
    broker.say(topic("clients/plc1/command/CreateMission"), JSON.stringify(command));
    const reply = await broker.received(({ topic: name }) => name === topic("clients/plc1/reply/c1"));
    expect(JSON.parse(String(reply.payload))).toMatchObject({
      outcome: "succeeded",
      message: "the response is left out: it is larger than the broker takes",
      response: null,
    });
  });
});

describe("a broker that retains nothing", () => {
  it("gets last will, state and status without the retain flag, and what that costs is said", async () => {
    const broker = await limited({ retainAvailable: false });
    const clock = createManualClock();
    const { connection, link, said } = await connect(broker.url, {}, { clock });
    expect(broker.connects.map(({ will }) => will?.retain)).toEqual([true, false]);
    await connection.write({ changes: [missionChange("r1")], events: [event("e1")] });
    expect(broker.published.map(({ retain }) => retain)).not.toContain(true);
    expect(link.health()).toMatchObject({
      state: "degraded",
      detail: expect.stringMatching(/retains no messages: .* within 60 s/),
    });
    expect(said.filter((line) => line.includes("retains no messages"))).toHaveLength(1);
    const statuses = () => broker.published.filter(({ topic: name }) => name === topic("status")).length;
    expect(statuses()).toBe(1);
    clock.advance(90_000);
    await expect.poll(statuses).toBe(2);
    // The goodbye needs the test's clock no more.
    cleanups.push(() => clock.advance(10_000));
  });
});

describe("a broker without wildcards in subscriptions", () => {
  it("brings no commands, and gets state all the same", async () => {
    const broker = await limited({ wildcardSubscriptionAvailable: false });
    const { connection, link } = await connect(broker.url);
    expect(broker.subscribed).toEqual([topic("status")]);
    await connection.write({ changes: [missionChange("r1")], events: [event("e1")] });
    expect(link.health()).toMatchObject({
      state: "degraded",
      detail: expect.stringContaining("commands over MQTT are off"),
    });
  });
});

describe("a broker that takes QoS 0 only", () => {
  it("gets the last will and events so, and that they may be lost is said", async () => {
    const broker = await limited({ maximumQoS: 0 });
    const { connection, link } = await connect(broker.url, { stateQos: 1 });
    expect(broker.connects.at(-1)?.will?.qos).toBe(0);
    await connection.write({ changes: [missionChange("r1")], events: [event("e1")] });
    await broker.received((packet) => packet.payload.includes('"e1"'));
    expect(broker.published.map(({ qos }) => qos)).not.toContain(1);
    expect(link.health().detail).toContain("QoS 0 only");
  });
});

describe.runIf(haveMosquitto)("with mosquitto", () => {
  async function mosquitto(...lines: string[]) {
    const broker = await startMosquitto(undefined, lines);
    cleanups.push(() => broker.stop());
    return broker.url;
  }

  it("its largest packet is respected: the session stays", async () => {
    const url = await mosquitto("max_packet_size 2000");
    const { connection, link } = await connect(url);
    const watcher = await listen(url, { protocolVersion: 5 });
    cleanups.push(() => watcher.client.endAsync(true));
    await connection.write({ changes: [missionChange("r1", "good", longQueue)], events: [event("e1")] });
    await watcher.on("robots/r1/event/mission");
    expect(link.health().figures?.messagesTooLarge).toBe(1);
  });

  it("retain_available false is respected: the session stays", async () => {
    const url = await mosquitto("retain_available false");
    const { connection, link } = await connect(url, { stateQos: 1 });
    const watcher = await listen(url, { protocolVersion: 5 });
    cleanups.push(() => watcher.client.endAsync(true));
    await connection.write({ changes: [missionChange("r1")], events: [] });
    expect((await watcher.on("robots/r1/mission")).text).toContain('"good"');
    expect(link.health().detail).toContain("retains no messages");
  });

  it("takes 200 events although it admits one unacknowledged message", async () => {
    const url = await mosquitto("max_inflight_messages 1");
    const { connection } = await connect(url);
    const watcher = await listen(url, { protocolVersion: 5 });
    cleanups.push(() => watcher.client.endAsync(true));
    const events = Array.from({ length: 200 }, (_, i) => event(`e${i}`));
    await connection.write({ changes: [], events });
    await watcher.receive(({ text }) => text.includes('"e199"'));
  });
});
