import type { VariantOptions } from "node-opcua";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Robots } from "../../src/northbound/web/api/robot.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { int32, text } from "./plc.ts";

let harness: E2eHarness;

beforeAll(async () => {
  harness = await openE2eHarness();
  await harness.plc.shows("Robots.cart-01.ReadyForCommand", true);
});
afterAll(() => harness.close());

const slot = (name: string) => `Robots.cart-01.MissionSlot.${name}`;
const belt = (name: string) => `Robots.cart-01.ConveyorSlot.${name}`;
const expiry = '"expires_at":"2100-01-01T00:00:00.000Z"';
const goal = '{"goal":{"destinationId":"Home 1"}}';

/** Commands that have reached the service, by operation. */
function sent(): readonly string[] {
  return harness.record("cart-01").flatMap(({ fact }) => (fact.what === "received" ? [fact.operation] : []));
}

/** Sends a command that is in order, so that whatever was sent before it has been dealt with. */
async function afterAllThat(id: string): Promise<void> {
  const stop = { robotId: "cart-01", commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" }] };
  const reply = await harness.mqtt.send("ControlConveyor", id, stop);
  expect(reply).toMatchObject({ outcome: "succeeded" });
}

/** How many commands the intake says that it has refused. */
async function refusedMessages(): Promise<unknown> {
  const health = await fetch(`${harness.webUrl}/healthz`);
  const { components } = (await health.json()) as {
    components: Record<string, { figures: Record<string, number> }>;
  };
  return components.commands?.figures.refused_at_intake;
}

test("a command without an id is counted and logged, and the gateway goes on", async () => {
  const before = sent().length;
  expect(await refusedMessages()).toBe(0);
  const logged = harness.log.entries.length;
  const bad = ["{", "\u0000", "", "null", `{${expiry},"request":{}}`, '{"id":"","request":{}}'];
  for (const message of bad) await harness.mqtt.sendText("CreateMission", message);
  await afterAllThat("after no id");
  expect(await refusedMessages()).toBe(bad.length);
  const lines = harness.log.entries.slice(logged).filter((line) => line.includes("a command was refused"));
  expect(lines).toHaveLength(bad.length);
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({
      protocol: "mqtt",
      user: "e2e",
      operation: "CreateMission",
      id: null,
      code: "MALFORMED",
    });
  }
  expect(sent().slice(before)).toEqual(["ControlConveyor"]);
});

test.each([
  ["no JSON object", "CreateMission", '["b1"]', null],
  ["no request", "CreateMission", `{"id":"b2",${expiry}}`, /^request: is missing/],
  [
    "a request that is none",
    "CreateMission",
    `{"id":"b3",${expiry},"request":7}`,
    /^request: must be an object/,
  ],
  ["an unknown field of the envelope", "CreateMission", `{"id":"b4",${expiry},"requests":{}}`, /"requests"/],
  [
    "an unknown field of the request",
    "CreateMission",
    `{"id":"b5",${expiry},"request":{"robot":"cart-01"}}`,
    /robot/,
  ],
  ["a wrong type", "CreateMission", `{"id":"b6",${expiry},"request":{"robotId":1}}`, /robot_?[iI]d/],
  ["no mission", "CreateMission", `{"id":"b7",${expiry},"request":{"robotId":"cart-01"}}`, /mission/],
  ["an expiry that is none", "CreateMission", '{"id":"b8","expires_at":"soon","request":{}}', /^expires_at/],
  [
    "no expiry for what moves",
    "CreateMission",
    `{"id":"b9","request":{"robotId":"cart-01","mission":{"baseMission":{"navigateMission":${goal}}}}}`,
    /expires_at/,
  ],
  ["an operation that there is not", "Fly", `{"id":"b10",${expiry},"request":{}}`, /Fly/],
  [
    "a number for an id",
    "CreateMission",
    `{"id":11,${expiry},"request":{}}`,
    /^id: must be 1 to 128 printable ASCII characters/,
  ],
] as const)(
  "a command with %s is refused with a reason, and not sent",
  async (_what, operation, message, reason) => {
    const before = sent().length;
    await harness.mqtt.sendText(operation, message);
    const id = /"id":"?(\w+)/.exec(message)?.[1];
    if (id !== undefined && reason !== null) {
      const reply = JSON.parse(await harness.mqtt.replyText(id)) as Record<string, unknown>;
      expect(reply).toMatchObject({
        id,
        outcome: "refused",
        retry_safe: true,
        response: null,
        duplicate: false,
      });
      expect(reply.message).toMatch(reason);
    }
    await afterAllThat(`after ${message.slice(0, 12).replace(/\W/g, "")}`);
    expect(sent().slice(before)).toEqual(["ControlConveyor"]);
  },
);

