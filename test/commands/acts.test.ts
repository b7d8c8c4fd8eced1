import { describe, expect, it } from "vitest";
import type { ActRequest } from "../../src/contracts/acts.ts";
import { type ActName, type ActRule, acts } from "../../src/domain/acts.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import {
  type CommandsHarness,
  createHarness,
  mission,
  missions,
  plc,
  sharedCommands,
} from "./commands-harness.ts";

const scada = { protocol: "mqtt", name: "scada" } as const;
const tv = { protocol: "mqtt", name: "tv" } as const;
const rights = [
  { source: plc, role: "engineer" },
  { source: scada, role: "operator" },
] as const;
const longText = "must be text of 1 to 256 printable characters";
const station = "Dock";
const robot_id = "AMR01";
const stations = [{ name: station, destinations: ["D1"], heartbeatMs: 5_000 }] as const;

async function harnessAtDock(): Promise<CommandsHarness> {
  const harness = await createHarness({ stations, options: { rights } });
  await harness.see(missions(robot_id, harness.clock.nowMs(), mission("m", "D1")));
  return harness;
}

function raise({ alarmRegistry, alarms }: CommandsHarness): string {
  const condition = { holds: true, text: "nobody can tell" };
  alarmRegistry.state({ kind: "robot", robotId: robot_id }, "BATTERY_LOW", condition);
  return alarms()[0]?.id ?? "none";
}

/** The log of commands, oldest first: source, act, request and robot. */
const logged = ({ log }: CommandsHarness) =>
  log
    .newest()
    .filter(({ operation }) => operation in acts)
    .map(({ source, operation, requestJson, robotId, ending }) =>
      [source.name, operation, requestJson, robotId, ending?.outcome, ending?.code].join(" "),
    )
    .reverse();

