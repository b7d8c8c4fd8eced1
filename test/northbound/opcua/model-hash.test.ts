import { describe, expect, it } from "vitest";
import { methodModels, queryOutcome } from "../../../src/northbound/opcua/commands/method-models.ts";
import type { MethodModel } from "../../../src/northbound/opcua/model/method.ts";
import { modelHash } from "../../../src/northbound/opcua/model-hash.ts";
import type { KnownRobot, StationNode } from "../../../src/northbound/opcua/options.ts";
import { layoutOf } from "../../../src/northbound/opcua/plant-layout.ts";
import { nowOf } from "../../support/live.ts";
import { fakeCatalogue } from "./fake-commands.ts";
import { opcUaOptions, openSession, startServer } from "./opcua-harness.ts";

const robot: KnownRobot = {
  robotId: "r1",
  alias: null,
  number: null,
  family: "cart",
  conveyorIndexes: [1, 2],
};
const other: KnownRobot = { ...robot, robotId: "r2", alias: "AMR02", conveyorIndexes: [] };
const station: StationNode = { name: "load", needsPermit: false, load: null };
const user = { name: "plc", secret: { kind: "plain", text: "secret" }, role: "operator", number: 1 } as const;
const plant = {
  robots: [robot, other],
  stations: [station],
  users: [user],
};
const methods = methodModels(fakeCatalogue());
const hashOf = (changed: Parameters<typeof opcUaOptions>[0], ofMethods = methods) =>
  modelHash(layoutOf(nowOf(opcUaOptions({ ...plant, ...changed }))), ofMethods);

describe("ModelHash", () => {
  it("is the same number in each build, until the types change", () => {
    // Another number here means that each plant has to import again: say so in the changelog.
    expect(hashOf({})).toMatchInlineSnapshot(`609947974`);
  });

  it.each<[what: string, changed: Parameters<typeof opcUaOptions>[0]]>([
    ["another robot", { robots: [robot, other, { ...robot, robotId: "r3" }] }],
    ["an alias", { robots: [{ ...robot, alias: "AMR01" }, other] }],
    ["a robot that is no cart", { robots: [robot, { ...other, family: "serve" }] }],
    ["another conveyor", { robots: [{ ...robot, conveyorIndexes: [1, 2, 3] }, other] }],
    ["a second mission slot", { missionSlots: 2 }],
    ["another station", { stations: [station, { ...station, name: "unload" }] }],
    ["the name of a station", { stations: [{ ...station, name: "load 1" }] }],
    ["a cluster", { isClustered: true }],
    ["a permit", { stations: [{ ...station, needsPermit: true }] }],
  ])("is another one with %s", (_what, changed) => {
    expect(hashOf(changed)).not.toBe(hashOf({}));
  });

  it.each<[what: string, changed: Parameters<typeof opcUaOptions>[0]]>([
    ["another order", { robots: [other, { ...robot, conveyorIndexes: [2, 1, 2] }] }],
    ["another robot behind an alias", { robots: [robot, { ...other, robotId: "r9" }] }],
    ["numbers, destinations and users", { robots: [{ ...robot, number: 3 }, other], users: [], port: 4840 }],
  ])("is the same with %s", (_what, changed) => {
    expect(hashOf(changed)).toBe(hashOf({}));
  });

  const navigate = methods.find(({ name }) => name === "Navigate") ?? queryOutcome;
  const [first, second, ...others] = navigate.inputs;
  if (first === undefined || second === undefined) throw new Error("Navigate has no arguments");

  it.each<[what: string, changed: Partial<MethodModel>]>([
    ["another argument", { inputs: [...navigate.inputs, first] }],
    ["another order of arguments", { inputs: [second, first, ...others] }],
    ["another name of an argument", { inputs: [{ ...first, name: "Id" }, second, ...others] }],
    ["another data type of an argument", { inputs: [{ ...first, type: "Int32" }, second, ...others] }],
    ["a list instead of an argument", { inputs: [{ ...first, isList: true }, second, ...others] }],
    ["another output", { outputs: navigate.outputs.slice(1) }],
    ["another name of a method", { name: "Drive" }],
    ["a method that robots lack", { isOfRobots: false }],
  ])("is another one with %s", (_what, changed) => {
    const changedMethods = methods.map((each) => (each === navigate ? { ...each, ...changed } : each));
    expect(hashOf({}, changedMethods)).not.toBe(hashOf({}));
  });

  it("is the same with other texts and another order of methods", () => {
    const text = { german: "Fahren", en: "Drives", de: "Fährt" };
    const reworded = methods.map((each) => ({
      ...each,
      text,
      inputs: each.inputs.map((input) => ({ ...input, text })),
    }));
    expect(hashOf({}, reworded.toReversed())).toBe(hashOf({}));
  });

  it("does not change when a robot is heard of, or turns out to be a cart", async () => {
    const unknown: KnownRobot = { ...robot, family: "unknown", conveyorIndexes: [] };
    const running = await startServer({ ...plant, robots: [unknown] });
    const caller = await openSession(running.url);
    const before = await caller.value("Gateway.ModelHash");
    running.server.write({
      changes: [
        { kind: "robot", robotId: "r1", family: "cart", quality: "good" },
        { kind: "robot", robotId: "new", family: "serve", quality: "good" },
      ],
      events: [],
    });
    expect(await caller.value("Robots.r1.ConveyorSlot.NextId")).toBeDefined();
    expect(await caller.value("Robots.new.Family")).toBe("serve");
    await caller.until("Gateway.RobotCount", 2);
    expect(await caller.value("Gateway.ModelHash")).toBe(before);
    expect(before).toBe(hashOf({ robots: [unknown] }));
    await caller.close();
    await running.stop();
  });
});
