import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { MissionState_State as State } from "../../src/wire/fleet/v1/mission_pb.js";
import { cartMission, cartWorkflow, command, navigate, navigateAuto, started, tasks } from "./requests.ts";
import { contractTests, type Service } from "./service.ts";

const { onBoth } = contractTests();
const { DEFAULT, RUNNING, PAUSED, CANCELED, SUCCEEDED, FAILED } = State;

/** The states of a robot's missions, in the order of the list. */
async function states({ latest }: Service, robotId: string): Promise<readonly State[]> {
  const { missionStates } = await latest(robotId);
  return (missionStates?.missions ?? []).map(({ state }) => state);
}

async function currentGoal({ latest }: Service, robotId: string): Promise<number | undefined> {
  const { missionStates } = await latest(robotId);
  return missionStates?.missions[missionStates.currentMissionIndex]?.currentGoalIndex;
}

/** Puts a robot on a mission and gives it one command. */
async function commanded(service: Service, robotId: string, missionId: string, name: string): Promise<void> {
  expect(await service.done("UpdateMission", command(robotId, missionId, name))).toEqual({});
}

const everyCommand = ["CANCEL", "PAUSE", "RESUME", "FINISH"];
/** Longer than any drive of a test's robot. */
const LONG_MS = 60_000;

onBoth(
  "TRN-01 No mission or terminal + Create, Workflow, Charge: a new mission is created",
  async (service) => {
    const { id, stations } = service.fresh("cart");
    const creations: ReadonlyArray<readonly [string, JsonObject]> = [
      ["CreateMission", navigate(id, stations[0])],
      ["CreateMissionWorkflow", cartWorkflow(id, "traverse", stations)],
      ["ChargeRobot", { robotId: id }],
    ];
    for (const [operation, request] of [...creations, ...creations]) {
      const { missionId, missionIds } = (await service.done(operation, request)) as {
        missionId?: string;
        missionIds?: string[];
      };
      const listed = (await service.latest(id)).missionStates?.missions.map((mission) => mission.missionId);
      expect(listed).toEqual(missionIds ?? [missionId]);
      for (const each of listed ?? []) await commanded(service, id, each, "CANCEL");
    }
  },
);

onBoth(
  "TRN-02 Running + AppendMission: added at the end, executed in the order appended",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const ids = [await started(service, id, stations[0])];
    for (const destination of stations.slice(1)) {
      ids.push(String((await service.done("AppendMission", navigate(id, destination))).missionId));
    }
    const { missionStates } = await service.latest(id);
    expect(missionStates?.missions.map(({ missionId }) => missionId)).toEqual(ids);
    expect(await states(service, id)).toEqual([RUNNING, DEFAULT, DEFAULT]);
    service.clock.advance(LONG_MS);
    expect(await states(service, id)).toEqual([SUCCEEDED, SUCCEEDED, SUCCEEDED]);
    const reached = service.simulator.control
      .record(0)
      .flatMap(({ fact }) => (fact.what === "goal" && ids.includes(fact.missionId) ? [fact.missionId] : []));
    expect(reached).toEqual(ids);
  },
);

onBoth("TRN-03 Running + PAUSE: paused, and the robot stands", async (service) => {
  const { id, stations } = service.fresh("base");
  await commanded(service, id, await started(service, id, stations[0]), "PAUSE");
  expect(await states(service, id)).toEqual([PAUSED]);
  service.clock.advance(LONG_MS);
  expect(await states(service, id)).toEqual([PAUSED]);
});

onBoth("TRN-04 Paused + RESUME: running, and the robot goes on", async (service) => {
  const { id, stations } = service.fresh("base");
  const missionId = await started(service, id, stations[0]);
  await commanded(service, id, missionId, "PAUSE");
  await commanded(service, id, missionId, "RESUME");
  expect(await states(service, id)).toEqual([RUNNING]);
  service.clock.advance(LONG_MS);
  expect(await states(service, id)).toEqual([SUCCEEDED]);
});

