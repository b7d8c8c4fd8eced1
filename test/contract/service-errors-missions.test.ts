import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
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

const { onBoth } = contractTests();

/** Holds that each request is refused with a code. */
async function refused(
  { code }: Service,
  operation: string,
  expected: string,
  requests: readonly JsonObject[],
): Promise<void> {
  for (const request of requests) {
    expect(`${await code(operation, request)} ${JSON.stringify(request)}`).toBe(
      `${expected} ${JSON.stringify(request)}`,
    );
  }
}

/** Holds that an internal failure, before the effect and after it, is told as INTERNAL. */
async function failsInside(
  { simulator, ask }: Service,
  operation: string,
  request: JsonObject,
): Promise<void> {
  for (const effect of ["internal-before", "internal-after"] as const) {
    simulator.control.apply({ kind: "command", operation, effect, count: 1 });
    expect((await ask(operation, request)).code).toBe("INTERNAL");
    expect(simulator.control.faults()).toEqual([]);
  }
}

/** Holds that a robot that does not confirm in 10 s is told as DEADLINE_EXCEEDED, and not sooner. */
async function timesOut(service: Service, operation: string, request: JsonObject): Promise<void> {
  const { simulator, clock, askWhile } = service;
  simulator.control.apply({ kind: "command", operation, effect: "delay-not-taken", count: 1 });
  const beganMs = clock.nowMs();
  expect((await askWhile(operation, request)).code).toBe("DEADLINE_EXCEEDED");
  expect(clock.nowMs() - beganMs).toBeGreaterThanOrEqual(10_000);
  expect(clock.nowMs() - beganMs).toBeLessThan(10_200);
}

const badGoals = (robotId: string): JsonObject[] => {
  const to = (goal: JsonObject): JsonObject => ({
    robotId,
    mission: { baseMission: { navigateMission: { goal } } },
  });
  return [
    to({}),
    to({ destinationId: "" }),
    to({ destinationId: "Nowhere" }),
    // The refusal, which names it, must fit into a header.
    to({ destinationId: "Nowhere ".repeat(25_000) }),
    to({ destinationId: "🏭".repeat(25_000) }),
    to({ pose: { xMeters: -1_000, yMeters: 0, headingRadians: 0 } }),
    to({ pose: { xMeters: 1, yMeters: 1, headingRadians: "NaN" } }),
  ];
};

const badMissions = (robotId: string): JsonObject[] => [
  {},
  { robotId },
  { robotId: "", ...navigate("", "Nowhere") },
  { robotId, mission: {} },
  { robotId, mission: { baseMission: {} } },
  { robotId, mission: { baseMission: { navigateMission: {} } } },
  { robotId, mission: { baseMission: { navigateAutoMission: { goals: [] } } } },
  ...badGoals(robotId),
];

onBoth(
  "ERR-01 CreateMission (base) while a mission runs: FAILED_PRECONDITION; accepted after it",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const missionId = await started(service, id, stations[0]);
    expect(await service.code("CreateMission", navigate(id, stations[1]))).toBe("FAILED_PRECONDITION");
    await service.done("UpdateMission", command(id, missionId, "CANCEL"));
    expect(await service.code("CreateMission", navigate(id, stations[1]))).toBe("OK");
  },
);

onBoth("ERR-02 CreateMission (base), malformed: INVALID_ARGUMENT", async (service) => {
  const { id, stations } = service.fresh("base");
  await refused(service, "CreateMission", "INVALID_ARGUMENT", [
    ...badMissions(id),
    cartNavigate(id, stations[0]),
    serveMission(id, "deliveryMission", stations),
    navigateAuto(id, [stations[0], "Nowhere"]),
  ]);
  expect((await service.latest(id)).missionStates?.missions).toEqual([]);
});

onBoth("ERR-03 CreateMission (base), internal failure: INTERNAL", async (service) => {
  const { id, stations } = service.fresh("base");
  await failsInside(service, "CreateMission", navigate(id, stations[0]));
});

onBoth("ERR-04 CreateMission (base), no confirmation: DEADLINE_EXCEEDED", async (service) => {
  const { id, stations } = service.fresh("base");
  await timesOut(service, "CreateMission", navigate(id, stations[0]));
});

onBoth(
  "ERR-05 CreateMission (cart), empty robot_id, null mission, other family: INVALID_ARGUMENT",
  async (service) => {
    const { id, stations } = service.fresh("cart");
    await refused(service, "CreateMission", "INVALID_ARGUMENT", [
      cartNavigate("", stations[0]),
      { robotId: id },
      { robotId: id, mission: { cartMission: {} } },
      cartMission(id, "traverseMission", []),
      cartMission(id, "traversePatrolMission", ["Nowhere"]),
      serveMission(id, "bussingMission", stations),
      cartNavigate(service.fresh("base").id, stations[0]),
      cartNavigate(service.fresh("serve").id, stations[0]),
    ]);
  },
);

