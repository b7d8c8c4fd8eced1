import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Connection } from "../../../src/contracts/link.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import type { EmbeddedBroker } from "../../../src/northbound/mqtt/broker/broker.ts";
import { type LinkChanges, newBroker, newLink } from "./link-harness.ts";
import { base, type Listener, listen, missionChange, recordingCommander, start } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const ended: FleetEvent = {
  kind: "mission",
  eventId: "e1",
  robotId: "r1",
  atMs: 0,
  missionId: "m1",
  from: "STATE_RUNNING",
  to: "STATE_SUCCEEDED",
  owner: "api",
  command: null,
};
let broker: EmbeddedBroker;
let stopBroker: () => Promise<void>;
let url: string;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

beforeEach(async () => {
  broker = newBroker();
  stopBroker = await start(broker);
  url = `mqtt://127.0.0.1:${broker.port()}`;
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await stopBroker();
});

async function listener(): Promise<Listener> {
  const received = await listen(url);
  cleanups.push(() => received.client.endAsync(true));
  return received;
}

async function connect(changes: LinkChanges = {}): Promise<Connection & { commands: Command[] }> {
  const commander = recordingCommander();
  const link = newLink({
    commander,
    health: () => ({ fleet: { state: "up", figures: { robotsSeen: 1 } } }),
    openBroker: broker.open,
    ...changes,
  });
  const connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return Object.assign(connection, { commands: commander.commands });
}

describe("what is published", () => {
  test("status, health, and a mission's envelope are retained", async () => {
    const connection = await connect();
    await connection.write({
      changes: [{ kind: "robot", robotId: "r/1", family: "cart", quality: "good" }, missionChange("r/1")],
      events: [],
    });
    const late = await listener();
    const status = await late.on("status");
    expect(status.packet.retain).toBe(true);
    expect(JSON.parse(status.text)).toMatchObject({ state: "online", session_id: "s1", gateway_id: "test" });
    const health = JSON.parse((await late.on("health")).text);
    expect(health.parts.fleet).toEqual({ state: "up", figures: { robots_seen: 1 } });
    expect((await late.on("robots/r%2F1/availability")).text).toBe("good");
    const envelope = JSON.parse((await late.on("robots/r%2F1/mission")).text);
    expect(envelope).toMatchObject({
      robot_id: "r/1",
      quality: "good",
      received_at: "2026-01-02T03:04:05.078Z",
      session_id: "s1",
    });
    expect(envelope.state.current_goal).toEqual({
      pose: { x_meters: 1.2, y_meters: -3, heading_radians: 0 },
    });
  });

  test("a gateway that stops is offline at once, also for a connection that opens later, and events still go", async () => {
    const watcher = await listener();
    const stopping = new AbortController();
    const link = newLink({ openBroker: broker.open, stopping: stopping.signal });
    const connection = await link.connect(new AbortController().signal);
    stopping.abort();
    await watcher.on("status", ({ text }) => text.includes('"offline"'));
    await connection.write({ changes: [], events: [ended] });
    await watcher.on("robots/r1/event/mission");
    await connection[Symbol.asyncDispose]();
    const later = await link.connect(new AbortController().signal);
    await later[Symbol.asyncDispose]();
    const states = () =>
      watcher.received.flatMap(({ topic, text }) =>
        topic.endsWith("status") ? [JSON.parse(text).state] : [],
      );
    await watcher.receive(() => states().length === 5);
    expect(states()).toEqual(["online", "offline", "offline", "offline", "offline"]);
  });

  test("an orderly end says offline of the robots and then of the gateway", async () => {
    const connection = await connect();
    const watcher = await listener();
    await connection.write({
      changes: [{ kind: "robot", robotId: "r1", family: "cart", quality: "good" }],
      events: [],
    });
    await watcher.on("robots/r1/availability");
    await connection[Symbol.asyncDispose]();
    const gone = await watcher.on("status", (message) => message.text.includes('"offline"'));
    expect(JSON.parse(gone.text)).toMatchObject({ state: "offline", session_id: "s1" });
    const texts = watcher.received.filter((message) => message.topic.endsWith("availability"));
    expect(texts.map((message) => message.text)).toEqual(["good", "offline"]);
  });
});

describe("commands", () => {
  test("a command gets the commander's outcome as its reply", async () => {
    const connection = await connect();
    const plc = await listener();
    await plc.client.publishAsync(
      `${base}/clients/plc1/command/CreateMission`,
      JSON.stringify({ id: "c.1", expires_at: "2099-01-01T00:00:00Z", request: { robot_id: "r1" } }),
      { qos: 1 },
    );
    const reply = await plc.on("clients/plc1/reply/c%2E1");
    expect(JSON.parse(reply.text)).toEqual({
      id: "c.1",
      outcome: "succeeded",
      code: "OK",
      message: "",
      retry_safe: false,
      response: { mission_id: "m1" },
      duplicate: false,
    });
    expect(connection.commands).toEqual([
      {
        source: { protocol: "mqtt", name: "plc1" },
        requestId: "c.1",
        operation: "CreateMission",
        effect: "moves",
        robotId: "r1",
        requestJson: '{"robotId":"r1"}',
        startByMs: Date.UTC(2099, 0, 1),
        expiresAtMs: Date.UTC(2099, 0, 1),
      },
    ]);
  });

  test("a retained command is refused and cleared", async () => {
    const connection = await connect();
    const plc = await listener();
    const topic = `${base}/clients/plc1/command/CreateMission`;
    await plc.client.publishAsync(
      topic,
      JSON.stringify({ id: "c1", expires_at: "2099-01-01T00:00:00Z", request: { robot_id: "r1" } }),
      { qos: 1, retain: true },
    );
    expect(JSON.parse((await plc.on("clients/plc1/reply/c1")).text)).toMatchObject({ code: "RETAINED" });
    await plc.receive((message) => message.topic === topic && message.text === "");
    expect(connection.commands).toEqual([]);
  });
});
