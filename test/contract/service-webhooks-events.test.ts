import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, expect } from "vitest";
import { startReceiver } from "../simulator/webhooks/receiver.ts";
import { cartMission, command, navigate, started } from "./requests.ts";
import { contractTests, type Service } from "./service.ts";
import { createSubscriptions, delivery } from "./subscriptions.ts";

const receiver = await startReceiver();
afterAll(receiver.close);
const hooks = createSubscriptions(receiver);
const { onBoth } = contractTests({
  unsafeWebhookTargets: { trustedCa: receiver.ca },
  webhookDelivery: delivery,
  random: hooks.random,
});

const operator = "FILTER_OPERATOR_IN";
const filter = (field: string, ...values: string[]): JsonObject => ({ filter: { field, operator, values } });
const missions = (change: JsonObject = {}): JsonObject => ({ eventType: "mission", ...change });
const template = (requestTemplate: JsonObject): JsonObject => ({ options: { requestTemplate } });

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** A mission event of a robot that has no mission: it reports again, with its sequence number reset. */
function reportAgain({ simulator }: Service, robotId: string): void {
  simulator.control.happen({ kind: "sequence-reset", robotId });
}

onBoth("WHK-06 location_ids resolve to the robots at those locations", async (service) => {
  const selector = { locationIds: { ids: ["annex"] } };
  await hooks.subscribed(service, "", { selector }, async (id) => {
    hooks.charge(service, service.fresh("base").id, 41);
    hooks.charge(service, "annex-1", service.transport === "grpc" ? 42 : 44);
    expect((await hooks.next(id)).body.robot_id).toBe("annex-1");
    hooks.charge(service, "annex-2", service.transport === "grpc" ? 43 : 45);
    expect((await hooks.next(id)).body.robot_id).toBe("annex-2");
  });
});

onBoth(
  "WHK-17 An event is delivered when the field equals one of the values; enums by name",
  async (service) => {
    const { id: robotId, stations } = service.fresh("base");
    const change = missions(filter("state.current_mission.state", "STATE_PAUSED", "STATE_CANCELED"));
    await hooks.subscribed(service, robotId, change, async (id) => {
      const missionId = await started(service, robotId, stations[0]);
      for (const [name, state] of [
        ["PAUSE", "STATE_PAUSED"],
        ["RESUME", ""],
        ["CANCEL", "STATE_CANCELED"],
      ] as const) {
        await service.done("UpdateMission", command(robotId, missionId, name));
        if (state === "") continue;
        expect((await hooks.next(id)).body).toMatchObject({ state: { current_mission: { state } } });
      }
    });
  },
);

onBoth("WHK-18 A path into an unset message never matches, not even the empty string", async (service) => {
  const { id: robotId, stations } = service.fresh("base");
  const change = missions(filter("state.current_mission.owner", "", "api"));
  await hooks.subscribed(service, robotId, change, async (id) => {
    reportAgain(service, robotId);
    await started(service, robotId, stations[0]);
    expect((await hooks.next(id)).body).toMatchObject({ state: { current_mission: { owner: "api" } } });
  });
});

onBoth("WHK-19 A request_template replaces the default body", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, template({ fixed: "words" }), async (id) => {
    hooks.charge(service, robotId, 42);
    expect((await hooks.next(id)).body).toEqual({ fixed: "words" });
  });
});

onBoth("WHK-20 A placeholder may stand inside other text, and several in one string", async (service) => {
  const { id: robotId } = service.fresh("base");
  const text = "{{robot_id}} has {{ state.battery_state.charge_percent }} %: {{state.battery_state.state}}";
  await hooks.subscribed(service, robotId, template({ text }), async (id) => {
    hooks.charge(service, robotId, 42);
    expect((await hooks.next(id)).body).toEqual({ text: `${robotId} has 42 %: STATE_DISCHARGING` });
  });
});

onBoth(
  "WHK-23 Objects and arrays nest and keep their shape; what is no string is copied unchanged",
  async (service) => {
    const { id: robotId } = service.fresh("base");
    const shape = { a: [1, 2.5, true, null, [], {}, { b: { c: ["{{robot_id}}"] } }], "{{robot_id}}": false };
    await hooks.subscribed(service, robotId, template(shape), async (id) => {
      hooks.charge(service, robotId, 42);
      const rendered = { a: [1, 2.5, true, null, [], {}, { b: { c: [robotId] } }], [robotId]: false };
      expect((await hooks.next(id)).body).toEqual(rendered);
    });
  },
);

onBoth("WHK-51 Keys of objects are strings too: placeholders in them are substituted", async (service) => {
  const { id: robotId } = service.fresh("base");
  const percent = "{{state.battery_state.charge_percent}}";
  const shape = { robots: [{ "of {{ robot_id }}": percent, [percent]: {} }], nested: { "{{robot_id}}": 1 } };
  await hooks.subscribed(service, robotId, template(shape), async (id) => {
    hooks.charge(service, robotId, 43);
    expect((await hooks.next(id)).body).toEqual({
      robots: [{ [`of ${robotId}`]: "43", "43": {} }],
      nested: { [robotId]: 1 },
    });
  });
});

