import { describe, expect, it } from "vitest";
import { methods } from "../../../src/fleet/operations/row.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";

const manual = createCatalogue();
const each = [...manual.values()].map((operation) => [operation.name, operation] as const);

describe("the manual of operations", () => {
  it.each(each)("%s has examples that it takes itself", (_name, operation) => {
    expect(operation.examples.length).toBeGreaterThan(0);
    for (const { request } of operation.examples) {
      expect(operation.parse(request)).toMatchObject({ ok: true });
    }
  });

  it.each(each)("%s needs what its fields call required", (_name, operation) => {
    const [example] = operation.examples;
    for (const field of operation.fields.filter(({ isRequired }) => isRequired)) {
      const rest = Object.entries(example?.request as object).filter(([key]) => key !== field.jsonName);
      expect(operation.parse(Object.fromEntries(rest))).toEqual({
        ok: false,
        problem: { path: field.name, message: "is required" },
      });
    }
  });

  it.each(["ReassignTaskByAmrId", "ReassignTaskByTaskChainId"])("%s counts its point from 1", (name) => {
    expect(manual.get(name)?.examples).toMatchObject([
      { title: "from the second task on", request: { sequence: 2 } },
    ]);
  });

  it("has an example for each effect that a request may have", () => {
    const effects = (name: string) =>
      manual.get(name)?.examples.map(({ request }) => {
        const parsed = manual.get(name)?.parse(request);
        return parsed?.ok === true ? parsed.request.effect : null;
      });
    expect(effects("UpdateMission")).toEqual(["stops", "stops", "moves", "moves"]);
    expect(effects("ControlConveyor")).toEqual(["stops", "moves", "moves"]);
  });

  it.each(each)("%s reads if its descriptor says that it changes nothing", (name, operation) => {
    const effects = operation.examples.map(({ request }) => {
      const parsed = operation.parse(request);
      return parsed.ok ? parsed.request.effect : null;
    });
    expect(effects.includes("reads")).toBe(methods.get(name)?.reads);
  });

  it("has a German name for each operation, and no name twice", () => {
    const names = each.map(([, { german }]) => german.name);
    expect(new Set(names).size).toBe(names.length);
  });

  it("says where a request names its robot", () => {
    const named = Object.fromEntries(each.map(([name, { robotField }]) => [name, robotField]));
    expect(named).toMatchObject({
      CreateMission: { path: ["robotId"], by: "id" },
      AddTaskChain: { path: ["taskChain", "amrId"], by: "number" },
      PauseRobot: { path: ["amrId"], by: "number" },
      CreateWebhook: null,
      FinishTaskChain: null,
      GetMap: null,
    });
  });

  it("knows the fields down to the leaves", () => {
    const update = manual.get("UpdateMission")?.fields.find(({ name }) => name === "mission_command");
    const command = update?.fields.find(({ name }) => name === "command");
    expect(command).toMatchObject({ jsonName: "command", type: "Command", fields: [] });
    expect(command?.values).toContain("COMMAND_CANCEL");
  });
});
