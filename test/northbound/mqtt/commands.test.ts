import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Connection } from "../../../src/contracts/link.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import type { createBroker } from "../../../src/northbound/mqtt/broker/broker.ts";
import type { MqttLink } from "../../../src/northbound/mqtt/link.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { base, done, type Listener, listen, mqttOptions, recordingCommander, start } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const later = "2099-01-01T00:00:00Z";
const cleanups: Array<() => Promise<unknown> | unknown> = [];
let url: string;
let plc: Listener;
let link: MqttLink;
let connection: Connection;
let commander: ReturnType<typeof recordingCommander>;
/** What the commander answers; a test may replace it. */
let answer: () => Promise<Outcome>;
let broker: ReturnType<typeof createBroker>;

beforeEach(async () => {
  answer = () => Promise.resolve(done);
  commander = recordingCommander(() => answer());
  broker = newBroker();
  cleanups.push(await start(broker));
  url = `mqtt://127.0.0.1:${broker.port()}`;
  plc = await listen(url, {}, `${base}/clients/#`);
  cleanups.push(() => plc.client.endAsync(true));
  await connect(mqttOptions());
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connect(options: MqttOptions): Promise<void> {
  link = newLink({ options, commander, openBroker: broker.open });
  connection = await link.connect(never);
  const opened = connection;
  cleanups.push(() => opened[Symbol.asyncDispose]());
}

async function send(operation: string, payload: string | Buffer | object, client = "plc1"): Promise<void> {
  const bytes = typeof payload === "string" || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
  await plc.client.publishAsync(`${base}/clients/${client}/command/${operation}`, bytes, { qos: 1 });
}

async function reply(id: string, client = "plc1"): Promise<Record<string, unknown>> {
  return JSON.parse((await plc.on(`clients/${client}/reply/${id}`)).text);
}

describe("refusals with a reply", () => {
  test.each([
    ["an unknown operation", "Dance", { id: "c1", request: {} }, "UNKNOWN_OPERATION", "Dance"],
    ["an inherited name as operation", "constructor", { id: "c1", request: {} }, "UNKNOWN_OPERATION", ""],
    ["no request", "GetConveyorIndex", { id: "c1" }, "MALFORMED", "request: is missing"],
    [
      "a problem of the operation",
      "GetConveyorIndex",
      { id: "c1", request: {} },
      "MALFORMED",
      "request.robot_id",
    ],
    [
      "a move that never expires",
      "CreateMission",
      { id: "c1", request: { robot_id: "r1" } },
      "NO_EXPIRY",
      "CreateMission moves a robot: give expires_in_ms, expires_at, or MQTT 5 message expiry",
    ],
  ])("%s", async (_what, operation, payload, code, message) => {
    await send(operation, payload);
    expect(await reply("c1")).toMatchObject({
      id: "c1",
      outcome: "refused",
      code,
      message: expect.stringContaining(message),
      retry_safe: true,
      response: null,
      duplicate: false,
    });
    expect(commander.commands).toEqual([]);
  });
});

test("what nobody sane would send is counted, and the next command is served", async () => {
  const rubbish: Array<string | Buffer> = [
    "",
    "{",
    "null",
    '{"request":{}}',
    Buffer.from([0xff, 0xfe, 0x00]),
    Buffer.alloc(260 * 1024, "["),
    `{"id":"deep","request":${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}}`,
    `{"id":"${"x".repeat(2_000)}","request":{}}`,
    "\u0000",
  ];
  for (const payload of rubbish) await send("GetConveyorIndex", payload);
  await send("GetConveyorIndex", { id: "ok", request: { robot_id: "r1" } });
  expect(await reply("ok")).toMatchObject({ outcome: "succeeded" });
  expect(link.health().figures).toMatchObject({ commands: rubbish.length + 1 });
  expect(commander.figures()).toMatchObject({ refusedAtIntake: rubbish.length });
});

test("without an expiry a command must start within its default time", async () => {
  const before = Date.now();
  await send("GetConveyorIndex", { id: "c1", request: { robot_id: "r1" } });
  await reply("c1");
  const startByMs = commander.commands[0]?.startByMs ?? 0;
  expect(startByMs).toBeGreaterThanOrEqual(before + 10_000);
  expect(startByMs).toBeLessThanOrEqual(Date.now() + 10_000);
});

test("an expiry that has passed is the commander's to judge: the outcome may be recorded already", async () => {
  await send("CreateMission", { id: "c1", expires_at: "2001-01-01T00:00:00Z", request: { robot_id: "r1" } });
  await reply("c1");
  expect(commander.commands[0]?.startByMs).toBe(Date.UTC(2001, 0, 1));
});

test("expires_in_ms counts from the receipt, and the earlier of two expiries counts", async () => {
  const beforeMs = Date.now();
  await send("CreateMission", { id: "in", expires_in_ms: 5_000, request: { robot_id: "r1" } });
  await reply("in");
  await send("CreateMission", {
    id: "both",
    expires_in_ms: 5_000,
    expires_at: later,
    request: { robot_id: "r1" },
  });
  await reply("both");
  for (const { startByMs } of commander.commands) {
    expect(startByMs).toBeGreaterThanOrEqual(beforeMs + 5_000);
    expect(startByMs).toBeLessThanOrEqual(Date.now() + 5_000);
  }
  expect(commander.commands.map(({ expiresAtMs }) => expiresAtMs)).toEqual([undefined, Date.parse(later)]);
});

test("a commander that fails by our mistake is an unknown ending, and is not hidden", async () => {
  answer = () => Promise.reject(new Error("bug"));
  await send("CreateMission", { id: "c1", expires_at: later, request: { robot_id: "r1" } });
  expect(await reply("c1")).toMatchObject({
    outcome: "unknown",
    code: "INTERNAL_FAULT",
    message: "the gateway failed; whether the command was sent is not known",
    retry_safe: false,
  });
});

test("INTERNAL_FAULT: an operation that fails by our mistake to read its request sends nothing", async () => {
  await send("Broken", { id: "c1", request: { robot_id: "r1" } });
  expect(await reply("c1")).toMatchObject({
    outcome: "refused",
    code: "INTERNAL_FAULT",
    message: "a fault in the gateway; it was not sent",
  });
  expect(commander.commands).toEqual([]);
});

test("QUEUE_FULL: one client cannot fill the queue: its next command is refused, its stop and others are served", async () => {
  let release: (outcome: Outcome) => void = () => {};
  const held = new Promise<Outcome>((resolve) => {
    release = resolve;
  });
  answer = () => held;
  for (let i = 0; i < 513; i += 1)
    await send("GetConveyorIndex", { id: `c${i}`, request: { robot_id: "r1" } });
  expect(await reply("c512")).toMatchObject({
    outcome: "refused",
    code: "QUEUE_FULL",
    message: "too many commands wait for their outcome",
  });
  answer = () => Promise.resolve(done);
  await send("ControlConveyor", { id: "stop", request: { robot_id: "r1" } });
  expect(await reply("stop")).toMatchObject({ outcome: "succeeded" });
  await send("GetConveyorIndex", { id: "other", request: { robot_id: "r1" } }, "plc2");
  expect(await reply("other", "plc2")).toMatchObject({ outcome: "succeeded" });
  release(done);
  expect(await reply("c0")).toMatchObject({ outcome: "succeeded" });
});

test("an outcome that comes after a reconnect is sent on the new connection", async () => {
  let release: (outcome: Outcome) => void = () => {};
  answer = () =>
    new Promise<Outcome>((resolve) => {
      release = resolve;
    });
  const submitted = new Promise<void>((resolve) => {
    const inner = answer;
    answer = () => {
      resolve();
      return inner();
    };
  });
  await send("CreateMission", { id: "c1", expires_at: later, request: { robot_id: "r1" } });
  await submitted;
  await connection[Symbol.asyncDispose]();
  connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  release(done);
  expect(await reply("c1")).toMatchObject({ outcome: "succeeded" });
});
