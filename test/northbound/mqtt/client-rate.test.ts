import type { Packet } from "mqtt-packet";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RefusedRequest } from "../../../src/contracts/commander.ts";
import type { Command } from "../../../src/domain/command.ts";
import { isJsonObject } from "../../../src/platform/json.ts";
import { tellRefusals } from "../../support/intake-harness.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { newLink } from "./link-harness.ts";
import { base, done, recordingCommander } from "./mqtt-harness.ts";
import { createScriptedBroker, type ScriptedBroker } from "./scripted-broker.ts";

const FLOOD = 3_000;
const rate = { perSecond: 10, burst: 20 };
const cleanups: Array<() => Promise<unknown> | unknown> = [];
let clock: ManualClock;
let broker: ScriptedBroker;
let submitted: Command[];
/** How many messages of the flood had been looked at when each command was submitted. */
let lookedAt: number[];
let refused: RefusedRequest[];

beforeEach(async () => {
  clock = createManualClock();
  broker = createScriptedBroker();
  submitted = [];
  lookedAt = [];
  // Of this test alone: what the one before has left of its flood is refused later.
  const own: RefusedRequest[] = [];
  refused = own;
  const commander = recordingCommander(
    (command) => {
      submitted.push(command);
      lookedAt.push(submitted.length + (commander.figures().rateLimited ?? 0));
      return Promise.resolve(done);
    },
    {
      clock,
      options: { rates: { mqtt: rate } },
      audit: tellRefusals((request) => void own.push(request)),
    },
  );
  const link = newLink({ clock, commander, openBroker: broker.open });
  const connection = await link.connect(new AbortController().signal);
  await broker.subscribed;
  cleanups.push(async () => {
    const closing = connection[Symbol.asyncDispose]();
    clock.advance(10_000);
    await closing;
  });
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

let messageId = 0;
function command(client: string, operation: string, id: string): Packet {
  messageId = (messageId % 65_535) + 1;
  const payload = JSON.stringify({ id, expires_at: "2099-01-01T00:00:00Z", request: { robot_id: "r1" } });
  const topic = `${base}/clients/${client}/command/${operation}`;
  return { cmd: "publish", topic, payload, qos: 1, dup: false, retain: false, messageId };
}

function flood(client: string, count = FLOOD): Packet[] {
  return Array.from({ length: count }, (_, number) => command(client, "CreateMission", `f${number}`));
}

/** The replies so far, by id. */
function replies(client: string): Map<string, Record<string, unknown>> {
  const found = new Map<string, Record<string, unknown>>();
  for (const packet of broker.received) {
    if (packet.cmd !== "publish" || !packet.topic.startsWith(`${base}/clients/${client}/reply/`)) continue;
    const reply: unknown = JSON.parse(String(packet.payload));
    if (isJsonObject(reply)) found.set(String(reply.id), reply);
  }
  return found;
}

test("a stop behind another client's flood waits for a small part of it only", async () => {
  broker.say([...flood("guest"), command("hmi", "ControlConveyor", "stop")]);
  await expect.poll(() => submitted.find(({ requestId }) => requestId === "stop")).toBeDefined();
  const index = submitted.findIndex(({ requestId }) => requestId === "stop");
  expect(lookedAt[index]).toBeLessThan(FLOOD / 10);
});

test("each message of a flood is acknowledged and answered, and what is over the rate is refused with a code", async () => {
  broker.say(flood("guest"));
  await expect.poll(() => replies("guest").size, { timeout: 20_000 }).toBe(FLOOD);
  const all = [...replies("guest").values()];
  expect(all.filter(({ outcome }) => outcome === "succeeded")).toHaveLength(rate.burst);
  const limited = all.filter(({ code }) => code === "RATE_LIMITED");
  expect(limited).toHaveLength(FLOOD - rate.burst);
  expect(limited[0]).toMatchObject({
    outcome: "refused",
    message: "this client sends more than 10 a second, 20 at once",
    retry_safe: true,
  });
  // The acknowledgements of what is taken from the connection's bytes are ours to send.
  const acknowledged = broker.received.flatMap((packet) =>
    packet.cmd === "puback" ? [packet.messageId] : [],
  );
  expect(new Set(acknowledged).size).toBe(FLOOD);
  // One line a second in log and audit: a flood must not push out what others did.
  expect(refused).toHaveLength(1);
});

test("stops are not limited, and another client has a rate of its own", async () => {
  const stops = Array.from({ length: 2 * rate.burst }, (_, at) =>
    command("guest", "ControlConveyor", `s${at}`),
  );
  broker.say([...flood("guest", rate.burst), ...stops, command("hmi", "CreateMission", "mine")]);
  await expect.poll(() => replies("guest").size).toBe(3 * rate.burst);
  await expect.poll(() => replies("hmi").size).toBe(1);
  const outcomes = [...replies("guest").values(), ...replies("hmi").values()].map(({ outcome }) => outcome);
  expect(new Set(outcomes)).toEqual(new Set(["succeeded"]));
});

test("the rate comes back with time", async () => {
  broker.say(flood("guest", rate.burst + 1));
  await expect.poll(() => replies("guest").size).toBe(rate.burst + 1);
  clock.advance(1_000);
  broker.say(Array.from({ length: 11 }, (_, at) => command("guest", "CreateMission", `again${at}`)));
  await expect.poll(() => replies("guest").size).toBe(rate.burst + 12);
  const codes = [...replies("guest")].filter(([id]) => id.startsWith("again")).map(([, { code }]) => code);
  expect(codes.sort()).toEqual([...Array.from({ length: 10 }, () => "OK"), "RATE_LIMITED"]);
});

test("a refusal tells how many went before it in silence", async () => {
  broker.say(flood("guest", rate.burst + 5));
  await expect.poll(() => replies("guest").size).toBe(rate.burst + 5);
  clock.advance(1_000);
  const more = Array.from({ length: 11 }, (_, at) => command("guest", "CreateMission", `more${at}`));
  broker.say(more);
  await expect
    .poll(() => replies("guest").get("more10"))
    .toMatchObject({
      code: "RATE_LIMITED",
      message: "this client sends more than 10 a second, 20 at once; 4 were refused since this was told last",
    });
  expect(refused.map(({ requestId }) => requestId)).toEqual(["f20", "more10"]);
});

test("who asks too often for a command that is known is not told that it was not done", async () => {
  broker.say([command("guest", "CreateMission", "known"), ...flood("guest", rate.burst - 1)]);
  await expect.poll(() => replies("guest").size).toBe(rate.burst);
  broker.say([command("guest", "CreateMission", "known")]);
  await expect
    .poll(() => replies("guest").get("known"))
    .toMatchObject({
      outcome: "unknown",
      code: "RATE_LIMITED",
      message:
        "the command is in hand or recorded, and this client sends too many messages: ask again with the same id",
      retry_safe: false,
    });
  expect(refused).toEqual([]);
});
