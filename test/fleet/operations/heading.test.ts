import { expect, it } from "vitest";
import { createCatalogue } from "../../../src/fleet/operations.ts";

const catalogue = createCatalogue();
const goal = (destinationId: string) => ({ destinationId });
const pose = { pose: { xMeters: 1, yMeters: 2, headingRadians: 0 } };
const traverse = { cartMission: { traverseMission: { goals: [goal("A"), pose, goal("B")] } } };
const task = (endPointCode: string) => ({ taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode });
const update = (command: string) => ({ missionCommand: { missionId: "m1", command } });
const goals = (...names: readonly string[]) => ({ kind: "goals", names });

it.each<[string, object, object | null]>([
  ["CreateMission", { mission: traverse }, goals("A", "B")],
  ["AppendMission", { mission: traverse }, goals("A", "B")],
  ["CreateMission", { mission: { baseMission: { navigateMission: { goal: goal("A") } } } }, goals("A")],
  [
    "CreateMission",
    { mission: { baseMission: { navigateAutoMission: { goals: [goal("A"), goal("B")] } } } },
    goals("A", "B"),
  ],
  ["CreateMission", { mission: { baseMission: { navigateMission: { goal: pose } } } }, null],
  [
    "CreateMissionWorkflow",
    { missionWorkflow: { cartWorkflow: { traverse: { goals: [goal("A")] } } } },
    goals("A"),
  ],
  ["ChargeRobot", {}, null],
  ["SkipGoal", {}, { kind: "next_goal", missionId: "" }],
  ["UpdateMission", update("COMMAND_RESUME"), { kind: "mission", missionId: "m1" }],
  ["UpdateMission", update("COMMAND_FINISH"), { kind: "next_mission", missionId: "m1" }],
  ["UpdateMission", update("COMMAND_CANCEL"), null],
  ["UpdateMission", update("COMMAND_PAUSE"), null],
  ["ControlConveyor", { commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" }] }, null],
])("%s %j sends its robot to %j", (operation, request, destination) => {
  expectHeading(operation, { robotId: "r1", ...request }, destination);
});

it.each<[string, object, object | null]>([
  ["AddTaskChain", { taskChain: { amrId: 7 }, tasks: [task("P1"), task("P2")] }, goals("P1", "P2")],
  ["ReassignTaskByAmrId", { amrId: 7, reassignTasks: [task("P1")] }, goals("P1")],
  ["ReassignTaskByTaskChainId", { taskChainId: 3, reassignTasks: [task("P1")] }, goals("P1")],
  ["ResumeRobot", { amrId: 7 }, { kind: "mission", missionId: "" }],
  ["FinishTaskChain", { taskChainId: 3 }, null],
  ["PauseRobot", { amrId: 7 }, null],
])("%s %j of a robot by number sends it to %j", expectHeading);

function expectHeading(operation: string, request: object, destination: object | null): void {
  const parsed = catalogue.get(operation)?.parse(request);
  expect(parsed).toMatchObject({ ok: true });
  expect(parsed?.ok === true && parsed.request.destination).toEqual(destination);
}
