import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { contractTests, restAnswer, type Service } from "./service.ts";

/** Addresses of host names, as a test's network would have them. */
const addresses = new Map<string, readonly string[]>([
  ["hooks.example", ["93.184.216.34"]],
  ["inside.example", ["10.0.0.7"]],
  ["both.example", ["93.184.216.34", "192.168.0.1"]],
  ["moving.example", ["93.184.216.34"]],
]);

const { onBoth, overHttp } = contractTests({
  resolve: async (host) => addresses.get(host) ?? Promise.reject(new Error(`${host} is not known`)),
  webhookDelivery: { attempts: 1, backoff: { baseMs: 1, capMs: 1 }, queueLimit: 100 },
});

/** A request that follows every rule, with one part of it changed. */
function webhook(change: JsonObject = {}): JsonObject {
  return {
    url: "https://hooks.example/events",
    eventType: "mission",
    selector: { locationIds: { ids: ["annex"] } },
    ...change,
  };
}

/** Holds that every change makes the request INVALID_ARGUMENT. */
async function refused({ code }: Service, changes: readonly JsonObject[]): Promise<void> {
  for (const change of changes) {
    const said = JSON.stringify(change).slice(0, 200);
    expect(`${await code("CreateWebhook", webhook(change))} ${said}`).toBe(`INVALID_ARGUMENT ${said}`);
  }
}

/** Holds that every change leaves the request a good one. */
async function accepted({ code }: Service, changes: readonly JsonObject[]): Promise<void> {
  for (const change of changes) {
    const said = JSON.stringify(change).slice(0, 200);
    expect(`${await code("CreateWebhook", webhook(change))} ${said}`).toBe(`OK ${said}`);
  }
}

const operator = "FILTER_OPERATOR_IN";
const filter = (field: string, ...values: string[]): JsonObject => ({ filter: { field, operator, values } });
const template = (requestTemplate: JsonObject): JsonObject => ({ options: { requestTemplate } });
const url = (value: string): JsonObject => ({ url: value });

onBoth("WHK-01 url: required, https", async (service) => {
  await refused(
    service,
    ["", "http://hooks.example/", "hooks.example", "https://", "ftp://hooks.example/"].map(url),
  );
  await accepted(service, ["https://hooks.example", "https://hooks.example:8443/a?b=c"].map(url));
});

onBoth(
  "WHK-02 url: literal loopback, private, link-local and other addresses that are not public are rejected",
  async (service) => {
    const inside = [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "10.0.0.1",
      "172.16.0.1",
      "192.168.1.1",
      "169.254.169.254",
    ];
    const others = [
      "0.0.0.0",
      "100.64.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "[::1]",
      "[::]",
      "[fe80::1]",
      "[fc00::1]",
    ];
    const wrapped = ["[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"];
    await refused(
      service,
      [...inside, ...others, ...wrapped].map((host) => url(`https://${host}/`)),
    );
    await accepted(
      service,
      ["93.184.216.34", "[2606:2800:220:1::1]"].map((host) => url(`https://${host}/`)),
    );
  },
);

onBoth(
  "WHK-03 url: a name is rejected when it does not resolve, or when any of its addresses is not public",
  async (service) => {
    await refused(
      service,
      ["inside", "both", "unknown"].map((name) => url(`https://${name}.example/`)),
    );
  },
);

onBoth("WHK-04 event_type: mission or battery, nothing else", async (service) => {
  await refused(
    service,
    ["", "conveyor", "Mission", "constructor"].map((eventType) => ({ eventType })),
  );
  await accepted(
    service,
    ["mission", "battery"].map((eventType) => ({ eventType })),
  );
});

onBoth(
  "WHK-05 selector: exactly one of robot_ids and location_ids, with at least one id",
  async (service) => {
    await refused(service, [
      { selector: {} },
      { selector: { robotIds: {} } },
      { selector: { locationIds: { ids: [] } } },
      { selector: { robotIds: { ids: ["annex-1", ""] } } },
    ]);
    await accepted(service, [{ selector: { robotIds: { ids: ["annex-1", "annex-2"] } } }]);
    const both = { robotIds: { ids: ["annex-1"] }, locationIds: { ids: ["annex"] } };
    const answer = await service.simulator.rest("POST", "/v1/webhook/create", webhook({ selector: both }));
    expect(restAnswer(answer).code).toBe("INVALID_ARGUMENT");
  },
);