onBoth("TRN-05 Running or paused + CANCEL: canceled", async (service) => {
  for (const before of [[], ["PAUSE"]]) {
    const { id, stations } = service.fresh("base");
    const missionId = await started(service, id, stations[0]);
    for (const each of [...before, "CANCEL"]) await commanded(service, id, missionId, each);
    expect(await states(service, id)).toEqual([CANCELED]);
  }
});

onBoth("TRN-06 Running or paused + FINISH: succeeded", async (service) => {
  for (const before of [[], ["PAUSE"]]) {
    const { id, stations } = service.fresh("base");
    const missionId = await started(service, id, stations[0]);
    for (const each of [...before, "FINISH"]) await commanded(service, id, missionId, each);
    expect(await states(service, id)).toEqual([SUCCEEDED]);
  }
});

onBoth(
  "TRN-07 Canceled, succeeded, failed + any command: FAILED_PRECONDITION, unchanged",
  async (service) => {
    const { id, stations } = service.fresh("base");
    for (const [end, state] of [
      ["CANCEL", CANCELED],
      ["FINISH", SUCCEEDED],
      ["", FAILED],
    ] as const) {
      const missionId = await started(service, id, stations[0]);
      if (end === "") service.simulator.control.happen({ kind: "battery", robotId: id, percent: 0 });
      else await commanded(service, id, missionId, end);
      for (const each of everyCommand) {
        expect(await service.code("UpdateMission", command(id, missionId, each))).toBe("FAILED_PRECONDITION");
      }
      expect(await states(service, id)).toEqual([state]);
    }
  },
);

onBoth("TRN-08 Queued + any command: NOT_FOUND, unchanged", async (service) => {
  const { id, stations } = service.fresh("base");
  await started(service, id, stations[0]);
  const { missionId } = await service.done("AppendMission", navigate(id, stations[1]));
  for (const each of everyCommand) {
    expect(await service.code("UpdateMission", command(id, missionId, each))).toBe("NOT_FOUND");
  }
  expect(await states(service, id)).toEqual([RUNNING, DEFAULT]);
});

onBoth(
  "TRN-09 Navigate-auto with every goal occupied or claimed: OK with an id, and failed",
  async (service) => {
    const [occupant, claimant, robot] = [service.fresh("base"), service.fresh("base"), service.fresh("base")];
    await started(service, claimant.id, claimant.stations[0]);
    const taken = [occupant.home, claimant.stations[0]];
    const { missionId } = await service.done("CreateMission", navigateAuto(robot.id, taken));
    expect(missionId).not.toBe("");
    expect(await states(service, robot.id)).toEqual([FAILED]);
  },
);

onBoth("TRN-10 Running + SkipGoal: stays running, the next goal is the current one", async (service) => {
  const { id, stations } = service.fresh("cart");
  const { missionId } = await service.done("CreateMission", cartMission(id, "traverseMission", stations));
  expect(await currentGoal(service, id)).toBe(0);
  expect(await service.done("SkipGoal", { robotId: id })).toEqual({ missionId });
  expect(await states(service, id)).toEqual([RUNNING]);
  expect(await currentGoal(service, id)).toBe(1);
});

onBoth("TRN-22 Paused is not terminal: Create, Workflow and Charge are refused", async (service) => {
  const { id, stations } = service.fresh("cart");
  await commanded(service, id, await started(service, id, stations[0]), "PAUSE");
  expect(await service.code("CreateMission", navigate(id, stations[1]))).toBe("FAILED_PRECONDITION");
  expect(await service.code("CreateMissionWorkflow", cartWorkflow(id, "traverse", stations))).toBe(
    "FAILED_PRECONDITION",
  );
  expect(await service.code("ChargeRobot", { robotId: id })).toBe("FAILED_PRECONDITION");
  expect(await states(service, id)).toEqual([PAUSED]);
});

onBoth("TRN-23 Paused + AppendMission: accepted", async (service) => {
  const { id, stations } = service.fresh("base");
  await commanded(service, id, await started(service, id, stations[0]), "PAUSE");
  await service.done("AppendMission", navigate(id, stations[1]));
  expect(await states(service, id)).toEqual([PAUSED, DEFAULT]);
});