onBoth("WHK-24 A path that is absent renders as the empty string", async (service) => {
  const { id: robotId } = service.fresh("base");
  const paths = {
    mission: "{{state.missions.0.mission_id}}",
    goal: "<{{state.current_goal.destination_id}}>",
  };
  await hooks.subscribed(service, robotId, missions(template(paths)), async (id) => {
    reportAgain(service, robotId);
    expect((await hooks.next(id)).body).toEqual({ mission: "", goal: "<>" });
  });
});

onBoth(
  "WHK-25 Placeholders are substituted in the body only: a header's are sent literally",
  async (service) => {
    const { id: robotId } = service.fresh("base");
    const options = { headers: { "X-Robot": "{{robot_id}}" }, requestTemplate: { at: "{{robot_id}}" } };
    await hooks.subscribed(service, robotId, { options }, async (id) => {
      hooks.charge(service, robotId, 42);
      const { headers, body } = await hooks.next(id);
      expect([headers["x-robot"], body]).toEqual(["{{robot_id}}", { at: robotId }]);
    });
  },
);

onBoth("WHK-27 The mission envelope: snake_case, every scalar present, enums by name", async (service) => {
  const { id: robotId, stations } = service.fresh("cart");
  await hooks.subscribed(service, robotId, missions(), async (id) => {
    const request = cartMission(robotId, "traverseMission", stations);
    const { missionId } = await service.done("CreateMission", request);
    await service.done("AppendMission", navigate(robotId, stations[1]));
    await hooks.next(id);
    const goals = stations.map((destination_id) => ({ destination_id }));
    const first = {
      mission_id: missionId,
      state: "STATE_RUNNING",
      goals,
      current_goal_index: 0,
      mission_feedback: { cart_feedback: { status: "STATUS_NAVIGATING" } },
      mission_type: { cart_type: "CART_TYPE_TRAVERSE" },
      owner: "api",
    };
    const second = {
      mission_id: expect.any(String),
      state: "STATE_DEFAULT",
      goals: [goals[1]],
      current_goal_index: 0,
      mission_feedback: null,
      mission_type: { base_type: "BASE_TYPE_NAVIGATE" },
      owner: "api",
    };
    expect((await hooks.next(id)).body).toEqual({
      robot_id: robotId,
      state: {
        metadata: { timestamp: time, sequence_number: expect.any(Number) },
        missions: [first, second],
        current_mission_index: 0,
        current_mission: first,
        current_goal: goals[0],
      },
    });
  });
});

onBoth("WHK-28 Unset optional messages are null", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, missions(), async (id) => {
    reportAgain(service, robotId);
    expect((await hooks.next(id)).body).toEqual({
      robot_id: robotId,
      state: {
        metadata: { timestamp: time, sequence_number: 0 },
        missions: [],
        current_mission_index: -1,
        current_mission: null,
        current_goal: null,
      },
    });
  });
});

onBoth(
  "WHK-29 current_mission equals missions[current_mission_index], current_goal its active goal",
  async (service) => {
    const { id: robotId, stations } = service.fresh("cart");
    await hooks.subscribed(service, robotId, missions(), async (id) => {
      const missionId = await started(service, robotId, stations[0]);
      await service.done("AppendMission", cartMission(robotId, "traverseMission", stations));
      await service.done("UpdateMission", command(robotId, missionId, "FINISH"));
      await service.done("SkipGoal", { robotId });
      for (;;) {
        const { state } = (await hooks.next(id)).body as { state: JsonObject };
        const listed = state.missions as JsonObject[];
        expect(state.current_mission).toEqual(listed[Number(state.current_mission_index)]);
        if (state.current_mission_index !== 1) continue;
        const { current_goal_index: at } = state.current_mission as JsonObject;
        expect(state.current_goal).toEqual({ destination_id: stations[Number(at)] });
        if (at === 1) break;
      }
    });
  },
);

onBoth("WHK-30 The battery envelope: metadata and battery_state", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    hooks.charge(service, robotId, 42);
    const battery_state = {
      charge_percent: 42,
      state: "STATE_DISCHARGING",
      charge_method: "CHARGE_METHOD_NONE",
    };
    const metadata = { timestamp: time, sequence_number: expect.any(Number) };
    expect((await hooks.next(id)).body).toEqual({ robot_id: robotId, state: { metadata, battery_state } });
  });
});