onBoth("WHK-07 distributor_id is the scope of the caller's key", async (service) => {
  const selector = { robotIds: { ids: ["globex-01"] } };
  const { webhook: created } = await service.done("CreateWebhook", webhook({ selector }), "globex");
  expect(created).toMatchObject({ distributorId: "globex" });
});

overHttp("WHK-08 At most one filter condition: a list of them is refused", async ({ simulator }) => {
  const one = filter("state.current_mission_index", "0").filter ?? {};
  const answer = await simulator.rest("POST", "/v1/webhook/create", webhook({ filter: [one, one] }));
  expect(restAnswer(answer).code).toBe("INVALID_ARGUMENT");
});

onBoth(
  "WHK-09 filter.field: a snake_case path from state to a scalar: string, number, enum, timestamp",
  async (service) => {
    await accepted(service, [
      filter("state.current_mission.mission_id", "anything", ""),
      filter("state.current_mission_index", "-1"),
      filter("state.current_mission.state", "STATE_RUNNING"),
      filter("state.metadata.sequence_number", "9223372036854775807"),
      filter("state.metadata.timestamp", "2026-01-01T00:00:00Z"),
      filter("state.current_goal.pose.x_meters", "1.5"),
      filter("state.current_mission.mission_type.cart_type", "CART_TYPE_TRAVERSE"),
      { eventType: "battery", ...filter("state.battery_state.charge_method", "CHARGE_METHOD_CONTACT") },
    ]);
    await refused(service, [
      filter("", "x"),
      filter("state", "x"),
      filter("current_mission_index", "0"),
      filter("state.currentMission.state", "STATE_RUNNING"),
      filter("state.nothing", "x"),
      filter("state..state", "x"),
      filter("state.battery_state.charge_percent", "1"),
    ]);
  },
);

onBoth("WHK-10 filter.field: a message or a list is refused", async (service) => {
  await refused(service, [
    filter("state.current_mission", "x"),
    filter("state.missions", "x"),
    filter("state.missions.0", "x"),
    filter("state.missions.0.goals", "x"),
    filter("state.metadata.timestamp.seconds", "1"),
  ]);
});

onBoth("WHK-11 filter.field: a list element is reached by its index", async (service) => {
  await accepted(service, [
    filter("state.missions.0.mission_id", "x"),
    filter("state.missions.12.goals.3.destination_id", "x"),
  ]);
  await refused(service, [
    filter("state.missions.mission_id", "x"),
    filter("state.missions.-1.mission_id", "x"),
    filter("state.missions.first.mission_id", "x"),
  ]);
});

onBoth("WHK-12 filter.field: robot_id cannot be filtered", async (service) => {
  await refused(service, [filter("robot_id", "annex-1"), filter("state.robot_id", "annex-1")]);
});

onBoth("WHK-13 filter.operator: FILTER_OPERATOR_IN is the only one", async (service) => {
  const rest = { field: "state.current_mission_index", values: ["0"] };
  await refused(service, [
    { filter: rest },
    { filter: { ...rest, operator: "FILTER_OPERATOR_UNKNOWN" } },
    { filter: { ...rest, operator: 2 } },
  ]);
});

onBoth("WHK-14 filter.values: at least one", async (service) => {
  await refused(service, [filter("state.current_mission_index")]);
});

onBoth("WHK-15 filter.values of an enum: names that it has", async (service) => {
  const field = "state.current_mission.state";
  await refused(service, [
    filter(field, "RUNNING"),
    filter(field, "2"),
    filter(field, "STATE_RUNNING", "state_paused"),
  ]);
});

onBoth("WHK-16 filter.values of a number or a time: they parse as that type", async (service) => {
  await refused(service, [
    filter("state.current_mission_index", "one"),
    filter("state.current_mission_index", "1.5"),
    filter("state.current_mission_index", "2147483648"),
    filter("state.metadata.sequence_number", "9223372036854775808"),
    filter("state.current_goal.pose.x_meters", "near"),
    filter("state.metadata.timestamp", "yesterday"),
    filter("state.current_mission_index", "0", ""),
  ]);
});

