import { describe, expect, it } from "vitest";
import {
  chosenOf,
  formOf,
  groupsOf,
  isShown,
  prefilled,
  problemOf,
  requestOf,
  robotNamed,
  withChoice,
} from "../../../src/console/commanding/form.ts";
import { offersFor, offersOf } from "../../../src/console/commanding/offers.ts";
import { begun, type Fleet, withRobots } from "../../../src/console/fleet/fleet.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import type { Operation } from "../../../src/northbound/web/api/command.ts";
import { operationJson } from "../../../src/northbound/web/resources/commands.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";

const catalogue = createCatalogue();

function operation(name: string): Operation {
  const found = catalogue.get(name);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return operationJson(found);
}

const examples = [...catalogue.values()].flatMap(({ name, examples: all }) =>
  all.map(({ title, request }) => [name, title, request] as const),
);

describe("a form", () => {
  it.each(examples)("of %s holds and gives the example '%s'", (name, _title, request) => {
    const { fields } = operation(name);
    expect(requestOf(fields, formOf(fields, request))).toEqual(request);
  });

  it("gives nothing for what is empty, and a chosen message though it is", () => {
    const { fields } = operation("CreateMissionWorkflow");
    const [workflow] = fields.filter(({ name }) => name === "mission_workflow");
    const serve = workflow?.fields.find(({ name }) => name === "serve_workflow");
    const birthday = withChoice(serve?.fields ?? [], {}, "birthday");
    const form = { robotId: " r1 ", missionWorkflow: { serveWorkflow: birthday } };
    expect(requestOf(fields, form)).toEqual({
      robotId: "r1",
      missionWorkflow: { serveWorkflow: { birthday: {} } },
    });
    expect(requestOf(fields, {})).toEqual({});
  });

  it("leaves text that is no number for the gateway to refuse, and takes the field from its answer", () => {
    const { fields } = operation("ControlConveyor");
    const form = { robotId: "r1", commands: [{ index: "one", command: "COMMAND_CONVEYOR_MOTOR_STOP" }] };
    const request = requestOf(fields, form);
    expect(request).toMatchObject({ commands: [{ index: "one" }] });
    const parsed = catalogue.get("ControlConveyor")?.parse(request);
    const problem = parsed?.ok === false ? parsed.problem : { path: "", message: "" };
    expect(problemOf(`request.${problem.path}: ${problem.message}`)).toEqual({
      path: "commands.0.index",
      text: 'should be a whole number of 32 bits, and is "one"',
    });
    expect(problemOf("the robot is not good: wait")).toEqual({
      path: "",
      text: "the robot is not good: wait",
    });
  });

  it("shows no message that could say nothing, unless it is one of several", () => {
    const serve = operation("CreateMissionWorkflow").fields[1]?.fields[0]?.fields ?? [];
    expect(serve.filter(isShown).map(({ name }) => name)).toContain("birthday");
    const cart = operation("CreateMission").fields[1]?.fields.find(({ name }) => name === "cart_mission");
    const traverse = cart?.fields[0]?.fields ?? [];
    expect([traverse.map(({ name }) => name), traverse.filter(isShown).map(({ name }) => name)]).toEqual([
      ["goals", "params"],
      ["goals"],
    ]);
  });

  it("has one field of a group at most", () => {
    const [mission] = operation("CreateMission").fields.filter(({ name }) => name === "mission");
    const fields = mission?.fields ?? [];
    const [group] = groupsOf(fields);
    if (group?.kind !== "choice") throw new Error("a mission is a choice");
    const first = withChoice(group.fields, {}, "baseMission");
    const second = withChoice(group.fields, first, "cartMission");
    expect([chosenOf(group.fields, first)?.name, chosenOf(group.fields, second)?.name]).toEqual([
      "base_mission",
      "cart_mission",
    ]);
    expect(withChoice(group.fields, second, null)).toEqual({});
  });
});

describe("what a form offers", () => {
  const at = "2026-01-02T03:04:05.000Z";
  const goals = [{ destination_id: "Station C" }];
  const robot = standingRobot("cart-1", { mission: oneMission({ goals }) });
  const empty = begun({
    at,
    session_id: "s1",
    gateway_id: "plant1",
    version: "1",
    configuration: 0,
    open: true,
    has_simulator: false,
    poll_ms: 1_000,
    robot_count: 1,
    maps: [{ map_id: 1, name: "Hall 1", read_at: at, bytes: 1 }],
    stations: [],
    alarms: { count: 0, alarms: [] },
    hold: { held: false, by: [], stored: true },
  });
  const reception = { now: { monotonicMs: 0, wallMs: 0 }, delayMs: 0, isMotionReduced: false };
  const fleet: Fleet = withRobots(empty, null, [robot], reception);
  const points = [
    { id: 1, code: "P1", alias: "Station A", x: 0, y: 0, theta: 0, type: 1 },
    { id: 2, code: "P2", alias: "", x: 20, y: 10, theta: 0, type: 1 },
  ];
  const offers = offersOf(fleet, points, robot);

  it.each<[string, readonly string[]]>([
    ["destination_id", ["P2", "Station A", "Station C"]],
    ["end_point_code", ["P1", "P2"]],
    ["robot_id", ["cart-1"]],
    ["amr_id", ["101"]],
    ["mission_id", ["m1"]],
    ["map_id", ["1"]],
    ["url", []],
  ])("for a field %s", (name, names) => {
    expect(offersFor({ name }, offers)).toEqual(names);
  });

  it("is filled in where a field names the robot, or what it does", () => {
    const filledIn = (name: string) => prefilled(operation(name).fields, {}, robot);
    expect(filledIn("UpdateMission")).toMatchObject({
      robotId: "cart-1",
      missionCommand: { missionId: "m1" },
    });
    expect(filledIn("PauseRobot")).toMatchObject({ amrId: "101" });
  });

  it("knows the robot that a request names, by id or by number", () => {
    const named = (name: string, request: Readonly<Record<string, unknown>>) =>
      robotNamed(fleet, operation(name), request)?.robot_id ?? null;
    expect(named("ChargeRobot", { robotId: "cart-1" })).toBe("cart-1");
    expect(named("AddTaskChain", { taskChain: { amrId: 101 } })).toBe("cart-1");
    expect(named("AddTaskChain", { taskChain: {} })).toBe(null);
    expect(named("CancelTaskChain", { taskChainId: 7 })).toBe(null);
    expect(named("ListWebhooks", {})).toBe(null);
  });
});
