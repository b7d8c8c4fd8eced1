import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { int32, text } from "./plc.ts";

/** Every stop and every confirmation by a tag, through a real session against the simulated service. */
let harness: E2eHarness;

beforeAll(async () => {
  harness = await openE2eHarness(
    { timeFactor: 20 },
    {
      opcua: {
        robots: { "cart-01": { number: 1 }, "cart-02": { number: 2 }, "serve-01": { number: 3 } },
        destinations: { 1: "Station A", 2: "Station D" },
      },
      stations: { Press: { destinations: ["Station A"], heartbeatMs: 60_000 } },
    },
  );
  for (const name of ["cart-01", "cart-02"]) {
    const shown = await harness.plc.follow(`Robots.${name}.Position.AmrId`);
    await shown.first("its number", ({ status }) => status === "Good");
    await harness.plc.shows(`Robots.${name}.ReadyForCommand`, true);
  }
});
afterAll(() => harness.close());

let robot = "cart-01";
const slot = (name: string) => `Robots.${robot}.MissionSlot.${name}`;
const array = (...numbers: number[]) =>
  ({
    dataType: "Int32",
    arrayType: "Array",
    value: Int32Array.from({ length: 12 }, (_, at) => numbers[at] ?? 0),
  }) as const;

/** Writes a whole command to the slot at `path`, and waits for its end. @returns Outcome, ErrorId */
async function command(path: string, ...numbers: number[]): Promise<readonly unknown[]> {
  const ticket = await harness.plc.nextId(`${path}.NextId`);
  expect(await harness.plc.write([`${path}.Command`, array(ticket, ...numbers)])).toEqual(["Good"]);
  await harness.plc.shows(`${path}.DoneId`, ticket);
  return Promise.all([harness.plc.value(`${path}.Outcome`), harness.plc.value(`${path}.ErrorId`)]);
}

const order = (...numbers: number[]) => command(`Robots.${robot}.MissionSlot`, ...numbers);

async function orderText(words: string): Promise<readonly unknown[]> {
  const ticket = await harness.plc.nextId(slot("NextId"));
  await harness.plc.write([slot("CommandText"), text(`${ticket};${words}`)]);
  await harness.plc.shows(slot("DoneId"), ticket);
  return Promise.all([harness.plc.value(slot("Outcome")), harness.plc.value(slot("ErrorId"))]);
}

/** The requests that the service has had for this robot since `from`, with their operations. */
function requests(from: number): readonly (readonly [string, unknown])[] {
  return harness
    .record(robot)
    .slice(from)
    .flatMap(({ fact }) => (fact.what === "received" ? [[fact.operation, fact.request] as const] : []))
    .filter(([operation]) => !operation.startsWith("Get") && !operation.startsWith("Subscribe"));
}

const CONFIRM = { taskType: "TASK_TYPE_SYSTEM_CONFIRM", mapId: 1, endPointCode: "ST-A" };
const LOAD = { taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode: "ST-B" };
let chains = 0;

/** Gives the robot a task chain, and waits until its tags show that. */
async function startChain(...tasks: readonly object[]): Promise<number> {
  const amrId = await harness.plc.value(`Robots.${robot}.Position.AmrId`);
  chains += 1;
  const taskChain = { amrId, name: "test", areaId: 1 };
  const answer = await harness.mqtt.send("AddTaskChain", `chain-${chains}`, { taskChain, tasks });
  expect(answer).toMatchObject({ outcome: "succeeded" });
  const chainId = Number(answer.response?.task_chain_id);
  await harness.plc.shows(`Robots.${robot}.Position.TaskChainId`, chainId);
  return chainId;
}

const state = (name: string) => harness.plc.shows(`Robots.${robot}.Position.StateId`, `ROBOT_STATE_${name}`);
const accepted = () => harness.plc.value(slot("AcceptedText"));

beforeEach(() => {
  robot = "cart-01";
});

test("pause now and at the next waypoint, resume, and cancel without and with force", async () => {
  // Enough for a busy machine: the robot must not have ended when it is to pause.
  const chainId = await startChain(LOAD, LOAD, LOAD, LOAD);
  const amrId = await harness.plc.value(`Robots.${robot}.Position.AmrId`);
  const from = harness.record(robot).length;
  // What stands in other places does not hold a stop back, nor does it name another chain.
  expect(await order(15, 99, 98)).toEqual([3, 0]);
  expect(await accepted()).toBe("pause the robot now");
  await state("PAUSED");
  expect(await order(16)).toEqual([3, 0]);
  await state("EXECUTING");
  expect(await orderText("19;stray")).toEqual([3, 0]);
  await state("PAUSED");
  // A task is under way: without force the service refuses.
  expect(await order(14, 77)).toEqual([4, 9]);
  expect(await orderText(`18;${chainId}`)).toEqual([3, 0]);
  await harness.plc.shows(`Robots.${robot}.Position.TaskChainId`, 0);
  expect(requests(from)).toMatchObject([
    ["PauseRobot", { amrId, stopNow: true }],
    ["ResumeRobot", { amrId }],
    ["PauseRobot", { amrId }],
    ["CancelTaskChain", { taskChainId: chainId }],
    ["CancelTaskChain", { taskChainId: chainId, force: true }],
  ]);
  // No chain is left: the stop goes out all the same, and a resume is the service's to refuse.
  expect(await order(18)).toEqual([4, expect.any(Number)]);
  expect(await accepted()).toBe("cancel whatever waits");
  expect(await order(16)).toEqual([4, 9]);
});

