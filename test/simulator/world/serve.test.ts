import { describe, expect, it } from "vitest";
import { createHall, type Hall } from "./hall.ts";

const weigh = (hall: Hall, changeKg: number) =>
  hall.world.happen({ robotId: "serve", kind: "weight", changeKg });
const mission = (hall: Hall) => hall.robot("serve").missions[0];

describe("serve missions and weight", () => {
  it("serving waits at each goal until weight is removed", () => {
    const hall = createHall();
    weigh(hall, 4);
    hall.begin("serve", "serve.serving", "A", "B");
    hall.pass(600_000);
    expect(mission(hall)).toMatchObject({ goalIndex: 0, feedback: "arrived", status: "running" });
    weigh(hall, 1);
    expect(mission(hall)?.goalIndex).toBe(0);
    weigh(hall, -1);
    expect(mission(hall)?.goalIndex).toBe(1);
    hall.pass(600_000);
    weigh(hall, -1);
    expect(hall.statuses("serve")).toEqual(["succeeded"]);
  });

  it("bussing waits at each goal until weight is added", () => {
    const hall = createHall();
    weigh(hall, 4);
    hall.begin("serve", "serve.bussing", "A");
    hall.pass(600_000);
    weigh(hall, -1);
    expect(hall.statuses("serve")).toEqual(["running"]);
    weigh(hall, 2);
    expect(hall.statuses("serve")).toEqual(["succeeded"]);
  });

  it("weight that changes while a mission is paused counts once it is resumed", () => {
    const hall = createHall();
    weigh(hall, 4);
    const id = hall.begin("serve", "serve.serving", "A", "B");
    hall.pass(600_000);
    hall.world.missions.control(hall.robot("serve"), id, "pause", "test");
    weigh(hall, -1);
    expect(mission(hall)).toMatchObject({ goalIndex: 0, status: "paused" });
    hall.world.missions.control(hall.robot("serve"), id, "resume", "test");
    expect(mission(hall)).toMatchObject({ goalIndex: 1, status: "running" });
  });

  it("a serving patrol goes round until all weight is removed", () => {
    const hall = createHall();
    weigh(hall, 4);
    hall.begin("serve", "serve.serving-patrol", "A", "B");
    hall.pass(600_000);
    weigh(hall, -3);
    expect(hall.statuses("serve")).toEqual(["running"]);
    weigh(hall, -1);
    expect(hall.statuses("serve")).toEqual(["succeeded"]);
  });

  it("a bussing patrol goes round until the weight exceeds the threshold", () => {
    const hall = createHall({ rules: { bussingThresholdKg: 5, weightChangeMs: null, patrolStopMs: 1_000 } });
    hall.begin("serve", "serve.bussing-patrol", "A", "B");
    hall.pass(600_000);
    weigh(hall, 5);
    expect(hall.statuses("serve")).toEqual(["running"]);
    weigh(hall, 0.5);
    expect(hall.statuses("serve")).toEqual(["succeeded"]);
  });

  it("a patrol whose end comes while it is paused ends when it is resumed", () => {
    const hall = createHall();
    weigh(hall, 1);
    const id = hall.begin("serve", "serve.serving-patrol", "A", "B");
    hall.world.missions.control(hall.robot("serve"), id, "pause", "test");
    weigh(hall, -1);
    expect(hall.statuses("serve")).toEqual(["paused"]);
    hall.world.missions.control(hall.robot("serve"), id, "resume", "test");
    expect(hall.statuses("serve")).toEqual(["succeeded"]);
  });

  it.each([
    ["serve.serving", 4, 0],
    ["serve.bussing", 0, 4],
    ["serve.serving-patrol", 4, 0],
    ["serve.bussing-patrol", 0, 12],
  ] as const)("staff sees %s to its end where there is any", (kind, beforeKg, afterKg) => {
    const hall = createHall({ rules: { weightChangeMs: 1_000, weightChangeKg: 2, bussingThresholdKg: 10 } });
    if (beforeKg > 0) weigh(hall, beforeKg);
    hall.begin("serve", kind, "A", "B");
    hall.pass(600_000);
    expect(hall.statuses("serve")).toEqual(["succeeded"]);
    expect(hall.robot("serve").carriedKg).toBe(afterKg);
  });

  it("a hosting patrol carries nothing and goes round until it is told to end", () => {
    const hall = createHall({ rules: { weightChangeMs: 1_000 } });
    const id = hall.begin("serve", "serve.hosting-patrol", "A", "B");
    hall.pass(600_000);
    expect(hall.statuses("serve")).toEqual(["running"]);
    hall.world.missions.control(hall.robot("serve"), id, "cancel", "test");
    expect(hall.statuses("serve")).toEqual(["canceled"]);
  });
});
