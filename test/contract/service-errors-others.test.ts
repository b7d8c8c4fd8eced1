import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { navigate, started } from "./requests.ts";
import { contractTests, refusalOf, type Service } from "./service.ts";

const hooks = "https://hooks.example/events";
const { onBoth, overGrpc } = contractTests({ resolve: async () => ["93.184.216.34"] });
const { method } = FleetService;

/** The code that a stream's opening ends with; OK where a message came. */
async function opened(
  { client }: Service,
  request:
    | { readonly conveyorsOf: string }
    | { readonly missionsOf: Selected }
    | { readonly batteriesOf: Selected },
): Promise<string> {
  const fleet = client();
  const stream =
    "conveyorsOf" in request
      ? fleet.stream(method.subscribeConveyorStatus, { robotId: request.conveyorsOf })
      : "missionsOf" in request
        ? fleet.stream(method.subscribeMissionStatus, selectorOf(request.missionsOf))
        : fleet.stream(method.subscribeBatteryStatus, selectorOf(request.batteriesOf));
  try {
    await stream.next();
    return "OK";
  } catch (error) {
    return refusalOf(error).code;
  } finally {
    stream.cancel();
  }
}

type Selected = { readonly ids: string[] } | { readonly location: string } | "nothing";

function selectorOf(selected: Selected) {
  if (selected === "nothing") return {};
  const targetId =
    "ids" in selected
      ? { case: "robotIds" as const, value: { ids: selected.ids } }
      : { case: "locationId" as const, value: selected.location };
  return { selector: { targetId } };
}

/** Holds that an internal failure is told as INTERNAL. */
async function failsInside(
  { simulator, code }: Service,
  operation: string,
  request: JsonObject,
): Promise<void> {
  simulator.control.apply({ kind: "command", operation, effect: "internal-before", count: 1 });
  expect(await code(operation, request)).toBe("INTERNAL");
}

const motor = (robotId: string, ...indexes: number[]): JsonObject => ({
  robotId,
  commands: indexes.map((index) => ({ index, command: "COMMAND_CONVEYOR_MOTOR_CW" })),
});

const webhook = (change: JsonObject = {}): JsonObject => ({
  url: hooks,
  eventType: "battery",
  selector: { locationIds: { ids: ["annex"] } },
  ...change,
});

overGrpc(
  "ERR-27 SubscribeMissionStatus, a robot or location of somebody else: PERMISSION_DENIED",
  async (service) => {
    const { id } = service.fresh("base");
    expect(await opened(service, { missionsOf: { ids: [id, "globex-01"] } })).toBe("PERMISSION_DENIED");
    expect(await opened(service, { missionsOf: { location: "globex-plant" } })).toBe("PERMISSION_DENIED");
    expect(await opened(service, { missionsOf: { ids: [id] } })).toBe("OK");
  },
);

overGrpc("ERR-28 SubscribeMissionStatus, malformed: INVALID_ARGUMENT", async (service) => {
  const malformed: Selected[] = [
    "nothing",
    { ids: [] },
    { ids: [""] },
    { ids: ["x".repeat(10_000)] },
    ...["base 1", " ", "base-1\n", "b\u00e4se", "base-1\u0000"].flatMap((id) => [
      { ids: [id] },
      { location: id },
    ]),
    { location: "" },
  ];
  for (const missionsOf of malformed) expect(await opened(service, { missionsOf })).toBe("INVALID_ARGUMENT");
});

onBoth(
  "ERR-29 ChargeRobot while a mission runs: FAILED_PRECONDITION; accepted after it was canceled",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const missionId = await started(service, id, stations[0]);
    expect(await service.code("ChargeRobot", { robotId: id })).toBe("FAILED_PRECONDITION");
    await service.done("UpdateMission", {
      robotId: id,
      missionCommand: { missionId, command: "COMMAND_CANCEL" },
    });
    expect(await service.code("ChargeRobot", { robotId: id })).toBe("OK");
  },
);