test("confirms the chain's waiting task, by the station's slot too, and only that of the chain it names", async () => {
  robot = "cart-02";
  const chainId = await startChain(CONFIRM, CONFIRM);
  const station = "Stations.Press.Slot";
  expect(await command(station, 17, 2, 0, 0, chainId + 1)).toEqual([4, 1000]);
  expect(await harness.plc.value(`${station}.ErrorText`)).toBe(
    `the command names chain ${chainId + 1}, and the robot executes chain ${chainId}`,
  );
  await harness.plc.shows(`Robots.${robot}.TaskChain.WaitsForConfirmation`, true);
  const confirm = () => command(station, 17, 2, 0, 0, chainId);
  let confirmed = await confirm();
  // The tag follows from the robot's place: a robot that is just arriving does not wait yet.
  while (confirmed[0] === 4 && confirmed[1] === 9) confirmed = await confirm();
  expect(confirmed).toEqual([3, 0]);
  await harness.plc.shows(`Robots.${robot}.TaskChain.CurrentTaskIndex`, 1);
  await harness.plc.shows(`Robots.${robot}.TaskChain.WaitsForConfirmation`, true);
  expect(await harness.plc.value(`Robots.${robot}.StandText`)).toBe(
    "its task chain waits for a confirmation at ST-A",
  );
  expect(await harness.plc.value(`Robots.${robot}.TaskChain.Id`)).toBe(chainId);
  expect(await harness.plc.value(`Robots.${robot}.TaskChain.TaskCount`)).toBe(2);
  const ticket = await harness.plc.nextId(slot("NextId"));
  await harness.plc.write(
    [slot("Operation"), int32(17)],
    [slot("TargetTaskChainId"), int32(chainId)],
    [slot("RequestId"), int32(ticket)],
  );
  await harness.plc.shows(slot("DoneId"), ticket);
  expect(await harness.plc.value(slot("Outcome"))).toBe(3);
  await harness.plc.shows(`Robots.${robot}.Position.TaskChainId`, 0);
  expect(await harness.plc.value(`Robots.${robot}.TaskChain.CurrentTaskIndex`)).toBe(-1);
  expect(await order(17)).toEqual([4, 1000]);
});

test("sends a pose in mm and mrad, and a workflow", async () => {
  const from = harness.record(robot).length;
  expect(await order(70, 3_500, 6_000, 1_571)).toEqual([3, 0]);
  expect(await accepted()).toBe("navigate to pose 3.5 6 1.571");
  // It may have arrived: then the service refuses to cancel it.
  expect([
    [3, 0],
    [4, 9],
  ]).toContainEqual(await order(10));
  expect(await order(63, 1, 2)).toEqual([3, 0]);
  expect(await accepted()).toBe("workflow: traverse Station A, Station D");
  expect(await order(65, 1)).toEqual([4, 1000]);
  expect(requests(from)).toMatchObject([
    [
      "CreateMission",
      { mission: { cartMission: { navigateMission: { goal: { pose: { xMeters: 3.5 } } } } } },
    ],
    ["UpdateMission", {}],
    ["CreateMissionWorkflow", { missionWorkflow: { cartWorkflow: { traverse: { goals: [{}, {}] } } } }],
  ]);
  // A pose by parameters, from the station's slot.
  const path = "Stations.Press.Slot";
  const ticket = await harness.plc.nextId(`${path}.NextId`);
  const pose = { dataType: "Int32", arrayType: "Array", value: Int32Array.of(1_000, 2_000, 0) } as const;
  expect(
    await harness.plc.write(
      [`${path}.Robot`, text("cart-01")],
      [`${path}.Operation`, int32(90)],
      [`${path}.Pose`, { ...pose, value: Int32Array.of(1) }],
    ),
  ).toEqual(["Good", "Good", "BadOutOfRange"]);
  await harness.plc.write(
    [`${path}.Robot`, text("cart-01")],
    [`${path}.Operation`, int32(90)],
    [`${path}.Pose`, pose],
    [`${path}.RequestId`, int32(ticket)],
  );
  await harness.plc.shows(`${path}.DoneId`, ticket);
  expect(await harness.plc.value(`${path}.Outcome`)).toBe(3);
  expect(await harness.plc.value(`${path}.AcceptedText`)).toBe("cart-01: then navigate to pose 1 2 0");
  await order(10);
});

test("the birthday workflow is of one goal, and of serve robots", async () => {
  robot = "serve-01";
  const from = harness.record(robot).length;
  expect(await order(60, 1)).toEqual([3, 0]);
  expect(requests(from)).toMatchObject([
    ["CreateMissionWorkflow", { missionWorkflow: { serveWorkflow: { birthday: { goal: {} } } } }],
  ]);
});