describe("the table of acts", () => {
  it("has these acts, each with its role and its fields", () => {
    const rows = Object.entries<ActRule>(acts).map(([name, { role, only, fields }]) => {
      const list = Object.entries(fields).map(
        ([field, { type, isOptional }]) => `${field}${isOptional ? "?" : ""}: ${type}`,
      );
      return `${name} ${role} ${only ?? "all"} (${list.join(", ")})`;
    });
    expect(rows).toEqual([
      "Hold operator all (robot_id: text, hold: boolean, user?: text)",
      "HoldAll operator all (hold: boolean, user?: text)",
      "AcknowledgeAlarm operator all (alarm_id: text, comment?: text)",
      "CommentAlarm operator all (alarm_id: text, comment: text)",
      "SetOutOfService operator all (robot_id: text, out_of_service: boolean)",
      "LeaseRobot null all (station: text, robot_id: text)",
      "ReleaseRobot null all (station: text, robot_id: text)",
      "OverrideLease engineer all (robot_id: text)",
      "Heartbeat null all (station: text, counter: integer)",
      "Permit null opcua (station: text, permit: boolean)",
      "ResetCounters null all (station: text)",
    ]);
  });

  it.each<[ActName, unknown, string]>([
    ["Hold", [true], "Hold must be a JSON object with robot_id, hold and user"],
    ["ResetCounters", null, "ResetCounters must be a JSON object with station"],
    ["Hold", { hold: true }, "robot_id: is missing"],
    ["Hold", { robot_id: "", hold: true }, "robot_id: must be text of 1 to 256 printable characters"],
    ["Hold", { robot_id: "a\nb", hold: true }, "robot_id: must be text of 1 to 256 printable characters"],
    ["Hold", { robot_id, hold: "true" }, "hold: must be true or false"],
    [
      "Hold",
      { robot_id, hold: true, robot: 1 },
      '"robot": is not a field of Hold; it has robot_id, hold and user',
    ],
    ["Hold", { robot_id, hold: false, user: null }, "user: must be text of 1 to 256 printable characters"],
    [
      "HoldAll",
      { hold: true, user: "opcua:plc" },
      "user: only with hold false: it names the user whose hold is lifted",
    ],
    ["Heartbeat", { station, counter: 1.5 }, "counter: must be a whole number"],
    ["LeaseRobot", { station: "Moon", robot_id }, 'there is no station "Moon"'],
    ["ReleaseRobot", { station: "Moon", robot_id }, 'there is no station "Moon"'],
    ["Heartbeat", { station: "Moon", counter: 1 }, 'there is no station "Moon"'],
    ["ResetCounters", { station: "Moon" }, 'there is no station "Moon"'],
    ["AcknowledgeAlarm", { alarm_id: "x" }, 'alarm_id: there is no alarm with the id "x"'],
    ["CommentAlarm", { alarm_id: "x", comment: "y" }, 'alarm_id: there is no alarm with the id "x"'],
    ["CommentAlarm", { alarm_id: "x", comment: "" }, `comment: ${longText}`],
    ["CommentAlarm", { alarm_id: "x", comment: "y".repeat(257) }, `comment: ${longText}`],
    ["AcknowledgeAlarm", { alarm_id: "x", comment: "a\nb" }, `comment: ${longText}`],
  ])("MALFORMED: refuses %s %j, and audits it", async (name, fields, message) => {
    const harness = await harnessAtDock();
    const outcome = await harness.acts.answer(name, { source: scada, requestId: "7", fields });
    expect(outcome).toMatchObject({ outcome: "refused", code: "MALFORMED", message, retrySafe: true });
    expect(harness.audit).toMatchObject([
      { event: "command", operation: name, user: "scada", request_id: "7", request: null, message },
    ]);
  });

  it("UNKNOWN_OPERATION: has a permit for OPC UA alone", async () => {
    const harness = await harnessAtDock();
    expect(await harness.act("Permit", scada, { station, permit: true })).toMatchObject({
      code: "UNKNOWN_OPERATION",
      message: 'there is no operation "Permit"',
    });
    expect(await harness.act("Permit", plc, { station, permit: true })).toMatchObject({
      message: 'station "Dock" requires no permit',
    });
  });

  it("NOT_ALLOWED: needs the role, and whoever lacks it learns nothing", async () => {
    const harness = await harnessAtDock();
    const alarm_id = raise(harness);
    const asked: ReadonlyArray<[ActName, object, string]> = [
      ["Hold", { robot_id, hold: true }, "command robots, which needs operator"],
      ["HoldAll", { hold: true }, "command robots, which needs operator"],
      ["Hold", { robot_id: "nope", hold: true }, "command robots, which needs operator"],
      ["AcknowledgeAlarm", { alarm_id }, "acknowledge alarms, which needs operator"],
      ["AcknowledgeAlarm", { alarm_id: "x" }, "acknowledge alarms, which needs operator"],
      ["CommentAlarm", { alarm_id, comment: "y" }, "comment on alarms, which needs operator"],
      [
        "SetOutOfService",
        { robot_id, out_of_service: true },
        "take robots out of service, which needs operator",
      ],
      ["OverrideLease", { robot_id }, "send an override, which needs engineer"],
      ["LeaseRobot", { station, robot_id }, "command robots, which needs operator"],
      ["ResetCounters", { station }, "command robots, which needs operator"],
    ];
    for (const [name, fields, act] of asked)
      expect(await harness.act(name, tv, fields), name).toMatchObject({
        code: "NOT_ALLOWED",
        message: expect.stringContaining(`mqtt "tv" may not ${act}: no rule names it, so it may only read`),
      });
    expect([harness.dispatcher.holds.all(), harness.reset, harness.alarms().length]).toEqual([[], [], 1]);
  });

  it("SHUTTING_DOWN: changes nothing while the gateway stops", async () => {
    const harness = await harnessAtDock();
    void harness.dispatcher.close(0);
    const outcome = await harness.act("LeaseRobot", scada, { station, robot_id });
    expect(outcome).toMatchObject({
      code: "SHUTTING_DOWN",
      message: "the gateway is shutting down; nothing is changed",
    });
  });
});