onBoth(
  "ERR-30 ChargeRobot, internal failure or no confirmation: INTERNAL, DEADLINE_EXCEEDED",
  async (service) => {
    const { id } = service.fresh("base");
    await failsInside(service, "ChargeRobot", { robotId: id });
    service.simulator.control.happen({ kind: "offline", robotId: id });
    expect((await service.askWhile("ChargeRobot", { robotId: id })).code).toBe("DEADLINE_EXCEEDED");
  },
);

onBoth("ERR-31 GetConveyorIndex, internal failure: INTERNAL", async (service) => {
  await failsInside(service, "GetConveyorIndex", { robotId: service.fresh("cart").id });
});

onBoth("ERR-32 GetConveyorIndex of a robot that is no cart: INVALID_ARGUMENT", async (service) => {
  for (const kind of ["base", "serve"] as const) {
    const request = { robotId: service.fresh(kind).id };
    expect(await service.code("GetConveyorIndex", request)).toBe("INVALID_ARGUMENT");
  }
});

onBoth("ERR-33 GetConveyorIndex, unknown robot: NOT_FOUND", async (service) => {
  expect(await service.code("GetConveyorIndex", { robotId: "nobody" })).toBe("NOT_FOUND");
});

overGrpc("ERR-34 SubscribeConveyorStatus, foreign robot: PERMISSION_DENIED", async (service) => {
  expect(await opened(service, { conveyorsOf: "globex-01" })).toBe("PERMISSION_DENIED");
});

overGrpc("ERR-35 SubscribeConveyorStatus, internal failure: INTERNAL", async (service) => {
  const operation = "SubscribeConveyorStatus";
  service.simulator.control.apply({ kind: "command", operation, effect: "internal-before", count: 1 });
  const conveyorsOf = service.fresh("cart").id;
  expect(await opened(service, { conveyorsOf })).toBe("INTERNAL");
  expect(await opened(service, { conveyorsOf })).toBe("OK");
});

onBoth(
  "ERR-36 ControlConveyor of no cart, or of conveyors that are not installed: INVALID_ARGUMENT",
  async (service) => {
    const { id } = service.fresh("cart");
    const requests = [
      motor(service.fresh("base").id, 1),
      motor(service.fresh("serve").id, 1),
      // The third conveyor of these carts is not installed, a fourth they never had.
      motor(id, 3),
      motor(id, 1, 4),
      motor(id, 0),
    ];
    for (const request of requests)
      expect(await service.code("ControlConveyor", request)).toBe("INVALID_ARGUMENT");
    expect(await service.code("ControlConveyor", motor(id, 1, 2))).toBe("OK");
  },
);

onBoth("ERR-37 ControlConveyor, unknown robot: NOT_FOUND", async (service) => {
  expect(await service.code("ControlConveyor", motor("nobody", 1))).toBe("NOT_FOUND");
});

onBoth("ERR-38 ControlConveyor, internal failure: INTERNAL", async (service) => {
  await failsInside(service, "ControlConveyor", motor(service.fresh("cart").id, 1));
});

onBoth("ERR-39 ControlConveyor of a robot whose error prevents it: FAILED_PRECONDITION", async (service) => {
  const { id: robotId } = service.fresh("cart");
  service.simulator.control.happen({ kind: "conveyor-health", robotId, index: 1, ok: false });
  expect(await service.code("ControlConveyor", motor(robotId, 1))).toBe("FAILED_PRECONDITION");
  service.simulator.control.happen({ kind: "conveyor-health", robotId, index: 1, ok: true });
  expect(await service.code("ControlConveyor", motor(robotId, 1))).toBe("OK");
});