onBoth("WHK-21 A placeholder's path is robot_id or a path under state to a scalar", async (service) => {
  await accepted(service, [template({ a: "{{robot_id}}", b: "{{state.metadata.timestamp}}" })]);
  await refused(service, [
    template({ a: "{{robot}}" }),
    template({ a: "{{}}" }),
    template({ a: "{{state.nothing}}" }),
    template({ a: "{{metadata.sequence_number}}" }),
    template({ a: ["x", { b: "{{state.currentMissionIndex}}" }] }),
    template({ a: "{{robot_id" }),
    template({ "{{robot}}": 1 }),
    template({ a: [{ "at {{state.battery_state}}": 1 }] }),
    template({ "{{robot_id": 1 }),
  ]);
});

onBoth(
  "WHK-22 A placeholder that names a message or list is refused; a list index reaches a scalar",
  async (service) => {
    await refused(service, [
      template({ a: "{{state}}" }),
      template({ a: "{{state.current_mission}}" }),
      template({ a: "{{state.missions}}" }),
      template({ a: "{{state.missions.0}}" }),
    ]);
    await accepted(service, [template({ a: "{{state.missions.0.goals.0.destination_id}}" })]);
  },
);

onBoth(
  "WHK-26 The subscription: as given, with its own id, times, and no disabled_reason while active",
  async (service) => {
    const given = {
      url: "https://hooks.example/given",
      eventType: "battery",
      selector: { robotIds: { ids: ["annex-1"] } },
      filter: { field: "state.battery_state.charge_percent", operator, values: ["10", "20"] },
    };
    const options = {
      description: "low",
      requestTemplate: { a: [1, "{{robot_id}}"] },
      headers: { "X-Key": "k" },
    };
    const { webhook: first } = (await service.done("CreateWebhook", { ...given, options })) as {
      webhook: JsonObject;
    };
    const { webhook: second } = (await service.done("CreateWebhook", { ...given, options })) as {
      webhook: JsonObject;
    };
    const createdAt = new Date(service.clock.nowMs()).toISOString().replace(".000Z", "Z");
    const own = { id: expect.stringMatching(/./), distributorId: "acme", enabled: true };
    expect(first).toEqual({ ...given, ...options, ...own, createdAt, updatedAt: createdAt });
    expect(second.id).not.toBe(first.id);
    const { webhooks } = (await service.done("ListWebhooks", {})) as { webhooks: JsonObject[] };
    expect(webhooks).toContainEqual(first);
  },
);

onBoth("WHK-45 Custom headers: at most 20, 8 kB in all, legal names and values only", async (service) => {
  const headers = (given: Record<string, string>): JsonObject => ({ options: { headers: given } });
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, "v"]));
  await accepted(service, [headers(many(20)), headers({ X: "v".repeat(8_191) })]);
  await refused(service, [
    headers(many(21)),
    headers({ X: "v".repeat(8_192) }),
    headers({ "X Y": "v" }),
    headers({ "": "v" }),
    headers({ X: "v\r\nY: w" }),
    headers({ X: "\u0000" }),
    headers({ "Content-Length": "5" }),
  ]);
});

onBoth(
  "WHK-47 Addresses are checked again when a delivery is made: a name that moved inside gets nothing",
  async (service) => {
    addresses.set("moving.example", ["93.184.216.34"]);
    const selector = { robotIds: { ids: ["annex-2"] } };
    const request = webhook({ url: "https://moving.example/", eventType: "battery", selector });
    const { webhook: created } = (await service.done("CreateWebhook", request)) as {
      webhook: { id: string };
    };
    addresses.set("moving.example", ["127.0.0.1"]);
    for (let percent = 50; percent > 30; percent -= 1) {
      service.simulator.control.happen({ kind: "battery", robotId: "annex-2", percent });
    }
    const reason = async () => {
      const { webhooks } = (await service.done("ListWebhooks", {})) as { webhooks: JsonObject[] };
      return webhooks.find(({ id }) => id === created.id)?.disabledReason;
    };
    await expect.poll(reason, { interval: 5 }).toMatch(/127\.0\.0\.1 is no public address/);
  },
);

onBoth("WHK-50 Subscriptions are listed for the owning distributor only", async (service) => {
  const { webhook: created } = (await service.done("CreateWebhook", webhook())) as { webhook: JsonObject };
  const listed = async (who: "acme" | "globex") =>
    ((await service.done("ListWebhooks", {}, who)).webhooks ?? []) as JsonObject[];
  expect((await listed("acme")).map(({ id }) => id)).toContain(created.id);
  expect((await listed("globex")).map(({ id }) => id)).not.toContain(created.id);
});