onBoth(
  "WHK-31 Without a filter every event of the type is delivered, in order, and none of the other type",
  async (service) => {
    const { id: robotId, stations } = service.fresh("base");
    await hooks.subscribed(service, robotId, {}, async (id) => {
      await started(service, robotId, stations[0]);
      const percents = [42, 41, 40, 39];
      for (const percent of percents) hooks.charge(service, robotId, percent);
      for (const percent of percents) {
        expect((await hooks.next(id)).body).toMatchObject({
          state: { battery_state: { charge_percent: percent } },
        });
      }
    });
  },
);

onBoth("WHK-32 X-Service-Webhook-Id is the id of the subscription", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    hooks.charge(service, robotId, 42);
    const { headers } = await receiver.next();
    expect(headers["x-service-webhook-id"]).toBe(id);
  });
});

onBoth("WHK-33 X-Service-Webhook-Event-Id is unique for each event", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    const ids = new Set<string>();
    for (const percent of [42, 41, 40]) {
      hooks.charge(service, robotId, percent);
      ids.add((await hooks.next(id)).eventId);
    }
    expect(ids.size).toBe(3);
    expect(ids).not.toContain("");
  });
});

onBoth("WHK-34 Content-Type is always application/json", async (service) => {
  const { id: robotId } = service.fresh("base");
  const options = { headers: { "Content-type": "text/plain" }, requestTemplate: {} };
  for (const change of [{}, { options }]) {
    await hooks.subscribed(service, robotId, change, async (id) => {
      hooks.charge(service, robotId, "options" in change ? 41 : 42);
      expect((await hooks.next(id)).headers["content-type"]).toBe("application/json");
    });
  }
});

onBoth(
  "WHK-35 Custom headers are on every delivery; the service's own win, in any spelling",
  async (service) => {
    const { id: robotId } = service.fresh("base");
    const headers = {
      "X-Key": "secret",
      "x-SERVICE-webhook-id": "mine",
      "X-Service-Webhook-Event-Id": "mine",
    };
    await hooks.subscribed(service, robotId, { options: { headers } }, async (id) => {
      for (const percent of [42, 41]) {
        hooks.charge(service, robotId, percent);
        const sent = await hooks.next(id);
        expect(sent.headers["x-key"]).toBe("secret");
        expect(sent.eventId).not.toContain("mine");
      }
    });
  },
);

onBoth("WHK-36 Custom headers and the service's own are sent regardless of any template", async (service) => {
  const { id: robotId } = service.fresh("base");
  const options = { headers: { "X-Key": "secret" }, requestTemplate: { a: 1 } };
  await hooks.subscribed(service, robotId, { options }, async (id) => {
    hooks.charge(service, robotId, 42);
    const { headers, eventId } = await hooks.next(id);
    expect([headers["x-key"], headers["content-type"]]).toEqual(["secret", "application/json"]);
    expect(eventId).toMatch(/./);
  });
});

onBoth(
  "WHK-37 Deliveries are not signed: no header but HTTP's, the service's and the custom ones",
  async (service) => {
    const { id: robotId } = service.fresh("base");
    await hooks.subscribed(service, robotId, { options: { headers: { "X-Key": "secret" } } }, async (id) => {
      hooks.charge(service, robotId, 42);
      const { headers } = await hooks.next(id);
      const names = ["connection", "content-length", "content-type", "host", "x-key"];
      expect(Object.keys(headers).sort()).toEqual([
        ...names,
        "x-service-webhook-event-id",
        "x-service-webhook-id",
      ]);
    });
  },
);

onBoth(
  "WHK-46 The member of a oneof that is not set has its default in a filter, but no text, and is absent in a body",
  async (service) => {
    const { id: robotId, stations } = service.fresh("base");
    const field = "state.current_mission.mission_type.cart_type";
    const options = {
      requestTemplate: { cart: `{{${field}}}`, base: "{{state.current_mission.mission_type.base_type}}" },
    };
    const change = missions({ ...filter(field, "CART_TYPE_UNKNOWN"), options });
    await hooks.subscribed(service, robotId, change, async (id) => {
      await started(service, robotId, stations[0]);
      expect((await hooks.next(id)).body).toEqual({ cart: "", base: "BASE_TYPE_NAVIGATE" });
    });
    // A goal that is a place on the map has no destination_id, which is not an empty one.
    const { id: other, stations: places } = service.fresh("base");
    const named = missions(filter("state.current_goal.destination_id", "", places[0]));
    await hooks.subscribed(service, other, named, async (id) => {
      const pose = { xMeters: 1, yMeters: 0, headingRadians: 0 };
      const mission = { baseMission: { navigateMission: { goal: { pose } } } };
      const { missionId } = await service.done("CreateMission", { robotId: other, mission });
      await service.done("UpdateMission", command(other, String(missionId), "CANCEL"));
      await started(service, other, places[0]);
      const { body } = await hooks.next(id);
      expect(body).toMatchObject({ state: { current_goal: { destination_id: places[0] } } });
    });
  },
);
