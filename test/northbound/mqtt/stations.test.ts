import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHeartbeatCounters, takeStationMessage } from "../../../src/northbound/mqtt/station-message.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { type CommandsHarness, createHarness, mission, missions } from "../../commands/commands-harness.ts";
import { type OpenedLink, openLink } from "./link-harness.ts";
import { base, mqttOptions } from "./mqtt-harness.ts";

const rights = [
  { source: { protocol: "mqtt", name: "line1" }, role: "operator", operations: ["Go"] },
  { source: { protocol: "mqtt", name: "line2" }, role: "operator" },
  { source: { protocol: "mqtt", name: "chief" }, role: "engineer" },
] as const;
const stations = [
  { name: "Dock", destinations: ["D1"], heartbeatMs: 5_000 },
  { name: "Press", destinations: ["D1"], heartbeatMs: 5_000, users: [{ protocol: "opcua", name: "press" }] },
] as const;

const cleanups: Array<() => Promise<unknown> | unknown> = [];
let commands: CommandsHarness;
let link: OpenedLink;

beforeEach(async () => {
  commands = await createHarness({ stations, options: { rights } });
  await commands.see(missions("AMR01", commands.clock.nowMs(), mission("m", "D1")));
  const enabled = {
    enabled: true,
    brokerEnforcesClientNames: true,
    requireExpiry: false,
  };
  link = await openLink(commands, mqttOptions({ commands: enabled }));
  cleanups.push(link.close);
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const tell: OpenedLink["tell"] = (...said) => link.tell(...said);

const robot = { robot_id: "AMR01" };
const ask = (client: string) => tell(client, "station/Dock/ask", robot);

describe("a station's lease, over MQTT", () => {
  test("is the client's that asks; others are refused with its name until it lets go", async () => {
    expect(await ask("line1")).toMatchObject({
      outcome: "succeeded",
      code: "OK",
      retry_safe: true,
      response: { leased: ["AMR01"] },
      duplicate: false,
    });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toMatchObject({
      station: "Dock",
      owner: { protocol: "mqtt", name: "line1" },
    });
    const message = 'robot AMR01 is leased to station Dock for mqtt "line1"';
    expect(await ask("line2")).toMatchObject({ outcome: "refused", code: "LEASE_HELD", message });
    const move = await tell("line2", "command/Go", { request: { robot: "AMR01", to: "X" } });
    expect(move).toMatchObject({ outcome: "refused", code: "LEASE_HELD", message });
    const theft = await tell("line2", "station/Dock/release", robot);
    expect(theft).toMatchObject({ outcome: "refused", code: "LEASE_HELD", message });
    expect(await tell("line1", "station/Dock/release", robot)).toMatchObject({
      outcome: "succeeded",
      response: { leased: [] },
    });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });

  const beat = (client: string, counter: number) => tell(client, "station/Dock/beat", { counter });
  const leased = (...robots: string[]) => ({ outcome: "succeeded", response: { leased: robots } });

  test("lasts while the counter of the client's heartbeat changes, and ends when it does not", async () => {
    await beat("line1", 0);
    await ask("line1");
    for (let second = 4; second <= 16; second += 4) {
      await commands.clock.settle(4_000);
      expect(await beat("line1", second)).toMatchObject(leased("AMR01"));
      // Another client's sign of life is none of the owner's.
      expect(await beat("line2", second)).toMatchObject(leased());
    }
    for (let second = 0; second < 7; second += 1) {
      await beat("line1", 16);
      await commands.clock.settle(1_000);
    }
    expect(commands.audit.at(-1)).toMatchObject({
      user: "line1",
      reason: "the station's heartbeat has lapsed",
    });
    expect(await beat("line1", 17)).toMatchObject(leased());
  });

  test("is not kept by the first counter of a client, nor by asking again", async () => {
    await ask("line1");
    await commands.clock.settle(4_000);
    expect(await beat("line1", 5)).toMatchObject(leased("AMR01"));
    expect(await ask("line1")).toMatchObject(leased("AMR01"));
    await commands.clock.settle(3_000);
    expect(await beat("line1", 6)).toMatchObject(leased());
  });

  test("ends when the robot leaves, whatever the heartbeat says", async () => {
    await ask("line1");
    await commands.see(missions("AMR01", commands.clock.nowMs(), mission("n", "X")));
    await commands.clock.settle(1_000);
    expect(await beat("line1", 1)).toMatchObject(leased());
    expect(await ask("line1")).toMatchObject({ outcome: "refused", code: "NOT_AT_STATION" });
  });

  test("is ended by an engineer, and by no other", async () => {
    await ask("line1");
    expect(await tell("line2", "station/Dock/override", robot)).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message: 'mqtt "line2" may not send an override, which needs engineer: rights[1] makes it operator',
    });
    expect(await tell("chief", "station/Dock/override", robot)).toMatchObject({ outcome: "succeeded" });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(commands.audit.at(-1)).toMatchObject({ event: "lease", user: "chief", reason: "overridden" });
  });

  test("is not for clients that no rule names, nor for others than a station's own", async () => {
    expect(await ask("stranger")).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message:
        'mqtt "stranger" may not command robots, which needs operator: no rule names it, so it may only read',
    });
    expect(await tell("line1", "station/Press/ask", robot)).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message: 'mqtt "line1" is not a user of station Press',
    });
  });
});