test.each<readonly [string, string, VariantOptions, string]>([
  ["a text as an operation", slot("Operation"), text("1"), "BadTypeMismatch"],
  ["a Double as an operation", slot("Operation"), { dataType: "Double", value: 1 }, "BadTypeMismatch"],
  ["an operation that there is not", slot("Operation"), int32(99), "BadOutOfRange"],
  ["a number as a destination", slot("Destination"), int32(1), "BadTypeMismatch"],
  ["a destination of 255 bytes", slot("Destination"), text("x".repeat(255)), "BadOutOfRange"],
  [
    "more destinations than a slot has",
    slot("Destinations"),
    { dataType: "String", arrayType: "Array", value: new Array(17).fill("Home 1") },
    "BadOutOfRange",
  ],
  ["a motor command that there is not", belt("MotorCommand"), int32(4), "BadOutOfRange"],
  ["a text as a conveyor", belt("ConveyorIndex"), text("1"), "BadTypeMismatch"],
  ["a ticket that cannot be closed", slot("RequestId"), int32(-2_147_483_648), "BadOutOfRange"],
  ["a text as a ticket", slot("RequestId"), text("1"), "BadTypeMismatch"],
])(
  "%s written to a slot gets a status code, and no call leaves, ticket or not",
  async (what, tag, value, status) => {
    const before = sent().length;
    expect(await harness.plc.write([tag, value])).toEqual([status]);

    // The same with everything else in order, the ticket too: the wrong write still starts nothing.
    const ofSlot = tag.slice(0, tag.lastIndexOf("."));
    const ticket = await harness.plc.nextId(`${ofSlot}.NextId`);
    const inOrder = ofSlot.endsWith("MissionSlot")
      ? ([
          [slot("Operation"), int32(1)],
          [slot("Destination"), text("Home 1")],
        ] as const)
      : ([
          [belt("ConveyorIndex"), int32(1)],
          [belt("MotorCommand"), int32(2)],
        ] as const);
    const request = tag.endsWith("RequestId") ? [] : [[`${ofSlot}.RequestId`, int32(ticket)] as const];
    const statuses = await harness.plc.write(...inOrder, [tag, value], ...request);
    expect(statuses[inOrder.length]).toBe(status);
    await afterAllThat(`after ${what}`);
    expect(sent().slice(before)).toEqual(["ControlConveyor"]);
  },
);

test("tags that only the gateway writes cannot be written", async () => {
  const tags = ["Robots.cart-01.Battery.ChargePercent", slot("NextId"), slot("DoneId"), "Gateway.Heartbeat"];
  for (const tag of tags) expect(await harness.plc.write([tag, int32(1)])).toEqual(["BadNotWritable"]);
  expect(await harness.plc.write(["Robots.nobody.MissionSlot.Operation", int32(1)])).toEqual([
    "BadNodeIdUnknown",
  ]);
});

test("after all of it the gateway is up, and says so", async () => {
  const health = await fetch(`${harness.webUrl}/healthz`);
  expect(health.status).toBe(200);
  expect((await fetch(harness.webUrl)).status).toBe(200);
  const { robots } = (await (await fetch(`${harness.webUrl}/api/v1/robots`)).json()) as Robots;
  const qualities = new Map(robots.map(({ robot_id, quality }) => [robot_id, quality]));
  for (const robotId of ["cart-01", "serve-02", "base-01"]) expect(qualities.get(robotId)).toBe("good");
  expect(qualities.has("globex-01")).toBe(false);
});