onBoth("TRN-24 Paused + SkipGoal: FAILED_PRECONDITION, unchanged", async (service) => {
  const { id, stations } = service.fresh("cart");
  const { missionId } = await service.done("CreateMission", cartMission(id, "traverseMission", stations));
  await commanded(service, id, String(missionId), "PAUSE");
  expect(await service.code("SkipGoal", { robotId: id })).toBe("FAILED_PRECONDITION");
  expect(await currentGoal(service, id)).toBe(0);
});

onBoth("TRN-25 Paused + PAUSE, running + RESUME: FAILED_PRECONDITION", async (service) => {
  const { id, stations } = service.fresh("base");
  const missionId = await started(service, id, stations[0]);
  expect(await service.code("UpdateMission", command(id, missionId, "RESUME"))).toBe("FAILED_PRECONDITION");
  await commanded(service, id, missionId, "PAUSE");
  expect(await service.code("UpdateMission", command(id, missionId, "PAUSE"))).toBe("FAILED_PRECONDITION");
});

onBoth(
  "TRN-26 A robot busy with a task chain: Create, Workflow, Charge refused until it is over",
  async (service) => {
    const { id, amrId, stations, codes } = service.fresh("cart");
    const chain = { taskChain: { amrId }, tasks: tasks(1, ["LOAD", codes[0]]) };
    expect((await service.simulator.rest("POST", "/task/add", chain)).status).toBe(200);
    expect(await service.code("CreateMission", navigate(id, stations[0]))).toBe("FAILED_PRECONDITION");
    expect(await service.code("CreateMissionWorkflow", cartWorkflow(id, "traverse", stations))).toBe(
      "FAILED_PRECONDITION",
    );
    expect(await service.code("ChargeRobot", { robotId: id })).toBe("FAILED_PRECONDITION");
    service.clock.advance(LONG_MS);
    expect(await service.code("CreateMission", navigate(id, stations[0]))).toBe("OK");
  },
);

onBoth("TRN-27 Finished missions stay listed until the next Create, Workflow or Charge", async (service) => {
  const { id, stations } = service.fresh("base");
  await started(service, id, stations[0]);
  await service.done("AppendMission", navigate(id, stations[1]));
  service.clock.advance(LONG_MS);
  expect(await states(service, id)).toEqual([SUCCEEDED, SUCCEEDED]);
  await started(service, id, stations[0]);
  expect(await states(service, id)).toEqual([RUNNING]);
});

onBoth(
  "TRN-28 Nothing but terminal missions + AppendMission: the queue is empty, FAILED_PRECONDITION",
  async (service) => {
    const { id, stations } = service.fresh("base");
    await commanded(service, id, await started(service, id, stations[0]), "CANCEL");
    expect(await service.code("AppendMission", navigate(id, stations[1]))).toBe("FAILED_PRECONDITION");
  },
);

onBoth(
  "TRN-29 current_mission_index: -1 before the first, then the active or the last mission",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const index = async () => (await service.latest(id)).missionStates?.currentMissionIndex;
    expect(await index()).toBe(-1);
    const first = await started(service, id, stations[0]);
    await service.done("AppendMission", navigate(id, stations[1]));
    expect(await index()).toBe(0);
    await commanded(service, id, first, "CANCEL");
    expect(await index()).toBe(1);
    service.clock.advance(LONG_MS);
    expect(await index()).toBe(1);
  },
);

onBoth(
  "TRN-30 A new mission: running at once when nothing is before it, default in the queue",
  async (service) => {
    const { id, stations } = service.fresh("cart");
    await service.done("CreateMissionWorkflow", cartWorkflow(id, "traverse", stations));
    await service.done("AppendMission", navigate(id, stations[1]));
    expect(await states(service, id)).toEqual([RUNNING, DEFAULT, DEFAULT]);
  },
);

