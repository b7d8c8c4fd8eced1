import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
const atDock = { station: "Dock", ...robot };
const ask = (client: string) => tell(client, "command/LeaseRobot", atDock);

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
    const theft = await tell("line2", "command/ReleaseRobot", atDock);
    expect(theft).toMatchObject({ outcome: "refused", code: "LEASE_HELD", message });
    expect(await tell("line1", "command/ReleaseRobot", atDock)).toMatchObject({
      outcome: "succeeded",
      response: { leased: [] },
    });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });

  const beat = (client: string, counter: number) =>
    tell(client, "command/Heartbeat", { station: "Dock", counter });
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
    expect(await tell("line2", "command/OverrideLease", robot)).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message: 'mqtt "line2" may not send an override, which needs engineer: rights[1] makes it operator',
    });
    expect(await tell("chief", "command/OverrideLease", robot)).toMatchObject({
      outcome: "succeeded",
      response: { station: "Dock", owner: "mqtt:line1" },
    });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(commands.audit.at(-1)).toMatchObject({ event: "lease", user: "chief", reason: "overridden" });
  });

  test("is not for clients that no rule names, nor for others than a station's own", async () => {
    expect(await ask("stranger")).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message:
        'mqtt "stranger" may not command robots, which needs operator: no rule names it, so it may only read; in the configuration, rights: [{source: {protocol: mqtt, name: "stranger"}, role: operator}] would allow it',
    });
    expect(await tell("line1", "command/LeaseRobot", { station: "Press", ...robot })).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message: 'mqtt "line1" is not a user of station Press',
    });
  });
});

describe("refusals with a reply", () => {
  test.each<[string, string, object, string, string]>([
    [
      "an act that there is not",
      "StealRobot",
      atDock,
      "MALFORMED",
      '"station": is not a field of a command; it has id, expires_in_ms, expires_at and request',
    ],
    [
      "another field",
      "ReleaseRobot",
      { ...atDock, force: true },
      "MALFORMED",
      '"force": is not a field of ReleaseRobot; it has station and robot_id',
    ],
    ["no counter", "Heartbeat", { station: "Dock" }, "MALFORMED", "counter: is missing"],
    [
      "a robot that nobody knows",
      "LeaseRobot",
      { station: "Dock", robot_id: "r".repeat(256) },
      "ROBOT_NOT_GOOD",
      `nothing has been heard of robot "${"r".repeat(64)}…" yet: the gateway has just come up`,
    ],
  ])("%s", async (_what, act, fields, code, message) => {
    const answer = await tell("line1", `command/${act}`, fields);
    expect(answer).toMatchObject({ outcome: "refused", code, message, retry_safe: true, response: null });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });

  test("a heartbeat needs no id: without one it is done, and nobody is answered", async () => {
    await ask("line1");
    for (const counter of [1, 2]) {
      await commands.clock.settle(4_000);
      const payload = JSON.stringify({ station: "Dock", counter });
      await link.clients.client.publishAsync(`${base}/clients/line1/command/Heartbeat`, payload, { qos: 1 });
    }
    await commands.clock.settle(2_000);
    expect(await ask("line1")).toMatchObject({ response: { leased: ["AMR01"] } });
    const replies = link.clients.received.filter(({ topic }) => topic.includes("/line1/reply/"));
    expect(replies).toHaveLength(2);
  });

  test("MALFORMED: a heartbeat that is no object, where there is nowhere to answer", async () => {
    const topic = `${base}/clients/line1/command/Heartbeat`;
    await link.clients.client.publishAsync(topic, "[]", { qos: 1 });
    await ask("line1");
    expect(commands.audit[0]).toMatchObject({
      operation: "Heartbeat",
      user: "line1",
      request_id: null,
      message: 'the message must be a JSON object {"id"?,…} with the fields of the act',
    });
  });

  test("RETAINED: what the broker would say again at every start", async () => {
    const payload = JSON.stringify({ id: "kept", ...atDock });
    const options = { qos: 1, retain: true } as const;
    await link.clients.client.publishAsync(`${base}/clients/line1/command/LeaseRobot`, payload, options);
    expect(JSON.parse((await link.clients.on("clients/line1/reply/kept")).text)).toMatchObject({
      code: "RETAINED",
      message: "commands must not be retained",
    });
    expect(commands.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });
});