describe("refusals with a reply", () => {
  test.each<[string, string, object, string, string]>([
    [
      "an action that there is not",
      "Dock/steal",
      robot,
      "UNKNOWN_OPERATION",
      'a station has ask, beat, release, override, and not "steal"',
    ],
    ["a station that there is not", "Moon/ask", robot, "MALFORMED", 'there is no station "Moon"'],
    ["a heartbeat for none", "Moon/beat", { counter: 1 }, "MALFORMED", 'there is no station "Moon"'],
    ...[{}, { counter: "1" }, { counter: 1.5 }].map((fields): [string, string, object, string, string] => [
      `a heartbeat with ${JSON.stringify(fields)}`,
      "Dock/beat",
      fields,
      "MALFORMED",
      "counter: write a whole number that is another one in each heartbeat of a running program",
    ]),
    ["no robot", "Dock/ask", {}, "MALFORMED", "robot_id: is missing"],
    ["a number", "Dock/ask", { robot_id: 7 }, "MALFORMED", "robot_id: must be text of 1 to 256 characters"],
    ["null", "Dock/ask", { robot_id: null }, "MALFORMED", "robot_id: must be text of 1 to 256 characters"],
    [
      "another field",
      "Dock/release",
      { ...robot, force: true },
      "MALFORMED",
      '"force": is not a field of a lease; it has id and robot_id',
    ],
    [
      "a heartbeat with more",
      "Dock/beat",
      robot,
      "MALFORMED",
      '"robot_id": is not a field of a heartbeat; it has id and counter',
    ],
    [
      "a robot that nobody knows",
      "Dock/ask",
      { robot_id: "r".repeat(256) },
      "ROBOT_NOT_GOOD",
      `nothing has been heard of robot "${"r".repeat(64)}…" yet: the gateway has just come up`,
    ],
  ])("%s", async (_what, topic, fields, code, message) => {
    const answer = await tell("line1", `station/${topic}`, fields);
    expect(answer).toMatchObject({ outcome: "refused", code, message, retry_safe: true, response: null });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });

  test("MALFORMED: a heartbeat that is no object, where there is nowhere to answer", () => {
    const topic = { client: "line1", station: "Dock", action: "beat" };
    const packet = { cmd: "publish", qos: 1, dup: false, retain: false, topic: "", payload: "[]" } as const;
    const hasChanged = createHeartbeatCounters();
    const parts = { topics: createTopics(base), stations: commands.dispatcher.stations, hasChanged };
    expect(takeStationMessage(parts, topic, packet)).toMatchObject({
      to: { client: "line1", topic: null },
      outcome: { code: "MALFORMED", message: 'the message must be a JSON object {"id","counter"}' },
    });
  });

  test("RETAINED: what the broker would say again at every start", async () => {
    const payload = JSON.stringify({ id: "kept", ...robot });
    const options = { qos: 1, retain: true } as const;
    await link.clients.client.publishAsync(`${base}/clients/line1/station/Dock/ask`, payload, options);
    expect(JSON.parse((await link.clients.on("clients/line1/reply/kept")).text)).toMatchObject({
      code: "RETAINED",
      message: "commands must not be retained",
    });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });
});