onBoth("ERR-06 CreateMission (cart), foreign robot: PERMISSION_DENIED", async (service) => {
  expect(await service.code("CreateMission", cartNavigate("globex-01", "G2"))).toBe("PERMISSION_DENIED");
});

onBoth("ERR-07 CreateMission (cart), unknown robot: NOT_FOUND", async (service) => {
  expect(await service.code("CreateMission", cartNavigate("nobody", "G2"))).toBe("NOT_FOUND");
});

onBoth("ERR-08 CreateMission (cart), internal failure: INTERNAL", async (service) => {
  const { id, stations } = service.fresh("cart");
  await failsInside(service, "CreateMission", cartNavigate(id, stations[0]));
});

onBoth(
  "ERR-09 CreateMission (cart) while a mission runs: FAILED_PRECONDITION; accepted after it",
  async (service) => {
    const { id, stations } = service.fresh("cart");
    const { missionId } = await service.done("CreateMission", cartMission(id, "traverseMission", stations));
    expect(await service.code("CreateMission", cartNavigate(id, stations[0]))).toBe("FAILED_PRECONDITION");
    await service.done("UpdateMission", command(id, missionId, "FINISH"));
    expect(await service.code("CreateMission", cartNavigate(id, stations[0]))).toBe("OK");
  },
);

onBoth("ERR-10 AppendMission onto an empty queue: FAILED_PRECONDITION", async (service) => {
  const { id, stations } = service.fresh("base");
  expect(await service.code("AppendMission", navigate(id, stations[0]))).toBe("FAILED_PRECONDITION");
});

onBoth("ERR-11 AppendMission, malformed: INVALID_ARGUMENT", async (service) => {
  const { id, stations } = service.fresh("base");
  await started(service, id, stations[0]);
  await refused(service, "AppendMission", "INVALID_ARGUMENT", [
    ...badMissions(id),
    cartNavigate(id, stations[0]),
  ]);
  expect((await service.latest(id)).missionStates?.missions).toHaveLength(1);
});

onBoth(
  "ERR-12 AppendMission, internal failure or no confirmation: INTERNAL, DEADLINE_EXCEEDED",
  async (service) => {
    const { id, stations } = service.fresh("aisle");
    await started(service, id, stations[0]);
    await failsInside(service, "AppendMission", navigate(id, stations[1]));
    await timesOut(service, "AppendMission", navigate(id, stations[1]));
  },
);

onBoth(
  "ERR-13 UpdateMission without a mission, or not fitting its state: FAILED_PRECONDITION",
  async (service) => {
    const { id, stations } = service.fresh("base");
    await refused(service, "UpdateMission", "FAILED_PRECONDITION", [command(id, "any", "CANCEL")]);
    const missionId = await started(service, id, stations[0]);
    await refused(service, "UpdateMission", "FAILED_PRECONDITION", [command(id, missionId, "RESUME")]);
    await service.done("UpdateMission", command(id, missionId, "CANCEL"));
    await refused(service, "UpdateMission", "FAILED_PRECONDITION", [command(id, missionId, "PAUSE")]);
  },
);

onBoth("ERR-14 UpdateMission, malformed or of another mission: INVALID_ARGUMENT", async (service) => {
  const { id, stations } = service.fresh("base");
  const older = await started(service, id, stations[0]);
  await service.done("UpdateMission", command(id, older, "CANCEL"));
  const missionId = await started(service, id, stations[1]);
  await refused(service, "UpdateMission", "INVALID_ARGUMENT", [
    {},
    { robotId: id },
    { robotId: id, missionCommand: { missionId } },
    command(id, missionId, "UNKNOWN"),
    { robotId: id, missionCommand: { missionId, command: 99 } },
    command(id, "", "PAUSE"),
    command("", missionId, "PAUSE"),
    command(id, "not-a-mission", "PAUSE"),
    command(id, older, "PAUSE"),
  ]);
});

onBoth("ERR-15 UpdateMission of a queued mission: NOT_FOUND", async (service) => {
  const { id, stations } = service.fresh("base");
  await started(service, id, stations[0]);
  const { missionId } = await service.done("AppendMission", navigate(id, stations[1]));
  expect(await service.code("UpdateMission", command(id, missionId, "CANCEL"))).toBe("NOT_FOUND");
});

onBoth(
  "ERR-16 UpdateMission, internal failure or no confirmation: INTERNAL, DEADLINE_EXCEEDED",
  async (service) => {
    const { id, stations } = service.fresh("aisle");
    const missionId = await started(service, id, stations[0]);
    const pause = command(id, missionId, "PAUSE");
    await timesOut(service, "UpdateMission", pause);
    await failsInside(service, "UpdateMission", pause);
  },
);

