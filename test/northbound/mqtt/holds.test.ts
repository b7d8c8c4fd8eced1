import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventJson } from "../../../src/models/event.ts";
import { mayPublish } from "../../../src/northbound/mqtt/broker/rights.ts";
import { createTagWriter } from "../../../src/northbound/mqtt/tags.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { createValueWriter } from "../../../src/northbound/mqtt/values.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { type CommandsHarness, createHarness, mission, missions } from "../../commands/commands-harness.ts";
import { type OpenedLink, openLink } from "./link-harness.ts";
import { base } from "./mqtt-harness.ts";

const rights = [
  { source: { protocol: "mqtt", name: "line1" }, role: "operator", robots: ["AMR01"] },
  { source: { protocol: "mqtt", name: "scada" }, role: "operator" },
  { source: { protocol: "mqtt", name: "chief" }, role: "engineer" },
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

/** Holds a robot, or (null) all robots, for a client and waits for its answer. */
const tell = (client: string, robot_id: string | null, fields: object) =>
  robot_id === null
    ? link.tell(client, "command/HoldAll", fields)
    : link.tell(client, "command/Hold", { robot_id, ...fields });

const held = (robotId: string | null) => commands.dispatcher.holds.holdState(robotId).by;

describe("a hold over MQTT", () => {
  test("is the client's own, on one robot, until it lifts it", async () => {
    expect(await tell("line1", "AMR01", { hold: true })).toMatchObject({
      outcome: "succeeded",
      code: "OK",
      retry_safe: true,
      response: { held: true, by: ["mqtt:line1"] },
      duplicate: false,
    });
    await commands.clock.settle(50);
    expect(commands.calls).toMatchObject([{ operation: "Halt" }]);
    expect(await tell("scada", "AMR01", { hold: true })).toMatchObject({
      response: { by: ["mqtt:line1", "mqtt:scada"] },
    });
    expect(await tell("line1", "AMR01", { hold: false })).toMatchObject({
      response: { held: true, by: ["mqtt:scada"] },
    });
  });

  test("is of all robots by an act of its own", async () => {
    expect(await tell("scada", null, { hold: true })).toMatchObject({
      response: { held: true, by: ["mqtt:scada"] },
    });
    expect([held(null), held("AMR02")]).toEqual([["mqtt:scada"], ["mqtt:scada (all)"]]);
    expect(await tell("line1", null, { hold: true })).toMatchObject({
      code: "NOT_ALLOWED",
      message: 'mqtt "line1" may not command robots, which needs operator: rights[0] names only AMR01',
    });
  });

  test("is lifted for its user by an engineer", async () => {
    await tell("scada", "AMR01", { hold: true });
    const lift = { hold: false, user: "mqtt:scada" };
    expect(await tell("line1", "AMR01", lift)).toMatchObject({ code: "NOT_ALLOWED" });
    expect(await tell("chief", "AMR01", lift)).toMatchObject({ response: { held: false, by: [] } });
  });
});

describe("refusals with a reply", () => {
  test.each<[string, string, object, string, string]>([
    ["no hold", "AMR01", {}, "MALFORMED", "hold: is missing"],
    [
      "a user beside a hold that begins",
      "AMR01",
      { hold: true, user: "mqtt:line1" },
      "MALFORMED",
      "user: only with hold false: it names the user whose hold is lifted",
    ],
    ["a robot that is none", "nope", { hold: true }, "UNKNOWN_ROBOT", 'robot "nope" was never heard of'],
  ])("%s", async (_what, robotId, fields, code, message) => {
    await commands.clock.settle(10_000);
    const answer = await tell("scada", robotId, fields);
    expect(answer).toMatchObject({ outcome: "refused", code, message, retry_safe: true, response: null });
    expect([held("AMR01"), held(null)]).toEqual([[], []]);
    expect(commands.audit.at(-1)).toMatchObject({ event: "command", operation: "Hold", user: "scada", code });
  });

  test("RETAINED: what the broker would say again at every start", async () => {
    const payload = '{"id":"kept","hold":true}';
    const options = { qos: 1, retain: true } as const;
    for (const act of ["Hold", "HoldAll"])
      await link.clients.client.publishAsync(`${base}/clients/scada/command/${act}`, payload, options);
    expect(JSON.parse((await link.clients.on("clients/scada/reply/kept")).text)).toMatchObject({
      code: "RETAINED",
      message: "commands must not be retained",
    });
    expect([held("AMR01"), held(null)]).toEqual([[], []]);
  });
});

test("the embedded broker lets a client hold in its own name only, and nobody else show what holds", () => {
  const topics = createTopics(base);
  const may = (topic: string) => mayPublish({ kind: "user", name: "scada" }, `${base}/${topic}`, topics);
  expect(may("clients/scada/command/Hold")).toBe(true);
  const others = ["clients/line1/command/Hold", "clients/scada/hold", "hold", "robots/AMR01/hold"];
  expect(others.map(may)).toEqual([false, false, false, false]);
  expect(topics.mayAnswerOn("scada", `${base}/clients/scada/command/Hold`)).toBe(false);
});

test("what holds a robot, and all robots, is retained state, and a flat tag", () => {
  const topics = createTopics(base);
  const shown: Array<readonly [string, string]> = [];
  const publish = (topic: string, payload: string) => void shown.push([topic.slice(base.length), payload]);
  const tags = createTagWriter(topics, publish, new Map(), systemClock);
  const parts = { topics, sessionId: "s1", publish, remove: () => {}, tags, robots: () => [] };
  const { write } = createValueWriter(parts);
  const hold = { isHeld: true, by: ["opcua:plc1", "mqtt:scada (all)"], isStored: false };
  write({ kind: "hold", robotId: "r1", hold });
  write({ kind: "hold", robotId: "r1", hold });
  write({ kind: "hold_all", hold: { ...hold, by: ["mqtt:scada"], isStored: true } });
  expect(shown.map(([topic]) => topic)).toEqual(["/robots/r1/hold", "/robots/r1/tags/held", "/hold"]);
  expect(JSON.parse(shown[0]?.[1] ?? "")).toEqual({
    robot_id: "r1",
    held: true,
    by: ["opcua:plc1", "mqtt:scada (all)"],
    stored: false,
    session_id: "s1",
  });
  expect(shown[1]?.[1]).toBe("true");
  expect(JSON.parse(shown[2]?.[1] ?? "")).toEqual({
    held: true,
    by: ["mqtt:scada"],
    stored: true,
    session_id: "s1",
  });
});

test("its begin and its end are events", () => {
  const event = {
    kind: "hold",
    eventId: "s1.h1",
    robotId: "r1",
    atMs: Date.UTC(2026, 0, 2),
    owner: { protocol: "opcua", name: "plc1" },
    to: "held",
    by: { protocol: "opcua", name: "plc1" },
  } as const;
  expect(JSON.parse(eventJson(event, "s1"))).toEqual({
    event_id: "s1.h1",
    robot_id: "r1",
    at: "2026-01-02T00:00:00.000Z",
    session_id: "s1",
    protocol: "opcua",
    user: "plc1",
    from: "free",
    to: "held",
    by: { protocol: "opcua", user: "plc1" },
  });
  const lifted = eventJson({ ...event, to: "free", by: { protocol: "cli", name: "eva" } }, "s1");
  expect(JSON.parse(lifted)).toMatchObject({
    from: "held",
    to: "free",
    by: { protocol: "cli", user: "eva" },
  });
});
