import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { BatteryState_ChargeMethod, BatteryState_State } from "../../src/wire/fleet/v1/battery_pb.js";
import { CartType } from "../../src/wire/fleet/v1/cart/cart_pb.js";
import {
  BaseType,
  type MissionState,
  MissionState_State as State,
} from "../../src/wire/fleet/v1/mission_pb.js";
import { ServeType } from "../../src/wire/fleet/v1/serve/serve_pb.js";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import {
  cartMission,
  cartNavigate,
  cartWorkflow,
  command,
  navigate,
  navigateAuto,
  serveMission,
  serveWorkflow,
  started,
} from "./requests.ts";
import { contractTests, type Service } from "./service.ts";

const { onBoth, overGrpc } = contractTests();

/**
 * Longer than any drive of a test's robot, shorter than its stop at a traverse's goal takes it to the next.
 */
const DRIVE_MS = 7_000;
const LONG_MS = 60_000;

async function missions({ latest }: Service, robotId: string): Promise<readonly MissionState[]> {
  return (await latest(robotId)).missionStates?.missions ?? [];
}

/** The state and current goal of a robot's first mission. */
async function progress(
  service: Service,
  robotId: string,
): Promise<readonly [State | undefined, number | undefined]> {
  const [mission] = await missions(service, robotId);
  return [mission?.state, mission?.currentGoalIndex];
}

/** Lets the robot come to its goal, and somebody put weight on it or take it off. */
function weigh({ clock, simulator }: Service, robotId: string, changeKg: number): void {
  clock.advance(DRIVE_MS);
  simulator.control.happen({ kind: "weight", robotId, changeKg });
}

onBoth(
  "TRN-35 A cart's traverse waits 5 s at each goal, or until SkipGoal directs it on",
  async (service) => {
    const { id, stations } = service.fresh("cart");
    await service.done("CreateMission", cartMission(id, "traverseMission", stations));
    // 3 m to the first station, then its stop.
    service.clock.advance(3_100 + 4_800);
    expect(await progress(service, id)).toEqual([State.RUNNING, 0]);
    service.clock.advance(200);
    expect(await progress(service, id)).toEqual([State.RUNNING, 1]);
    service.clock.advance(1_100);
    await service.done("SkipGoal", { robotId: id });
    expect(await progress(service, id)).toEqual([State.RUNNING, 2]);
    service.clock.advance(LONG_MS);
    expect(await progress(service, id)).toEqual([State.SUCCEEDED, 2]);
  },
);

onBoth("TRN-36 Serving stops until weight is removed, bussing until weight is added", async (service) => {
  for (const [kind, changeKg] of [
    ["deliveryMission", -1],
    ["bussingMission", 1],
  ] as const) {
    const { id, stations } = service.fresh("serve");
    await service.done("CreateMission", serveMission(id, kind, stations.slice(0, 2)));
    service.clock.advance(LONG_MS);
    expect(await progress(service, id)).toEqual([State.RUNNING, 0]);
    weigh(service, id, -changeKg);
    expect(await progress(service, id)).toEqual([State.RUNNING, 0]);
    weigh(service, id, changeKg);
    expect(await progress(service, id)).toEqual([State.RUNNING, 1]);
    weigh(service, id, changeKg);
    expect((await progress(service, id))[0]).toBe(State.SUCCEEDED);
  }
});

onBoth(
  "TRN-37 A serving patrol loops until all weight is removed, a bussing patrol until a threshold is passed",
  async (service) => {
    for (const [kind, first, last] of [
      ["deliveryPatrolMission", -1, -3],
      ["bussingPatrolMission", 1, 6],
    ] as const) {
      const { id, stations } = service.fresh("serve");
      await service.done("CreateMission", serveMission(id, kind, stations.slice(0, 2)));
      weigh(service, id, first);
      service.clock.advance(LONG_MS);
      expect((await progress(service, id))[0]).toBe(State.RUNNING);
      weigh(service, id, last);
      expect((await progress(service, id))[0]).toBe(State.SUCCEEDED);
    }
  },
);

onBoth("TRN-38 A traverse patrol loops over its goals until it is told to end", async (service) => {
  const { id, stations } = service.fresh("cart");
  const { missionId } = await service.done(
    "CreateMission",
    cartMission(id, "traversePatrolMission", stations),
  );
  service.clock.advance(600_000);
  expect((await progress(service, id))[0]).toBe(State.RUNNING);
  const reached = service.simulator.control
    .record(0)
    .flatMap(({ fact }) => (fact.what === "goal" && fact.missionId === missionId ? [fact.goalIndex] : []));
  expect(reached.slice(0, 7)).toEqual([0, 1, 2, 0, 1, 2, 0]);
  await service.done("UpdateMission", command(id, missionId, "FINISH"));
  expect((await progress(service, id))[0]).toBe(State.SUCCEEDED);
});

