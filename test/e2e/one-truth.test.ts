import { afterAll, beforeAll, expect, test } from "vitest";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { type Receiver, startReceiver } from "../simulator/webhooks/receiver.ts";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { followRobot } from "./followed-robot.ts";

/** The gateway and the service's webhooks render the same events, each with code of its own. */
let clock: ManualClock;
let receiver: Receiver;
let harness: E2eHarness;
/** Bodies of webhook deliveries. */
let delivered: Chronicle<string>;

beforeAll(async () => {
  clock = createManualClock(Date.now());
  receiver = await startReceiver();
  harness = await openE2eHarness({ clock, timeFactor: 1, unsafeWebhookTargets: { trustedCa: receiver.ca } });
  delivered = createChronicle<string>((body) => body);
  void collect(receiver, delivered);
  const client = await harness.simulator().client();
  for (const eventType of ["mission", "battery"]) {
    await client.call(FleetService.method.createWebhook, {
      url: receiver.url,
      eventType,
      selector: { selector: { case: "robotIds", value: { ids: ["cart-01", "serve-01", "base-01"] } } },
    });
  }
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

async function collect(from: Receiver, to: Chronicle<string>): Promise<void> {
  for (;;) to.add((await from.next()).body);
}

/** `{"robot_id":…,"state":…}` of a webhook, from the text of a message of the gateway. */
function asBody(message: string): string {
  return message.replace(/,"quality":"good","received_at":"[^"]*","session_id":"[^"]*"/, "");
}

function destinations(...names: readonly string[]) {
  return { goals: names.map((destinationId) => ({ destinationId })) };
}

test.each([
  ["cart-01", { cartMission: { traverseMission: destinations("Station D", "Station C") } }],
  ["serve-01", { serveMission: { deliveryMission: destinations("Table 2", "Table 3") } }],
  [
    "base-01",
    {
      baseMission: {
        navigateMission: { goal: { pose: { xMeters: 14.1, yMeters: 4.2, headingRadians: -0.1 } } },
      },
    },
  ],
] as const)(
  "every mission state of %s is, byte for byte, what the webhooks say of it",
  async (robotId, mission) => {
    const robot = await followRobot(harness, clock, robotId);
    const topic = `robots/${robotId}/mission`;
    const before = harness.mqtt.texts(topic).length;
    const reply = await harness.mqtt.send("CreateMission", robotId, { robotId, mission });
    expect(reply, JSON.stringify(reply)).toMatchObject({ outcome: "succeeded" });
    await robot.live("the mission has ended", () => robot.values("Mission.State").at(-1) === 5);

    const published = harness.mqtt.texts(topic).slice(before).map(asBody);
    expect(published.length).toBeGreaterThanOrEqual(2);
    await delivered.first("the delivery of the last event", (body) => body === published.at(-1));
    const told = delivered.entries.filter((body) =>
      body.startsWith(`{"robot_id":"${robotId}","state":{"metadata"`),
    );
    expect(published).toEqual(told.filter((body) => body.includes('"missions":')));
  },
);

test("every battery state is, byte for byte, what the webhooks say of it", async () => {
  for (const percent of [55, 0, 100]) {
    const from = harness.mqtt.received.entries.length;
    harness.simulator().control.happen({ kind: "battery", robotId: "cart-01", percent });
    const shown = `"charge_percent":${percent},`;
    const { text } = await harness.mqtt.on("robots/cart-01/battery", (one) => one.includes(shown), from);
    await delivered.first("its delivery", (body) => body === asBody(text));
  }
});
