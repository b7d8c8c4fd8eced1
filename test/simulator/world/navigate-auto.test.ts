import { describe, expect, it } from "vitest";
import { targetOf } from "../../../src/simulator/world/map.ts";
import { createWorldHarness, type WorldHarness } from "./world-harness.ts";

const goalOf = (harness: WorldHarness, robotId: string) => harness.robot(robotId).missions[0]?.goalIndex;

function chainTo(harness: WorldHarness, robotId: string, code: string): void {
  const robot = harness.robot(robotId);
  const vertex = harness.world.maps.get(1)?.byCode(code);
  if (vertex === undefined) throw new Error(`there is no ${code}`);
  harness.world.chains.add(
    {
      distributor: "acme",
      candidates: [robot],
      amrId: robot.amrId,
      mapId: 1,
      labels: { areaId: 0, groupId: 0, priority: 0, isReturn: 0, taskSeq: "", name: "", fromDetail: "" },
      tasks: [{ kind: "load", mapId: 1, endPointCode: code, target: targetOf(vertex) }],
    },
    "test",
  );
}

describe("a navigate-auto mission", () => {
  it("takes the first goal when all are free", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(harness, "cart")).toBe(0);
  });

  it("passes over a goal where another robot stands", () => {
    const harness = createWorldHarness();
    harness.begin("base", "base.navigate", "A");
    harness.pass(60_000);
    harness.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(harness, "cart")).toBe(1);
  });

  it("passes over a goal that a mission of another robot is on its way to, paused or not", () => {
    const harness = createWorldHarness();
    const id = harness.begin("base", "base.navigate", "A");
    harness.pass(1_000);
    harness.world.missions.control(harness.robot("base"), id, "pause", "test");
    harness.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(harness, "cart")).toBe(1);
  });

  it("passes over a goal that a task chain of another robot is on its way to", () => {
    const harness = createWorldHarness();
    chainTo(harness, "base", "S-A");
    harness.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(harness, "cart")).toBe(1);
  });

  it("takes a goal that another robot merely drives past, or has left", () => {
    const harness = createWorldHarness();
    harness.begin("base", "base.navigate", "A");
    harness.pass(60_000);
    harness.begin("base", "base.navigate", "D");
    harness.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(harness, "cart")).toBe(0);
  });

  it("is not in its own way", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    harness.pass(10_000);
    harness.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(harness, "cart")).toBe(0);
  });

  it("fails when every goal is taken, without moving, and the next mission starts", () => {
    const harness = createWorldHarness();
    harness.begin("base", "base.navigate", "A");
    harness.begin("serve", "serve.navigate", "B");
    harness.world.missions.begin(
      harness.robot("cart"),
      [harness.order("cart.navigate-auto", "A", "B"), harness.order("cart.navigate", "C")],
      "api",
      "test",
    );
    expect(harness.statuses("cart")).toEqual(["failed", "running"]);
    expect(goalOf(harness, "cart")).toBe(-1);
  });

  it("chooses when it starts and not when it is queued", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "C");
    harness.world.missions.append(
      harness.robot("cart"),
      harness.order("cart.navigate-auto", "A", "B"),
      "api",
      "test",
    );
    harness.begin("base", "base.navigate", "A");
    harness.pass(25_000);
    expect(harness.robot("cart").missions[1]).toMatchObject({ goalIndex: 1, status: "running" });
  });

  it("goes on to the next free goal when its goal is skipped", () => {
    const harness = createWorldHarness();
    harness.begin("base", "base.navigate", "B");
    harness.begin("cart", "cart.navigate-auto", "A", "B", "C");
    harness.world.missions.skip(harness.robot("cart"), "test");
    expect(goalOf(harness, "cart")).toBe(2);
    harness.world.missions.skip(harness.robot("cart"), "test");
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
  });
});
