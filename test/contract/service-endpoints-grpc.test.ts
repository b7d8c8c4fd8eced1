import { create, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { answerJson } from "../../src/simulator/http/routes.ts";
import { TaskService } from "../../src/wire/fleet/http/v1/task_pb.js";
import { route } from "../../src/wire/fleet/options/v1/route_pb.js";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import {
  Health,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../src/wire/grpc/health/v1/health_pb.js";
import { operations } from "../support/operations.ts";
import { cartMission, cartWorkflow, command, navigate, started } from "./requests.ts";
import { contractTests, restAnswer } from "./service.ts";

const MAKER = "maker.robots.v1.Fleet";
const { onBoth, overGrpc, overHttp } = contractTests({
  resolve: async () => ["93.184.216.34"],
  serviceNames: ["fleet.v1.FleetService", MAKER],
});
const { method } = FleetService;
const robots = (...ids: string[]) => ({
  selector: { targetId: { case: "robotIds" as const, value: { ids } } },
});
const location = (value: string) => ({ selector: { targetId: { case: "locationId" as const, value } } });
const text = expect.stringMatching(/./);

onBoth("END-11 CreateMission answers the mission's id", async ({ done, fresh }) => {
  const { id, stations } = fresh("base");
  expect(await done("CreateMission", navigate(id, stations[0]))).toEqual({ missionId: text });
  const pose = { xMeters: 1, yMeters: 0, headingRadians: 1.5 };
  const mission = { baseMission: { navigateMission: { goal: { pose } } } };
  expect(await done("CreateMission", { robotId: fresh("base").id, mission })).toEqual({ missionId: text });
});

onBoth("END-12 AppendMission answers the mission's id", async (service) => {
  const { id, stations } = service.fresh("base");
  const first = await started(service, id, stations[0]);
  const { missionId } = await service.done("AppendMission", navigate(id, stations[1]));
  expect(missionId).toEqual(text);
  expect(missionId).not.toBe(first);
});

onBoth("END-13 UpdateMission answers nothing", async (service) => {
  const { id, stations } = service.fresh("base");
  const missionId = await started(service, id, stations[0]);
  expect(await service.done("UpdateMission", command(id, missionId, "PAUSE"))).toEqual({});
});

onBoth("END-14 CreateMissionWorkflow answers the ids of its missions", async ({ done, fresh }) => {
  const { id, stations } = fresh("cart");
  expect(await done("CreateMissionWorkflow", cartWorkflow(id, "traverse", stations))).toEqual({
    missionIds: [text, text],
  });
});

onBoth(
  "END-15 SkipGoal answers the id of the mission in which the goal was skipped",
  async ({ done, fresh }) => {
    const { id, stations } = fresh("cart");
    const created = await done("CreateMission", cartMission(id, "traverseMission", stations));
    expect(await done("SkipGoal", { robotId: id })).toEqual(created);
  },
);

overGrpc(
  "END-16 SubscribeMissionStatus: the latest state of each selected robot at once, then changes",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const stream = service.client().stream(method.subscribeMissionStatus, robots(id, "annex-1", id));
    expect([(await stream.next()).robotId, (await stream.next()).robotId]).toEqual([id, "annex-1"]);
    const missionId = await started(service, id, stations[0]);
    const changed = await stream.next();
    expect(changed).toMatchObject({ robotId: id, metadata: { sequenceNumber: expect.anything() } });
    expect(changed.missionStates?.missions[0]?.missionId).toBe(missionId);
    stream.cancel();
    const byLocation = service.client().stream(method.subscribeMissionStatus, location("annex"));
    expect([(await byLocation.next()).robotId, (await byLocation.next()).robotId]).toEqual([
      "annex-1",
      "annex-2",
    ]);
    byLocation.cancel();
  },
);

onBoth(
  "END-17 ChargeRobot answers the mission's id, whatever the battery's level",
  async ({ done, fresh, simulator, latest }) => {
    const { id } = fresh("base");
    simulator.control.happen({ kind: "battery", robotId: id, percent: 100 });
    const { missionId } = await done("ChargeRobot", { robotId: id });
    expect((await latest(id)).missionStates?.missions.map((each) => each.missionId)).toEqual([missionId]);
  },
);

onBoth("END-18 GetConveyorIndex answers the configured indexes", async ({ done, fresh }) => {
  // Of three vertical conveyors the third is not installed.
  expect(await done("GetConveyorIndex", { robotId: fresh("cart").id })).toEqual({ indexes: [1, 2] });
});

overGrpc(
  "END-19 SubscribeConveyorStatus: the states of all conveyors at once, then when any of them changes",
  async (service) => {
    const { id } = service.fresh("cart");
    const stream = service.client().stream(method.subscribeConveyorStatus, { robotId: id });
    expect((await stream.next()).states.map(({ index }) => index)).toEqual([1, 2, 3]);
    service.simulator.control.happen({ kind: "conveyor-payload", robotId: id, index: 2, loaded: true });
    expect((await stream.next()).states.map(({ payloadState }) => payloadState)).toEqual([2, 1, 0]);
    stream.cancel();
  },
);

onBoth("END-20 ControlConveyor answers nothing", async ({ done, fresh }) => {
  const commands = [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" }];
  expect(await done("ControlConveyor", { robotId: fresh("cart").id, commands })).toEqual({});
});

const webhook = {
  url: "https://hooks.example/",
  eventType: "battery",
  selector: { locationIds: { ids: ["annex"] } },
};

onBoth("END-21 CreateWebhook answers the subscription", async ({ done }) => {
  expect(await done("CreateWebhook", webhook)).toMatchObject({
    webhook: { id: text, enabled: true, ...webhook },
  });
});

onBoth("END-22 ListWebhooks answers every subscription of the distributor", async ({ done }) => {
  const { webhook: created } = await done("CreateWebhook", webhook);
  expect((await done("ListWebhooks", {})).webhooks).toContainEqual(created);
});

onBoth("END-23 DeleteWebhook answers nothing", async ({ done }) => {
  const { webhook: created } = (await done("CreateWebhook", webhook)) as { webhook: { id: string } };
  expect(await done("DeleteWebhook", { id: created.id })).toEqual({});
  expect(JSON.stringify(await done("ListWebhooks", {}))).not.toContain(created.id);
});

overGrpc(
  "END-25 SubscribeBatteryStatus: the latest battery of each selected robot at once, then changes",
  async (service) => {
    const { id } = service.fresh("base");
    const stream = service.client().stream(method.subscribeBatteryStatus, robots(id));
    expect(await stream.next()).toMatchObject({ robotId: id, batteryState: { chargePercent: 80 } });
    service.simulator.control.happen({ kind: "battery", robotId: id, percent: 33 });
    expect(await stream.next()).toMatchObject({ robotId: id, batteryState: { chargePercent: 33 } });
    stream.cancel();
  },
);

overGrpc("END-26 Health: Check and Watch need no token", async ({ simulator }) => {
  const client = await simulator.client({ token: "" });
  expect((await client.call(Health.method.check, {})).status).toBe(Serving.SERVING);
  const watch = client.stream(Health.method.watch, { service: "fleet.v1.FleetService" });
  expect((await watch.next()).status).toBe(Serving.SERVING);
  watch.cancel();
});

overGrpc("END-28 Every service name of the configuration serves every operation", async (service) => {
  const client = await service.simulator.client({ serviceName: MAKER });
  for (const { name } of FleetService.methods.filter(({ methodKind }) => methodKind === "unary")) {
    const path = `/${MAKER}/${name}`;
    const details = await client.callBytes(path, new Uint8Array()).then(
      () => "",
      (error) => error.details,
    );
    expect(`${path}: ${details}`).not.toMatch(/there is no method/);
  }
  const stream = client.stream(method.subscribeMissionStatus, location("annex"));
  expect((await stream.next()).robotId).toBe("annex-1");
  stream.cancel();
});

overHttp(
  "END-29 JSON in: camelCase and snake_case, enums by name or number; JSON out: camelCase",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const goal = { destination_id: stations[0] };
    const snake = { robot_id: id, mission: { base_mission: { navigate_mission: { goal } } } };
    const answer = await service.simulator.rest("POST", "/v1/mission/create", snake);
    const { missionId } = answer.json() as { missionId: string };
    const update = async (body: unknown) =>
      restAnswer(await service.simulator.rest("POST", "/v1/mission/update", body)).code;
    expect(await update({ robot_id: id, mission_command: { mission_id: missionId, command: 2 } })).toBe("OK");
    expect(await update(command(id, missionId, "RESUME"))).toBe("OK");
    expect(await update({ robot_id: id, robotId: id, mission_command: { mission_id: missionId } })).toBe(
      "INVALID_ARGUMENT",
    );
  },
);

overHttp("END-30 Verb and path of every unary operation", async ({ simulator }) => {
  const described = [...FleetService.methods, ...TaskService.methods]
    .filter((each) => hasOption(each, route))
    .map((each) => [each.name, `${getOption(each, route).verb} ${getOption(each, route).path}`]);
  expect(new Map(described as [string, string][])).toEqual(
    new Map([...operations].map(([name, { route }]) => [name, route])),
  );
  for (const [operation, { route: line }] of operations) {
    const [verb = "", path = ""] = line.split(" ");
    const answer = await simulator.rest(
      verb,
      path.replace(/\{\w+\}/, "1"),
      verb === "GET" ? undefined : {},
      null,
    );
    expect(`${operation} ${answer.status}`).toBe(`${operation} 401`);
  }
});

/**
 * The fields of every message of an answer: those that are always there (docs/internals/service.md, END-32),
 * and after `?` those that are there when they are set. Written down a second time, as the operations are.
 */
const answerFields = new Map([
  ...[...operations].map(([name, { answer }]): [string, string] => [`${name}Response`, answer]),
  [
    "WebhookSubscription",
    "id distributorId url headers eventType enabled ? description selector filter requestTemplate createdAt " +
      "updatedAt disabledReason disabledAt",
  ],
  ["WebhookRobotSelector", "? robotIds locationIds"],
  ["RobotIdList", "ids"],
  ["LocationIdList", "ids"],
  ["FieldFilter", "field operator values"],
  ["QueryTaskChainInfo", "taskStates ? taskChainState"],
  [
    "TaskChainState",
    "id areaId amrId groupId priority isReturn taskSeq name fromDetail createTime startTime finishTime " +
      "comeFrom status",
  ],
  [
    "TaskState",
    "id taskChainId amrId taskType mapId endPointCode status createTime startTime finishTime loading",
  ],
  [
    "OnlineAMRInfo",
    "id name ip areaId mapId mapName pos state stateId loadStatus taskState taskChainId taskId " +
      "batteryPercentile materials ? coordinate amrException unFinishRoute",
  ],
  ["Coordinate", "x y theta"],
  ["AmrException", "exception exceptionCodes level"],
  ["UnFinishRoute", "unFinishedVertexes processRate"],
  [
    "VertexInfo",
    "id code alias description x y theta type loading dockingDirection dockingX dockingY dockingTheta " +
      "outboundX outboundY outboundTheta forceLoad relocThreshold forbiddenBack allowPark extend mapId",
  ],
]);

overHttp(
  "END-32 The fields of an answer are always there; only what is unset is left out",
  async (service) => {
    // globex has subscribed to nothing.
    expect(await service.done("ListWebhooks", {}, "globex")).toEqual({ webhooks: [] });
    expect(await service.done("QueryTaskChain", { taskChainIds: [987_654] })).toEqual({ taskChains: [] });

    const shown = new Map<string, string>();
    const show = (message: DescMessage) => {
      if (message.typeName.startsWith("google.") || shown.has(message.name)) return;
      const always = Object.keys(answerJson(message, create(message)) as object);
      const names = message.fields.map(({ jsonName }) => jsonName);
      const others = names.filter((name) => !always.includes(name));
      shown.set(
        message.name,
        sorted([...always, ...(others.length === 0 ? [] : ["?", ...others])].join(" ")),
      );
      for (const field of message.fields) {
        if (field.message !== undefined && field.fieldKind !== "map") show(field.message);
      }
    };
    for (const each of [...FleetService.methods, ...TaskService.methods]) {
      if (hasOption(each, route)) show(each.output);
    }
    const wanted = [...answerFields].map(([name, fields]): [string, string] => [name, sorted(fields)]);
    expect(shown).toEqual(new Map(wanted));
  },
);

function sorted(fields: string): string {
  return fields
    .split("?")
    .map((part) => part.trim().split(" ").sort().join(" "))
    .join(" ? ");
}