describe("what an act has changed", () => {
  it("is in the log of commands and in the audit log once, however often it comes", async () => {
    const harness = await harnessAtDock();
    const alarm_id = raise(harness);
    for (const _again of [1, 2]) {
      await harness.act("Hold", scada, { robot_id, hold: true });
      await harness.act("HoldAll", scada, { hold: true });
      await harness.act("AcknowledgeAlarm", scada, { alarm_id, comment: "seen" });
      await harness.act("CommentAlarm", scada, { alarm_id, comment: "a jam" });
      await harness.act("SetOutOfService", scada, { robot_id: "AMR02", out_of_service: true });
      await harness.act("LeaseRobot", scada, { station, robot_id });
      await harness.act("Heartbeat", scada, { station, counter: _again });
    }
    await harness.act("Hold", plc, { robot_id, hold: false, user: "mqtt:scada" });
    await harness.act("OverrideLease", plc, { robot_id });
    await harness.act("ResetCounters", plc, { station });
    expect(logged(harness)).toEqual([
      `scada Hold {"robot_id":"AMR01","hold":true} AMR01 succeeded OK`,
      `scada HoldAll {"hold":true}  succeeded OK`,
      `scada AcknowledgeAlarm {"alarm_id":"${alarm_id}","comment":"seen"} AMR01 succeeded OK`,
      `scada CommentAlarm {"alarm_id":"${alarm_id}","comment":"a jam"} AMR01 succeeded OK`,
      `scada SetOutOfService {"robot_id":"AMR02","out_of_service":true} AMR02 succeeded OK`,
      `scada LeaseRobot {"station":"Dock","robot_id":"AMR01"} AMR01 succeeded OK`,
      `plc Hold {"robot_id":"AMR01","hold":false,"user":"mqtt:scada"} AMR01 succeeded OK`,
      `plc OverrideLease {"robot_id":"AMR01"} AMR01 succeeded OK`,
      `plc ResetCounters {"station":"Dock"}  succeeded OK`,
    ]);
    expect(harness.reset).toEqual([station]);
    const lines = harness.audit.filter(({ event }) => event !== "command");
    expect(lines.map(({ event, operation }) => `${event} ${operation}`)).toEqual([
      "hold Hold",
      "hold HoldAll",
      "alarm AcknowledgeAlarm",
      "alarm CommentAlarm",
      "alarm SetOutOfService",
      "lease LeaseRobot",
      "hold Hold",
      "lease OverrideLease",
      "counters ResetCounters",
    ]);
  });

  it("is in the log after a restart too, as far as the audit log has it", async () => {
    const before = await harnessAtDock();
    await before.act("Hold", scada, { robot_id, hold: true });
    await before.act("LeaseRobot", scada, { station, robot_id });
    await before.clock.settle(7_000);
    const lines = before.audit.map((record) => JSON.stringify(record)).reverse();
    const auditLines = async (take: (line: string) => boolean) => lines.every(take);
    const after = await createHarness({ auditLines });
    expect(logged(after)).toEqual(logged(before));
    expect(logged(after)).toHaveLength(2);
    expect(before.audit.at(-1)).toMatchObject({
      lease: "ended",
      reason: "the station's heartbeat has lapsed",
    });
  });
});

it("a refused tag that is written in every cycle has one line until something else is written", async () => {
  const harness = await harnessAtDock();
  const write = (fields: object, more: Partial<ActRequest> = {}) =>
    harness.acts.run("Hold", { source: tv, fields, isTag: true, ...more }) as Outcome;
  for (const _cycle of [1, 2, 3]) expect(write({ robot_id, hold: true }).code).toBe("NOT_ALLOWED");
  write({ robot_id, hold: false });
  write({ robot_id: "AMR02", hold: true });
  write({ robot_id, hold: false });
  expect(harness.audit.map(({ robot_id: robotId }) => robotId)).toEqual(["AMR01", "AMR01", "AMR02"]);
});

it("each program of a user has a heartbeat of its own, and its first number is none", async () => {
  const harness = await harnessAtDock();
  await harness.act("LeaseRobot", scada, { station, robot_id });
  const beat = (session: string, counter: number) =>
    harness.acts.run("Heartbeat", { source: scada, session, fields: { station, counter } }) as Outcome;
  await harness.clock.settle(4_000);
  beat("a", 1);
  beat("b", 2);
  expect(beat("a", 1).responseJson).toBe('{"leased":["AMR01"]}');
  await harness.clock.settle(2_000);
  expect(beat("a", 2).responseJson).toBe('{"leased":[]}');
});

it("a member of a cluster that stands by takes no act but the begin of a hold", async () => {
  const shared = sharedCommands({ isLeading: () => false });
  const harness = await createHarness({ stations, options: { rights }, shared });
  await harness.see(missions(robot_id, harness.clock.nowMs(), mission("m", "D1")));
  const fields: Readonly<Record<ActName, object>> = {
    Hold: { robot_id, hold: false },
    HoldAll: { hold: false },
    AcknowledgeAlarm: { alarm_id: raise(harness) },
    CommentAlarm: { alarm_id: raise(harness), comment: "seen" },
    SetOutOfService: { robot_id, out_of_service: true },
    LeaseRobot: { station, robot_id },
    ReleaseRobot: { station, robot_id },
    OverrideLease: { robot_id },
    Heartbeat: { station, counter: 1 },
    Permit: { station, permit: true },
    ResetCounters: { station },
  };
  for (const name of Object.keys(fields) as ActName[]) {
    expect(await harness.act(name, plc, fields[name])).toMatchObject({ outcome: "refused", code: "STANDBY" });
  }
  expect(await harness.act("Hold", plc, { robot_id, hold: true })).toMatchObject({ outcome: "succeeded" });
  expect(await harness.act("HoldAll", plc, { hold: true })).toMatchObject({ outcome: "succeeded" });
});