onBoth(
  "TRN-39 A charge mission: no type, no feedback, over when docked, and then the battery charges",
  async (service) => {
    const { id } = service.fresh("base");
    const { missionId } = await service.done("ChargeRobot", { robotId: id });
    const [mission] = await missions(service, id);
    expect(mission).toMatchObject({ missionId, state: State.RUNNING, owner: "api" });
    expect([mission?.missionType, mission?.missionFeedback]).toEqual([undefined, undefined]);
    service.clock.advance(LONG_MS);
    expect((await progress(service, id))[0]).toBe(State.SUCCEEDED);
    const selector = { targetId: { case: "robotIds" as const, value: { ids: [id] } } };
    const stream = service.client().stream(FleetService.method.subscribeBatteryStatus, { selector });
    expect((await stream.next()).batteryState).toMatchObject({
      state: BatteryState_State.CHARGING,
      chargeMethod: BatteryState_ChargeMethod.CONTACT,
    });
    stream.cancel();
  },
);

onBoth("TRN-41 A workflow: its missions in order, the last a return to the robot's home", async (service) => {
  const requests: ReadonlyArray<readonly ["cart" | "serve", string, number]> = [
    ["cart", "traverse", 2],
    ["cart", "traversePatrol", 2],
    ["serve", "delivery", 2],
    ["serve", "deliveryPatrol", 2],
    ["serve", "bussing", 2],
    ["serve", "bussingPatrol", 2],
    ["serve", "hosting", 4],
    ["serve", "hostingPatrol", 2],
  ];
  const robots = { cart: service.fresh("cart"), serve: service.fresh("serve") };
  for (const [family, kind, count] of requests) {
    const { id, stations, home } = robots[family];
    const request =
      family === "serve"
        ? serveWorkflow(id, kind, stations)
        : cartWorkflow(id, kind === "traverse" ? "traverse" : "traversePatrol", stations);
    const { missionIds } = await service.done("CreateMissionWorkflow", request);
    const listed = await missions(service, id);
    expect([kind, listed.length]).toEqual([kind, count]);
    expect(listed.map(({ missionId }) => missionId)).toEqual(missionIds);
    expect(listed.at(-1)?.goals.map(({ goal }) => goal.value)).toEqual([home]);
    for (const each of listed) await service.done("UpdateMission", command(id, each.missionId, "CANCEL"));
  }
});

onBoth("TRN-42 A birthday workflow takes its single goal, and returns", async (service) => {
  const { id, stations, home } = service.fresh("serve");
  const birthday = { goal: { destinationId: stations[1] } };
  await service.done("CreateMissionWorkflow", {
    robotId: id,
    missionWorkflow: { serveWorkflow: { birthday } },
  });
  const goals = (await missions(service, id)).map((each) => each.goals.map(({ goal }) => goal.value));
  expect(goals).toEqual([[stations[1]], [home]]);
});

onBoth("TRN-43 The legacy field mission_state holds the current mission", async (service) => {
  const { id, stations } = service.fresh("base");
  expect((await service.latest(id)).missionState).toBeUndefined();
  await started(service, id, stations[0]);
  await service.done("AppendMission", navigate(id, stations[1]));
  const { missionState, missionStates } = await service.latest(id);
  expect(missionState).toEqual(missionStates?.missions[0]);
});