onBoth(
  "TRN-31 The next queued mission starts when the one before is canceled, succeeded or failed",
  async (service) => {
    const { id, stations } = service.fresh("base");
    const first = await started(service, id, stations[0]);
    const second = String((await service.done("AppendMission", navigate(id, stations[1]))).missionId);
    await service.done("AppendMission", navigateAuto(id, [service.fresh("base").home]));
    await service.done("AppendMission", navigate(id, stations[2]));
    await commanded(service, id, first, "CANCEL");
    expect(await states(service, id)).toEqual([CANCELED, RUNNING, DEFAULT, DEFAULT]);
    await commanded(service, id, second, "FINISH");
    expect(await states(service, id)).toEqual([CANCELED, SUCCEEDED, FAILED, RUNNING]);
  },
);

onBoth(
  "TRN-32 Navigate-auto takes the first goal neither occupied nor claimed, by mission or chain",
  async (service) => {
    const [occupant, claimant, chained, robot] = [
      service.fresh("base"),
      service.fresh("base"),
      service.fresh("base"),
      service.fresh("base"),
    ];
    await started(service, claimant.id, claimant.stations[0]);
    const chain = { taskChain: { amrId: chained.amrId }, tasks: tasks(1, ["LOAD", chained.codes[0]]) };
    expect((await service.simulator.rest("POST", "/task/add", chain)).status).toBe(200);
    const goals = [
      occupant.home,
      claimant.stations[0],
      chained.stations[0],
      robot.stations[1],
      robot.stations[0],
    ];
    await service.done("CreateMission", navigateAuto(robot.id, goals));
    expect(await states(service, robot.id)).toEqual([RUNNING]);
    expect(await currentGoal(service, robot.id)).toBe(3);
  },
);

onBoth("TRN-33 SkipGoal on the last goal: the mission has succeeded", async (service) => {
  const { id, stations } = service.fresh("cart");
  await service.done("CreateMission", cartMission(id, "traverseMission", stations));
  for (const _ of stations) await service.done("SkipGoal", { robotId: id });
  expect(await states(service, id)).toEqual([SUCCEEDED]);
});

onBoth("TRN-34 SkipGoal on the last goal of a patrol: it goes on with the first", async (service) => {
  const { id, stations } = service.fresh("cart");
  await service.done("CreateMission", cartMission(id, "traversePatrolMission", stations));
  for (const _ of stations) await service.done("SkipGoal", { robotId: id });
  expect(await states(service, id)).toEqual([RUNNING]);
  expect(await currentGoal(service, id)).toBe(0);
});

onBoth(
  "TRN-45 A robot's own progress: succeeded at its goal; failed when flat, and when blocked too long",
  async (service) => {
    const arriving = service.fresh("base");
    const [flat, blocked] = [service.fresh("base"), service.fresh("base")];
    const { happen } = service.simulator.control;
    for (const { id, stations } of [arriving, flat, blocked]) await started(service, id, stations[0]);
    happen({ kind: "battery", robotId: flat.id, percent: 0 });
    happen({ kind: "blocked", robotId: blocked.id });
    service.clock.advance(LONG_MS);
    expect(await states(service, arriving.id)).toEqual([SUCCEEDED]);
    expect(await states(service, flat.id)).toEqual([FAILED]);
    expect(await states(service, blocked.id)).toEqual([RUNNING]);
    service.clock.advance(LONG_MS);
    expect(await states(service, blocked.id)).toEqual([FAILED]);
  },
);

onBoth("TRN-44 The owner of a mission: api, touchscreen, or another client", async (service) => {
  const { id, stations } = service.fresh("base");
  const owner = async () => (await service.latest(id)).missionStates?.missions[0]?.owner;
  await commanded(service, id, await started(service, id, stations[0]), "CANCEL");
  expect(await owner()).toBe("api");
  for (const name of ["touchscreen", "warehouse"]) {
    const { mission } = navigate(id, stations[0]);
    const answer = await service.simulator.rest(
      "POST",
      "/simulator/missions",
      { robotId: id, owner: name, mission },
      null,
    );
    const { missionId } = answer.json() as { missionId: string };
    expect(await owner()).toBe(name);
    await commanded(service, id, missionId, "CANCEL");
  }
});