onBoth("ERR-40 CreateWebhook, malformed: INVALID_ARGUMENT", async (service) => {
  const filter = (field: string, values: string[]) => ({
    filter: { field, operator: "FILTER_OPERATOR_IN", values },
  });
  const malformed: JsonObject[] = [
    {},
    webhook({ url: "" }),
    webhook({ eventType: "" }),
    webhook({ eventType: "conveyor" }),
    webhook({ selector: {} }),
    webhook({ selector: { robotIds: { ids: [] } } }),
    webhook(filter("state.nothing", ["1"])),
    webhook(filter("state.battery_state", ["1"])),
    webhook(filter("state.battery_state.charge_percent", ["many"])),
    webhook({ options: { requestTemplate: { at: "{{state.battery_state}}" } } }),
  ];
  for (const request of malformed)
    expect(await service.code("CreateWebhook", request)).toBe("INVALID_ARGUMENT");
  expect(await service.code("CreateWebhook", webhook())).toBe("OK");
});

onBoth("ERR-41 CreateWebhook, a robot or location of somebody else: PERMISSION_DENIED", async (service) => {
  for (const selector of [
    { robotIds: { ids: ["annex-1", "globex-01"] } },
    { locationIds: { ids: ["globex-plant"] } },
  ]) {
    expect(await service.code("CreateWebhook", webhook({ selector }))).toBe("PERMISSION_DENIED");
  }
});

onBoth("ERR-42 CreateWebhook, internal failure: INTERNAL", async (service) => {
  await failsInside(service, "CreateWebhook", webhook());
});

onBoth("ERR-43 ListWebhooks, internal failure: INTERNAL", async (service) => {
  await failsInside(service, "ListWebhooks", {});
});

onBoth("ERR-44 DeleteWebhook, empty id: INVALID_ARGUMENT", async (service) => {
  expect(await service.code("DeleteWebhook", {})).toBe("INVALID_ARGUMENT");
  expect(await service.code("DeleteWebhook", { id: "" })).toBe("INVALID_ARGUMENT");
});

onBoth("ERR-45 DeleteWebhook of one that is missing or somebody else's: NOT_FOUND", async (service) => {
  expect(await service.code("DeleteWebhook", { id: "nothing" })).toBe("NOT_FOUND");
  const { webhook: created } = await service.done("CreateWebhook", webhook());
  const { id = "" } = created as { id?: string };
  expect(await service.code("DeleteWebhook", { id }, "globex")).toBe("NOT_FOUND");
  expect(await service.code("DeleteWebhook", { id })).toBe("OK");
  expect(await service.code("DeleteWebhook", { id })).toBe("NOT_FOUND");
});

onBoth("ERR-46 DeleteWebhook, internal failure: INTERNAL", async (service) => {
  await failsInside(service, "DeleteWebhook", { id: "any" });
});

overGrpc("ERR-51 SubscribeBatteryStatus: the rows of the mission stream", async (service) => {
  expect(await opened(service, { batteriesOf: { ids: ["globex-01"] } })).toBe("PERMISSION_DENIED");
  expect(await opened(service, { batteriesOf: { location: "globex-plant" } })).toBe("PERMISSION_DENIED");
  expect(await opened(service, { batteriesOf: "nothing" })).toBe("INVALID_ARGUMENT");
  expect(await opened(service, { batteriesOf: { ids: [] } })).toBe("INVALID_ARGUMENT");
  expect(await opened(service, { batteriesOf: { location: "annex" } })).toBe("OK");
});

overGrpc(
  "ERR-60 SubscribeConveyorStatus of a robot that is no cart: INVALID_ARGUMENT; unknown: NOT_FOUND",
  async (service) => {
    expect(await opened(service, { conveyorsOf: service.fresh("base").id })).toBe("INVALID_ARGUMENT");
    expect(await opened(service, { conveyorsOf: service.fresh("serve").id })).toBe("INVALID_ARGUMENT");
    expect(await opened(service, { conveyorsOf: "" })).toBe("INVALID_ARGUMENT");
    expect(await opened(service, { conveyorsOf: "nobody" })).toBe("NOT_FOUND");
  },
);

