import { describe, expect, it } from "vitest";
import { createWorldHarness, type WorldHarness } from "./world-harness.ts";

const weigh = (harness: WorldHarness, changeKg: number) =>
  harness.world.happen({ robotId: "serve", kind: "weight", changeKg });
const mission = (harness: WorldHarness) => harness.robot("serve").missions[0];

describe("serve missions and weight", () => {
  it("serving waits at each goal until weight is removed", () => {
    const harness = createWorldHarness();
    weigh(harness, 4);
    harness.begin("serve", "serve.serving", "A", "B");
    harness.pass(600_000);
    expect(mission(harness)).toMatchObject({ goalIndex: 0, feedback: "arrived", status: "running" });
    weigh(harness, 1);
    expect(mission(harness)?.goalIndex).toBe(0);
    weigh(harness, -1);
    expect(mission(harness)?.goalIndex).toBe(1);
    harness.pass(600_000);
    weigh(harness, -1);
    expect(harness.statuses("serve")).toEqual(["succeeded"]);
  });

  it("bussing waits at each goal until weight is added", () => {
    const harness = createWorldHarness();
    weigh(harness, 4);
    harness.begin("serve", "serve.bussing", "A");
    harness.pass(600_000);
    weigh(harness, -1);
    expect(harness.statuses("serve")).toEqual(["running"]);
    weigh(harness, 2);
    expect(harness.statuses("serve")).toEqual(["succeeded"]);
  });

  it("weight that changes while a mission is paused counts once it is resumed", () => {
    const harness = createWorldHarness();
    weigh(harness, 4);
    const id = harness.begin("serve", "serve.serving", "A", "B");
    harness.pass(600_000);
    harness.world.missions.control(harness.robot("serve"), id, "pause", "test");
    weigh(harness, -1);
    expect(mission(harness)).toMatchObject({ goalIndex: 0, status: "paused" });
    harness.world.missions.control(harness.robot("serve"), id, "resume", "test");
    expect(mission(harness)).toMatchObject({ goalIndex: 1, status: "running" });
  });

  it("a serving patrol goes round until all weight is removed", () => {
    const harness = createWorldHarness();
    weigh(harness, 4);
    harness.begin("serve", "serve.serving-patrol", "A", "B");
    harness.pass(600_000);
    weigh(harness, -3);
    expect(harness.statuses("serve")).toEqual(["running"]);
    weigh(harness, -1);
    expect(harness.statuses("serve")).toEqual(["succeeded"]);
  });

  it("a bussing patrol goes round until the weight exceeds the threshold", () => {
    const harness = createWorldHarness({
      rules: { bussingThresholdKg: 5, weightChangeMs: null, patrolStopMs: 1_000 },
    });
    harness.begin("serve", "serve.bussing-patrol", "A", "B");
    harness.pass(600_000);
    weigh(harness, 5);
    expect(harness.statuses("serve")).toEqual(["running"]);
    weigh(harness, 0.5);
    expect(harness.statuses("serve")).toEqual(["succeeded"]);
  });

  it("a patrol whose end comes while it is paused ends when it is resumed", () => {
    const harness = createWorldHarness();
    weigh(harness, 1);
    const id = harness.begin("serve", "serve.serving-patrol", "A", "B");
    harness.world.missions.control(harness.robot("serve"), id, "pause", "test");
    weigh(harness, -1);
    expect(harness.statuses("serve")).toEqual(["paused"]);
    harness.world.missions.control(harness.robot("serve"), id, "resume", "test");
    expect(harness.statuses("serve")).toEqual(["succeeded"]);
  });

  it.each([
    ["serve.serving", 4, 0],
    ["serve.bussing", 0, 4],
    ["serve.serving-patrol", 4, 0],
    ["serve.bussing-patrol", 0, 12],
  ] as const)("staff sees %s to its end where there is any", (kind, beforeKg, afterKg) => {
    const harness = createWorldHarness({
      rules: { weightChangeMs: 1_000, weightChangeKg: 2, bussingThresholdKg: 10 },
    });
    if (beforeKg > 0) weigh(harness, beforeKg);
    harness.begin("serve", kind, "A", "B");
    harness.pass(600_000);
    expect(harness.statuses("serve")).toEqual(["succeeded"]);
    expect(harness.robot("serve").carriedKg).toBe(afterKg);
  });

  it("a hosting patrol carries nothing and goes round until it is told to end", () => {
    const harness = createWorldHarness({ rules: { weightChangeMs: 1_000 } });
    const id = harness.begin("serve", "serve.hosting-patrol", "A", "B");
    harness.pass(600_000);
    expect(harness.statuses("serve")).toEqual(["running"]);
    harness.world.missions.control(harness.robot("serve"), id, "cancel", "test");
    expect(harness.statuses("serve")).toEqual(["canceled"]);
  });
});