onBoth(
  "ERR-17 CreateMissionWorkflow while a mission runs: FAILED_PRECONDITION; accepted after it",
  async (service) => {
    const { id, stations } = service.fresh("cart");
    const workflow = cartWorkflow(id, "traverse", stations);
    const { missionId } = await service.done("CreateMission", cartNavigate(id, stations[0]));
    expect(await service.code("CreateMissionWorkflow", workflow)).toBe("FAILED_PRECONDITION");
    await service.done("UpdateMission", command(id, missionId, "CANCEL"));
    expect(await service.code("CreateMissionWorkflow", workflow)).toBe("OK");
  },
);

onBoth("ERR-18 CreateMissionWorkflow, malformed or of another family: INVALID_ARGUMENT", async (service) => {
  const { id, stations } = service.fresh("cart");
  const serve = service.fresh("serve");
  const base = service.fresh("base");
  await refused(service, "CreateMissionWorkflow", "INVALID_ARGUMENT", [
    {},
    { robotId: id },
    cartWorkflow("", "traverse", stations),
    { robotId: id, missionWorkflow: {} },
    { robotId: id, missionWorkflow: { cartWorkflow: {} } },
    { robotId: serve.id, missionWorkflow: { serveWorkflow: {} } },
    cartWorkflow(id, "traverse", []),
    cartWorkflow(id, "traversePatrol", ["Nowhere"]),
    serveWorkflow(id, "delivery", stations),
    { robotId: serve.id, missionWorkflow: { serveWorkflow: { birthday: {} } } },
    cartWorkflow(serve.id, "traverse", serve.stations),
    cartWorkflow(base.id, "traverse", base.stations),
    serveWorkflow(base.id, "hosting", base.stations),
  ]);
});

onBoth("ERR-19 CreateMissionWorkflow, foreign robot: PERMISSION_DENIED", async (service) => {
  const request = cartWorkflow("globex-01", "traverse", ["G2"]);
  expect(await service.code("CreateMissionWorkflow", request)).toBe("PERMISSION_DENIED");
});

onBoth("ERR-20 CreateMissionWorkflow, unknown robot: NOT_FOUND", async (service) => {
  const request = cartWorkflow("nobody", "traverse", ["G2"]);
  expect(await service.code("CreateMissionWorkflow", request)).toBe("NOT_FOUND");
});

onBoth(
  "ERR-21 CreateMissionWorkflow, internal failure or no confirmation: INTERNAL, DEADLINE_EXCEEDED",
  async (service) => {
    const { id, stations } = service.fresh("cart");
    await timesOut(service, "CreateMissionWorkflow", cartWorkflow(id, "traverse", stations));
    await failsInside(service, "CreateMissionWorkflow", cartWorkflow(id, "traverse", stations));
  },
);

onBoth("ERR-22 SkipGoal without a running mission: FAILED_PRECONDITION", async (service) => {
  const { id, stations } = service.fresh("cart");
  await refused(service, "SkipGoal", "FAILED_PRECONDITION", [{ robotId: id }]);
  const { missionId } = await service.done("CreateMission", cartMission(id, "traverseMission", stations));
  await service.done("UpdateMission", command(id, missionId, "CANCEL"));
  await refused(service, "SkipGoal", "FAILED_PRECONDITION", [{ robotId: id }]);
});

onBoth("ERR-23 SkipGoal, empty robot_id or another format error: INVALID_ARGUMENT", async (service) => {
  await refused(service, "SkipGoal", "INVALID_ARGUMENT", [
    {},
    { robotId: "" },
    { robotId: "x".repeat(10_000) },
  ]);
});

onBoth("ERR-24 SkipGoal, foreign robot: PERMISSION_DENIED", async (service) => {
  expect(await service.code("SkipGoal", { robotId: "globex-01" })).toBe("PERMISSION_DENIED");
});

onBoth("ERR-25 SkipGoal, unknown robot: NOT_FOUND", async (service) => {
  expect(await service.code("SkipGoal", { robotId: "nobody" })).toBe("NOT_FOUND");
});

onBoth("ERR-26 SkipGoal that cannot be delivered or fails: INTERNAL", async (service) => {
  const { id, stations } = service.fresh("cart");
  await service.done("CreateMission", cartMission(id, "traverseMission", stations));
  await failsInside(service, "SkipGoal", { robotId: id });
  service.simulator.control.happen({ kind: "offline", robotId: id });
  expect((await service.askWhile("SkipGoal", { robotId: id })).code).toBe("INTERNAL");
});
