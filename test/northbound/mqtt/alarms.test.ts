import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mayPublish } from "../../../src/northbound/mqtt/broker/rights.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { createValueWriter } from "../../../src/northbound/mqtt/values.ts";
import { type CommandsHarness, createHarness, mission, missions } from "../../commands/commands-harness.ts";
import { standingAlarm } from "../../support/test-alarms.ts";
import { type OpenedLink, openLink } from "./link-harness.ts";
import { base } from "./mqtt-harness.ts";

const rights = [
  { source: { protocol: "mqtt", name: "line1" }, role: "operator", robots: ["AMR01"] },
  { source: { protocol: "mqtt", name: "scada" }, role: "operator" },
  { source: { protocol: "mqtt", name: "tv" }, role: "observer" },
] as const;

const cleanups: Array<() => Promise<unknown> | unknown> = [];
let commands: CommandsHarness;
let link: OpenedLink;

beforeEach(async () => {
  commands = await createHarness({ options: { rights } });
  await commands.see(missions("AMR01", commands.clock.nowMs(), mission("m", "D1")));
  link = await openLink(commands);
  cleanups.push(link.close);
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Publishes an act for a client and waits for its answer. */
function tell(client: string, act: string, ...said: [object, { readonly retain?: boolean }?]) {
  return link.tell(client, `command/${act}`, ...said);
}

/** Raises the alarm of a robot, or of the gateway. */
function raise(robotId: string | null): string {
  const source = robotId === null ? ({ kind: "gateway" } as const) : ({ kind: "robot", robotId } as const);
  const condition = { holds: true, text: "nobody can tell" };
  commands.alarmRegistry.state(source, "OUTCOME_UNKNOWN", condition);
  commands.alarmRegistry.take();
  return commands.alarms().find((alarm) => alarm.source.kind === source.kind)?.id ?? "none";
}

describe("an acknowledgement over MQTT", () => {
  test("is the client's own, is audited, and may come again", async () => {
    const alarmId = raise("AMR01");
    expect(await tell("line1", "AcknowledgeAlarm", { alarm_id: alarmId })).toMatchObject({
      outcome: "succeeded",
      code: "OK",
      retry_safe: true,
      response: { acknowledged_by: "mqtt:line1" },
    });
    expect(commands.alarms()).toEqual([]);
    expect(commands.audit.filter(({ event }) => event === "alarm")).toMatchObject([
      { alarm: "acknowledged", alarm_id: alarmId, robot_id: "AMR01", protocol: "mqtt", user: "line1" },
    ]);
  });

  test("needs the role of an operator for the alarm's robot", async () => {
    const [ofOther, ofGateway] = [raise("AMR02"), raise(null)];
    for (const [client, alarm_id] of [
      ["line1", ofOther],
      ["line1", ofGateway],
      ["tv", ofOther],
    ] as const)
      expect(await tell(client, "AcknowledgeAlarm", { alarm_id })).toMatchObject({
        code: "NOT_ALLOWED",
        message: expect.stringContaining("may not acknowledge alarms, which needs operator"),
      });
    expect(commands.alarms()).toHaveLength(2);
    for (const alarm_id of [ofOther, ofGateway])
      expect(await tell("scada", "AcknowledgeAlarm", { alarm_id })).toMatchObject({ code: "OK" });
    expect(commands.alarms()).toEqual([]);
  });
});

describe("a robot out of service", () => {
  test("has no alarms until it is put back, and refuses no command", async () => {
    raise("AMR01");
    const out = { robot_id: "AMR01", out_of_service: true };
    expect(await tell("line1", "SetOutOfService", out)).toMatchObject({ code: "OK" });
    expect([commands.alarms(), commands.alarmRegistry.isOutOfService("AMR01")]).toEqual([[], true]);
    const back = { robot_id: "AMR01", out_of_service: false };
    expect(await tell("line1", "SetOutOfService", back)).toMatchObject({ code: "OK" });
    expect(commands.alarmRegistry.isOutOfService("AMR01")).toBe(false);
    const told = commands.audit.filter(({ event }) => event === "alarm").map(({ alarm }) => alarm);
    expect(told).toEqual(["out of service", "in service"]);
    expect(await tell("line1", "SetOutOfService", { ...out, robot_id: "AMR02" })).toMatchObject({
      code: "NOT_ALLOWED",
      message: expect.stringContaining("may not take robots out of service, which needs operator"),
    });
  });
});

describe("refusals with a reply", () => {
  test.each<[what: string, act: string, fields: object, code: string, message: string]>([
    ["no alarm", "AcknowledgeAlarm", {}, "MALFORMED", "alarm_id: is missing"],
    [
      "another field",
      "SetOutOfService",
      { robot_id: "AMR01", out_of_service: true, hold: true },
      "MALFORMED",
      '"hold": is not a field of SetOutOfService; it has robot_id and out_of_service',
    ],
  ])("%s", async (_what, act, fields, code, message) => {
    expect(await tell("scada", act, fields)).toMatchObject({ outcome: "refused", code, message });
  });

  test("a retained one is refused, and cleared", async () => {
    const alarm_id = raise("AMR01");
    expect(await tell("scada", "AcknowledgeAlarm", { alarm_id }, { retain: true })).toMatchObject({
      code: "RETAINED",
      message: "commands must not be retained",
    });
    expect(commands.alarms()).toHaveLength(1);
  });
});

describe("the alarms that stand", () => {
  const topics = createTopics(base);

  test("are retained for the robot, the station and all, with cause and advice", () => {
    const said = new Map<string, Record<string, unknown>>();
    const values = createValueWriter({
      topics,
      sessionId: "s1",
      publish: (topic, text) => void said.set(topic, JSON.parse(text)),
      remove() {},
      tags: null,
      robots: () => [],
    });
    const alarms = [standingAlarm("BATTERY_LOW", "r1")];
    values.write({ kind: "robot_alarms", robotId: "r1", alarms, isOutOfService: false });
    values.write({ kind: "station_alarms", station: "dock", alarms: [] });
    values.write({ kind: "alarms", alarms });
    expect(said.get(topics.robot("r1").alarms)).toMatchObject({
      robot_id: "r1",
      out_of_service: false,
      count: 1,
      highest_severity: 300,
      session_id: "s1",
      alarms: [
        {
          code: "BATTERY_LOW",
          source: "robot",
          robot_id: "r1",
          priority: "low",
          cause: "the robot has worked for long without a charge",
          advice: "send it to a charger soon",
          robots: "can still drive until it is empty",
          active: true,
          acknowledged_by: null,
        },
      ],
    });
    expect(said.get(topics.stationAlarms("dock"))).toMatchObject({ station: "dock", count: 0, alarms: [] });
    expect(said.get(topics.alarms)).toMatchObject({ count: 1 });
  });

  test("may be acknowledged at the embedded broker under one's own name only", () => {
    const may = (topic: string) => mayPublish({ kind: "user", name: "hmi" }, `${base}/${topic}`, topics);
    expect(may("clients/hmi/command/AcknowledgeAlarm")).toBe(true);
    expect(may("clients/eva/command/AcknowledgeAlarm")).toBe(false);
    expect(may("alarms")).toBe(false);
  });
});
