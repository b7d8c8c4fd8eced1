import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { FilterOperator } from "../../../src/wire/fleet/v1/webhook_pb.js";
import type { FleetClient } from "../../support/fleet-client.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const { method } = FleetService;
const once = { attempts: 1, backoff: { baseMs: 1, capMs: 1 }, queueLimit: 50 };
let receiver: Receiver;
let simulator: RunningSimulator;
let client: FleetClient;
let robotId: string;

beforeEach(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({
    unsafeWebhookTargets: { trustedCa: receiver.ca },
    webhookDelivery: { attempts: 3, backoff: { baseMs: 5, capMs: 20 }, queueLimit: 50 },
  });
  client = await simulator.client();
  const [locationId = ""] = simulator.endpoints.locations;
  const stream = client.stream(method.subscribeMissionStatus, {
    selector: { targetId: { case: "locationId", value: locationId } },
  });
  robotId = (await stream.next()).robotId;
  stream.cancel();
});
afterEach(async () => {
  await simulator.stop();
  await receiver.close();
});

const robots = (...ids: string[]) => ({ selector: { case: "robotIds" as const, value: { ids } } });
const setBattery = (percent: number) => simulator.control.happen({ kind: "battery", robotId, percent });

test("an event is delivered in the envelope, snake_case, with the service's headers over the custom ones", async () => {
  const { webhook } = await client.call(method.createWebhook, {
    url: receiver.url,
    eventType: "battery",
    selector: robots(robotId),
    options: { headers: { "X-Secret": "{{robot_id}}", "content-type": "text/plain" } },
  });
  setBattery(42);
  const { headers, body } = await receiver.next();
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["x-secret"]).toBe("{{robot_id}}");
  expect(headers["x-service-webhook-id"]).toBe(webhook?.id);
  expect(headers["x-service-webhook-event-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(body).toMatch(
    new RegExp(
      `^\\{"robot_id":"${robotId}","state":\\{"metadata":\\{"timestamp":"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z","sequence_number":\\d+\\},` +
        '"battery_state":\\{"charge_percent":42,"state":"STATE_[A-Z]+","charge_method":"CHARGE_METHOD_[A-Z]+"\\}\\}\\}$',
    ),
  );
});

test("a filter lets only equal values through", async () => {
  await client.call(method.createWebhook, {
    url: receiver.url,
    eventType: "battery",
    selector: { selector: { case: "locationIds", value: { ids: [...simulator.endpoints.locations] } } },
    filter: { field: "state.battery_state.charge_percent", operator: FilterOperator.IN, values: ["17"] },
  });
  setBattery(42);
  setBattery(17);
  expect(JSON.parse((await receiver.next()).body)).toMatchObject({
    state: { battery_state: { charge_percent: 17 } },
  });
});

test("a template replaces the body and keeps its shape", async () => {
  await client.call(method.createWebhook, {
    url: receiver.url,
    eventType: "battery",
    selector: robots(robotId),
    options: {
      requestTemplate: {
        text: "{{robot_id}} is at {{state.battery_state.charge_percent}} %",
        nested: [1, true, null, { at: "{{state.metadata.sequence_number}}" }],
      },
    },
  });
  setBattery(42);
  const body = JSON.parse((await receiver.next()).body);
  expect(body).toEqual({
    text: `${robotId} is at 42 %`,
    nested: [1, true, null, { at: expect.stringMatching(/^\d+$/) }],
  });
});

test("a retryable failure is retried with the same event id, and a later success counts", async () => {
  const answers = [503, "cut", 200] as const;
  let at = 0;
  receiver.answer(() => answers[at++] ?? 200);
  await client.call(method.createWebhook, {
    url: receiver.url,
    eventType: "battery",
    selector: robots(robotId),
  });
  setBattery(42);
  const attempts = [await receiver.next(), await receiver.next(), await receiver.next()];
  expect(new Set(attempts.map(({ headers }) => headers["x-service-webhook-event-id"])).size).toBe(1);
  setBattery(41);
  const next = await receiver.next();
  expect(next.headers["x-service-webhook-event-id"]).not.toBe(
    attempts[0]?.headers["x-service-webhook-event-id"],
  );
});

test("a redirect is a permanent failure, is not followed, and 20 of them disable the subscription", async () => {
  receiver.answer(() => ({ redirect: receiver.url }));
  await client.call(method.createWebhook, {
    url: receiver.url,
    eventType: "battery",
    selector: robots(robotId),
  });
  const read = async () => (await client.call(method.listWebhooks, {})).webhooks[0];
  for (let percent = 50; percent > 30; percent -= 1) setBattery(percent);
  for (let n = 0; n < 20; n += 1) await receiver.next();
  await expect.poll(async () => (await read())?.enabled).toBe(false);
  const disabled = await read();
  expect(disabled?.disabledReason).toMatch(/302/);
  expect(disabled?.disabledAt).toBeDefined();
  setBattery(20);
  expect(receiver.count()).toBe(20);
});

test("subscriptions belong to their distributor, who alone sees and deletes them", async () => {
  const { webhook } = await client.call(method.createWebhook, {
    url: receiver.url,
    eventType: "mission",
    selector: robots(robotId),
  });
  const other = await simulator.client({
    token: await simulator.token(simulator.endpoints.otherCredentials),
  });
  expect((await other.call(method.listWebhooks, {})).webhooks).toEqual([]);
  await expect(other.call(method.deleteWebhook, { id: webhook?.id ?? "" })).rejects.toMatchObject({
    code: status.NOT_FOUND,
  });
  await client.call(method.deleteWebhook, { id: webhook?.id ?? "" });
  expect((await client.call(method.listWebhooks, {})).webhooks).toEqual([]);
});

test("a name that points inside when the delivery is made is a permanent failure: nothing is sent", async () => {
  let address = "93.184.216.34";
  const guarded = await startSimulator({ resolve: async () => [address], webhookDelivery: once });
  const caller = await guarded.client();
  const [locationId = ""] = guarded.endpoints.locations;
  await caller.call(method.createWebhook, {
    url: receiver.url.replace("localhost", "hooks.example"),
    eventType: "battery",
    selector: { selector: { case: "locationIds", value: { ids: [locationId] } } },
  });
  address = "127.0.0.1";
  for (let percent = 50; percent > 30; percent -= 1)
    guarded.control.happen({ kind: "battery", robotId, percent });
  const read = async () => (await caller.call(method.listWebhooks, {})).webhooks[0];
  await expect.poll(async () => (await read())?.enabled).toBe(false);
  expect((await read())?.disabledReason).toMatch(/127\.0\.0\.1 is no public address/);
  expect(receiver.count()).toBe(0);
  await guarded.stop();
});
