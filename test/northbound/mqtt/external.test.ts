import { afterEach, describe, expect, test } from "vitest";
import type { Connection } from "../../../src/contracts/link.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import type { MissionQueue } from "../../../src/domain/mission.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { type LinkChanges, newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import {
  base,
  external,
  listen,
  mission,
  missionChange,
  mqttOptions,
  recordingCommander,
} from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function broker(acl?: Parameters<typeof startMosquitto>[0]) {
  const mosquitto = await startMosquitto(acl);
  cleanups.push(() => mosquitto.stop());
  return mosquitto;
}

async function connect(options: MqttOptions, changes: LinkChanges = {}): Promise<Connection> {
  const connection = await newLink({ options, ...changes }).connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return connection;
}

async function watch(url: string, options: Parameters<typeof listen>[1] = {}) {
  const listener = await listen(url, options);
  cleanups.push(() => listener.client.endAsync(true));
  return listener;
}

function event(i: number): FleetEvent {
  return {
    kind: "mission",
    eventId: `e${i}`,
    robotId: "r1",
    atMs: 0,
    missionId: "m1",
    from: "STATE_RUNNING",
    to: "STATE_SUCCEEDED",
    owner: "api",
    command: null,
  };
}

test("a broker that is not there rejects with the reason", async () => {
  const link = newLink({ options: mqttOptions({ broker: external("mqtt://127.0.0.1:1") }) });
  await expect(link.connect(never)).rejects.toThrow(/ECONNREFUSED/);
  expect(link.health().state).toBe("down");
});

test("connecting is given up when the gateway stops", async () => {
  const stopped = AbortSignal.abort(new Error("stopping"));
  await expect(newLink({ options: mqttOptions() }).connect(stopped)).rejects.toThrow("stopping");
});

describe.runIf(haveMosquitto)("with mosquitto", () => {
  test("many transitions arrive in order before the write is done", async () => {
    const { url } = await broker();
    const connection = await connect(mqttOptions({ broker: external(url) }));
    const watcher = await watch(url);
    const events = Array.from({ length: 300 }, (_, i) => event(i));
    await connection.write({ changes: [], events });
    await watcher.receive((message) => message.text.includes('"e299"'));
    const ids = watcher.received
      .filter((message) => message.topic.endsWith("event/mission"))
      .map((message) => JSON.parse(message.text).event_id);
    expect(ids).toEqual(events.map((each) => each.eventId));
    expect(watcher.received.find((message) => message.topic.endsWith("event/mission"))?.packet.qos).toBe(1);
  });

  test("a gateway that dies leaves its last will", async () => {
    const { url } = await broker();
    const watcher = await watch(url);
    // The socket is cut as a killed process cuts it: without a DISCONNECT.
    const stopper = new AbortController();
    const link = newLink({ options: mqttOptions({ broker: external(url) }) });
    const connection = await link.connect(stopper.signal);
    await watcher.on("status", (message) => message.text.includes('"online"'));
    const thief = await watch(url, { clientId: "fleetgate-test" });
    const will = await watcher.on("status", (message) => message.text.includes('"offline"'));
    expect(JSON.parse(will.text)).toEqual({ state: "offline", session_id: "s1", gateway_id: "test" });
    expect((await connection.lost).message).toMatch(/lost/);
    expect(thief.client.connected).toBe(true);
  });

  test("a broker that dies ends the connection: what waits is told, and the next connect works", async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const link = newLink({ options: mqttOptions({ broker: external(mosquitto.url), stateQos: 1 }) });
    const connection = await link.connect(never);
    await mosquitto.kill();
    const cause = await connection.lost;
    await expect(connection.write({ changes: [missionChange("r1")], events: [] })).rejects.toBe(cause);
    await connection[Symbol.asyncDispose]();
    expect(link.health().state).toBe("down");
  });

  test("a broker that hangs holds up the write; what was written arrives when it wakes", async () => {
    const mosquitto = await broker();
    const connection = await connect(mqttOptions({ broker: external(mosquitto.url) }));
    const reading = await connect(mqttOptions({ broker: external((await broker()).url) }));
    const long: MissionQueue = {
      missions: [{ ...mission, owner: "x".repeat(8_000) }],
      currentMissionIndex: 0,
    };
    const robots = Array.from({ length: 2_000 }, (_, i) => `r${i}`);
    const changes = robots.map((robotId) => missionChange(robotId, "good", long));
    mosquitto.freeze();
    let written = false;
    const write = connection.write({ changes, events: [] }).then(() => {
      written = true;
    });
    // What was begun later is done, at a broker that reads: the sockets' buffers hold but some of it.
    await reading.write({ changes, events: [event(1)] });
    expect(written).toBe(false);
    mosquitto.thaw();
    await write;
    await connection.write({ changes: [], events: [event(1)] });
    // One topic, because mosquitto drops what a subscriber does not read fast enough.
    const late = await listen(mosquitto.url, {}, `${base}/robots/r1999/mission`);
    cleanups.push(() => late.client.endAsync(true));
    await late.on("robots/r1999/mission");
  });

  test("a broker that hangs does not hold up the gateway's end", async () => {
    const mosquitto = await broker();
    const connection = await connect(mqttOptions({ broker: external(mosquitto.url) }));
    mosquitto.freeze();
    cleanups.push(() => mosquitto.thaw());
    const startedAtMs = performance.now();
    await connection[Symbol.asyncDispose]();
    // That it hangs would show by its keepalive, after 15 s at the least.
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    await connection.lost;
  });

  test("a user that the broker refuses is told so", async () => {
    const { url } = await broker({ rules: "", users: ["gate"] });
    const link = newLink({
      options: mqttOptions({ broker: { ...external(url), username: "gate", password: "wrong" } }),
    });
    await expect(link.connect(never)).rejects.toThrow(/refused/i);
  });

  test("flat tags: bare values, gone when they are lost", async () => {
    const { url } = await broker();
    const connection = await connect(mqttOptions({ broker: external(url), tags: true, stateQos: 1 }));
    const watcher = await watch(url);
    await connection.write({ changes: [missionChange("r1")], events: [] });
    expect((await watcher.on("robots/r1/tags/mission/state")).text).toBe("STATE_RUNNING");
    expect((await watcher.on("robots/r1/tags/mission/goal_index")).text).toBe("1");
    await watcher.on("robots/r1/tags/mission/valid", (message) => message.text === "true");
    await connection.write({ changes: [missionChange("r1", "lost")], events: [] });
    await watcher.on("robots/r1/tags/mission/valid", (message) => message.text === "false");
    await watcher.on("robots/r1/tags/mission/state", (message) => message.text === "");
    const late = await watch(url);
    await late.on("robots/r1/tags/mission/valid");
    expect(late.received.map((message) => message.topic)).not.toContain(
      `${base}/robots/r1/tags/mission/state`,
    );
  });

  describe("MQTT 5", () => {
    const five = (url: string) => mqttOptions({ broker: external(url), protocolVersion: 5 });
    const command = JSON.stringify({ id: "c1", request: { robot_id: "r1" } });
    const topic = `${base}/clients/plc1/command/CreateMission`;

    test("state expires after three refreshes, and is said again after one", async () => {
      const { url } = await broker();
      const clock = createManualClock();
      const connection = await connect(five(url), { clock });
      const watcher = await watch(url, { protocolVersion: 5 });
      await connection.write({ changes: [missionChange("r1")], events: [] });
      const first = await watcher.on("robots/r1/mission");
      expect(first.packet.properties?.messageExpiryInterval).toBe(180);
      clock.advance(59_000);
      await watcher.client.publishAsync(`${base}/marker`, "", { qos: 1 });
      await watcher.on("marker");
      const missions = () => watcher.received.filter((message) => message.topic.endsWith("/mission"));
      expect(missions()).toHaveLength(1);
      clock.advance(4_000);
      await watcher.receive((message) => message.topic.endsWith("/mission") && message !== first);
      expect(missions().map((message) => message.text)).toEqual([first.text, first.text]);
    });

    test("message expiry is an expiry, the response topic is used, correlation data come back", async () => {
      const { url } = await broker();
      const commander = recordingCommander();
      const nowMs = Date.UTC(2026, 0, 1);
      await connect(five(url), { commander, clock: createManualClock(nowMs) });
      const plc = await watch(url, { protocolVersion: 5 });
      const correlationData = Buffer.from([0, 255, 1]);
      const responseTopic = `${base}/clients/plc1/answers`;
      await plc.client.publishAsync(topic, command, {
        qos: 1,
        properties: { messageExpiryInterval: 30, responseTopic, correlationData },
      });
      const answer = await plc.on("clients/plc1/answers");
      expect(JSON.parse(answer.text)).toMatchObject({ id: "c1", outcome: "succeeded" });
      expect(answer.packet.properties?.correlationData).toEqual(correlationData);
      expect(commander.commands[0]?.startByMs).toBe(nowMs + 30_000);
    });

    test.each([
      ["another client's", `${base}/clients/plc2/reply/c1`],
      ["the gateway's status", `${base}/status`],
      ["a command topic", topic],
    ])("%s as response topic is refused, and nothing is published there", async (_what, responseTopic) => {
      const { url } = await broker();
      const commander = recordingCommander();
      await connect(five(url), { commander });
      const plc = await watch(url, { protocolVersion: 5 });
      await plc.client.publishAsync(topic, command, {
        qos: 1,
        properties: { messageExpiryInterval: 30, responseTopic },
      });
      expect(JSON.parse((await plc.on("clients/plc1/reply/c1")).text)).toMatchObject({
        code: "MALFORMED",
        message: "the response topic is outside the client's own subtree",
      });
      expect(
        plc.received.filter((message) => message.topic === responseTopic && message.text.includes("outcome")),
      ).toEqual([]);
      expect(commander.commands).toEqual([]);
    });

    test.each([
      [
        "correlation data of more than 1024 bytes",
        { correlationData: Buffer.alloc(1_025), responseTopic: `${base}/clients/plc1/answers` },
      ],
      [
        "a response topic of more than 1024 bytes",
        { responseTopic: `${base}/clients/plc1/reply/${"r".repeat(1_024)}` },
      ],
    ])("%s are not kept, and the command is refused", async (message, properties) => {
      const { url } = await broker();
      const commander = recordingCommander();
      await connect(five(url), { commander });
      const plc = await watch(url, { protocolVersion: 5 });
      await plc.client.publishAsync(topic, command, {
        qos: 1,
        properties: { messageExpiryInterval: 30, ...properties },
      });
      const answer = await plc.on("clients/plc1/reply/c1");
      expect(JSON.parse(answer.text)).toMatchObject({ code: "MALFORMED", message });
      expect(answer.packet.properties?.correlationData).toBeUndefined();
      expect(commander.commands).toEqual([]);
    });

    test("rubbish without an id is answered on a response topic", async () => {
      const { url } = await broker();
      await connect(five(url));
      const plc = await watch(url, { protocolVersion: 5 });
      const responseTopic = `${base}/clients/plc1/answers`;
      await plc.client.publishAsync(topic, "{", { qos: 1, properties: { responseTopic } });
      const answer = JSON.parse((await plc.on("clients/plc1/answers")).text);
      expect(answer).toMatchObject({ id: null, outcome: "refused", code: "MALFORMED" });
    });
  });

  test.each([4, 5] as const)(
    "a command left behind with the retain flag is refused and cleared (MQTT %i)",
    async (version) => {
      const { url } = await broker();
      const topic = `${base}/clients/plc1/command/GetConveyorIndex`;
      const plc = await watch(url);
      const payload = JSON.stringify({ id: "old", request: { robot_id: "r1" } });
      await plc.client.publishAsync(topic, payload, { qos: 1, retain: true });
      const commander = recordingCommander();
      await connect(mqttOptions({ broker: external(url), protocolVersion: version }), { commander });
      expect(JSON.parse((await plc.on("clients/plc1/reply/old")).text)).toMatchObject({ code: "RETAINED" });
      await plc.receive((message) => message.topic === topic && message.text === "");
      expect(commander.commands).toEqual([]);
    },
  );

  test("commands stay off until the operator vouches for the broker", async () => {
    const { url } = await broker();
    const commander = recordingCommander();
    const commands = {
      enabled: true,
      brokerEnforcesClientNames: false,
      requireExpiry: true,
    };
    const connection = await connect(mqttOptions({ broker: external(url), commands }), { commander });
    const plc = await watch(url);
    const payload = JSON.stringify({ id: "c1", request: { robot_id: "r1" } });
    await plc.client.publishAsync(`${base}/clients/plc1/command/GetConveyorIndex`, payload, { qos: 1 });
    await connection.write({ changes: [missionChange("r1")], events: [event(1)] });
    await plc.on("robots/r1/event/mission");
    expect(commander.commands).toEqual([]);
  });

  test("the documented access rules are enough for the gateway and keep clients apart", async () => {
    const { url } = await broker({
      users: ["gate", "plc1", "plc2"],
      rules: [
        "user gate",
        `topic readwrite ${base}/#`,
        `pattern write ${base}/clients/%u/command/+`,
        `pattern read ${base}/clients/%u/reply/+`,
        `pattern read ${base}/robots/#`,
        "",
      ].join("\n"),
    });
    const commander = recordingCommander();
    await connect(mqttOptions({ broker: { ...external(url), username: "gate", password: "gate" } }), {
      commander,
    });
    const plc1 = await watch(url, { username: "plc1", password: "plc1" });
    const payload = JSON.stringify({ id: "c1", request: { robot_id: "r1" } });
    await plc1.client.publishAsync(`${base}/clients/plc2/command/GetConveyorIndex`, payload, { qos: 1 });
    await plc1.client.publishAsync(`${base}/clients/plc1/command/GetConveyorIndex`, payload, { qos: 1 });
    await plc1.on("clients/plc1/reply/c1");
    expect(commander.commands.map((command) => command.source.name)).toEqual(["plc1"]);
  });
});