overGrpc(
  "ERR-50 Selectors: foreign and unknown robots and locations are both PERMISSION_DENIED",
  async (service) => {
    const selected: Selected[] = [
      { ids: ["globex-01"] },
      { ids: ["nobody"] },
      { location: "globex-plant" },
      { location: "nowhere" },
    ];
    for (const each of selected) {
      expect(await opened(service, { missionsOf: each })).toBe("PERMISSION_DENIED");
      expect(await opened(service, { batteriesOf: each })).toBe("PERMISSION_DENIED");
      const selector = "ids" in Object(each) ? { robotIds: each } : { locationIds: { ids: ["nowhere"] } };
      expect(await service.code("CreateWebhook", webhook({ selector: selector as JsonObject }))).toBe(
        "PERMISSION_DENIED",
      );
    }
  },
);

onBoth("ERR-61 ChargeRobot of a robot without a contact dock: INVALID_ARGUMENT", async (service) => {
  const { id, stations } = service.fresh("undocked");
  expect(await service.code("ChargeRobot", { robotId: id })).toBe("INVALID_ARGUMENT");
  // It can never charge, so its mission does not matter.
  await started(service, id, stations[0]);
  expect(await service.code("ChargeRobot", { robotId: id })).toBe("INVALID_ARGUMENT");
});

onBoth(
  "ERR-65 No confirmation, where the operation's rows have no DEADLINE_EXCEEDED: INTERNAL",
  async (service) => {
    const { id } = service.fresh("cart");
    const requests: ReadonlyArray<readonly [string, JsonObject]> = [
      ["ControlConveyor", motor(id, 1)],
      ["SkipGoal", { robotId: id }],
      ["GetConveyorIndex", { robotId: id }],
      ["CreateWebhook", webhook()],
      ["ListWebhooks", {}],
      ["DeleteWebhook", { id: "w" }],
    ];
    const codes = new Map<string, string>();
    for (const [operation, request] of requests) {
      service.simulator.control.apply({ kind: "command", operation, effect: "delay-not-taken", count: 1 });
      const answer = service.ask(operation, request);
      let isAnswered = false;
      void answer.finally(() => {
        isAnswered = true;
      });
      while (!isAnswered) await service.clock.settle(100);
      codes.set(operation, (await answer).code);
    }
    expect(codes).toEqual(new Map(requests.map(([operation]) => [operation, "INTERNAL"])));
    service.simulator.control.happen({ kind: "offline", robotId: id });
    expect((await service.askWhile("ControlConveyor", motor(id, 1))).code).toBe("INTERNAL");
  },
);

onBoth(
  "ERR-47 Checks in order: token, shape, ownership and existence, family, mission, state",
  async (service) => {
    const { id, stations } = service.fresh("base");
    await started(service, id, stations[0]);
    // Each request is wrong in everything behind what is named, too.
    const shape = { robotId: "globex-01", mission: {} };
    const existence = {
      robotId: "nobody",
      mission: { serveMission: { navigateMission: { goal: { destinationId: "?" } } } },
    };
    const ownership = { ...existence, robotId: "globex-01" };
    const family = { ...existence, robotId: id };
    expect(await service.code("CreateMission", shape)).toBe("INVALID_ARGUMENT");
    expect(await service.code("CreateMission", existence)).toBe("NOT_FOUND");
    expect(await service.code("CreateMission", ownership)).toBe("PERMISSION_DENIED");
    expect(await service.ask("CreateMission", family)).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/family/),
    });
    expect(await service.ask("CreateMission", navigate(id, "?"))).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/destination/),
    });
    expect(await service.code("CreateMission", navigate(id, stations[1]))).toBe("FAILED_PRECONDITION");
    const selector = { robotIds: { ids: ["globex-01"] } };
    for (const url of ["http://hooks.example/", "https://10.0.0.1/"]) {
      expect(await service.code("CreateWebhook", webhook({ url, selector }))).toBe("INVALID_ARGUMENT");
    }
    const noToken = await service.simulator.rest("POST", "/v1/mission/create", shape, null);
    expect(noToken.status).toBe(401);
  },
);