onBoth(
  "TRN-46 Every mission shows its type, its goals in request order, and feedback of its family",
  async (service) => {
    const [base, cart, serve] = [service.fresh("base"), service.fresh("cart"), service.fresh("serve")];
    const cases: ReadonlyArray<readonly [JsonObject, string, number]> = [
      [navigate(base.id, base.stations[0]), "baseType", BaseType.NAVIGATE],
      [navigateAuto(base.id, base.stations), "baseType", BaseType.NAVIGATE_AUTO],
      [cartMission(cart.id, "traverseMission", cart.stations), "cartType", CartType.TRAVERSE],
      [cartMission(cart.id, "traversePatrolMission", cart.stations), "cartType", CartType.TRAVERSE_PATROL],
      [cartNavigate(cart.id, cart.stations[0]), "cartType", CartType.NAVIGATE],
      [cartMission(cart.id, "navigateAutoMission", cart.stations), "cartType", CartType.NAVIGATE_AUTO],
      [navigate(cart.id, cart.stations[0]), "baseType", BaseType.NAVIGATE],
      [serveMission(serve.id, "deliveryMission", serve.stations), "serveType", ServeType.SERVING],
      [
        serveMission(serve.id, "deliveryPatrolMission", serve.stations),
        "serveType",
        ServeType.SERVING_PATROL,
      ],
      [serveMission(serve.id, "bussingMission", serve.stations), "serveType", ServeType.BUSSING],
      [serveMission(serve.id, "bussingPatrolMission", serve.stations), "serveType", ServeType.BUSSING_PATROL],
      [serveMission(serve.id, "navigateAutoMission", serve.stations), "serveType", ServeType.NAVIGATE_AUTO],
    ];
    for (const [request, type, value] of cases) {
      const robotId = String(request.robotId);
      const { missionId } = await service.done("CreateMission", request);
      const [mission] = await missions(service, robotId);
      expect(mission?.missionType?.type).toEqual({ case: type, value });
      expect(mission?.missionFeedback?.feedback.case).toBe(type.replace("Type", "Feedback"));
      expect(mission?.goals.map(({ goal }) => goal.value)).toEqual(destinationsOf(request));
      await service.done("UpdateMission", command(robotId, missionId, "CANCEL"));
    }
  },
);

/** The destinations that a request names, in order, wherever they stand in it. */
function destinationsOf(request: JsonObject): string[] {
  return [...JSON.stringify(request).matchAll(/"destinationId":"([^"]+)"/g)].map(([, name]) => String(name));
}

overGrpc(
  "TRN-56 sequence_number: never negative, rises with each message, and may be reset to 0",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const selector = { targetId: { case: "robotIds" as const, value: { ids: [id] } } };
    const stream = service.client().stream(FleetService.method.subscribeMissionStatus, { selector });
    const sequence = async () => (await stream.next()).metadata?.sequenceNumber ?? -1n;
    let last = await sequence();
    expect(last).toBeGreaterThanOrEqual(0n);
    await started(service, id, stations[0]);
    for (let n = 0; n < 2; n += 1) {
      service.clock.advance(n * LONG_MS);
      const next = await sequence();
      expect(next).toBeGreaterThan(last);
      last = next;
    }
    service.simulator.control.happen({ kind: "sequence-reset", robotId: id });
    expect(await sequence()).toBe(0n);
    stream.cancel();
  },
);

overGrpc("TRN-59 A stream lives 60 minutes, then the service ends it", async (service) => {
  const selector = { targetId: { case: "locationId" as const, value: "annex" } };
  const stream = service.client().stream(FleetService.method.subscribeMissionStatus, { selector });
  let isOver = false;
  stream.ended.then(() => {
    isOver = true;
  });
  await stream.next();
  await stream.next();
  stream.raw.resume();
  await service.clock.settle(3_599_000);
  // An answer on the same connection comes behind whatever ended the stream.
  await service.latest("annex-1");
  expect(isOver).toBe(false);
  service.clock.advance(1_000);
  expect(await stream.ended).toBe(0);
});

overGrpc(
  "TRN-40 A robot that goes offline: its last report is what is told; back online, it reports at once",
  async (service) => {
    const { id, stations } = service.fresh("base");
    // Nobody has asked yet, and nothing has changed: the service keeps the state for a later subscriber.
    service.simulator.control.happen({ kind: "offline", robotId: id });
    const { mission } = navigate(id, stations[0]);
    await service.simulator.rest("POST", "/simulator/missions", { robotId: id, mission }, null);
    service.clock.advance(LONG_MS);
    const before = await service.latest(id);
    expect(before.missionStates?.missions).toEqual([]);
    const selector = { targetId: { case: "robotIds" as const, value: { ids: [id] } } };
    const stream = service.client().stream(FleetService.method.subscribeMissionStatus, { selector });
    expect(await stream.next()).toEqual(before);
    service.simulator.control.happen({ kind: "online", robotId: id });
    const after = await stream.next();
    expect(after.metadata?.sequenceNumber).toBeGreaterThan(before.metadata?.sequenceNumber ?? 0n);
    expect(after.missionStates?.missions[0]?.state).toBe(State.SUCCEEDED);
    stream.cancel();
  },
);
