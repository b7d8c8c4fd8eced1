import { describe, expect, it } from "vitest";
import { targetOf } from "../../../src/simulator/world/map.ts";
import { createHall, type Hall } from "./hall.ts";

const goalOf = (hall: Hall, robotId: string) => hall.robot(robotId).missions[0]?.goalIndex;

function chainTo(hall: Hall, robotId: string, code: string): void {
  const robot = hall.robot(robotId);
  const vertex = hall.world.maps.get(1)?.byCode(code);
  if (vertex === undefined) throw new Error(`there is no ${code}`);
  hall.world.chains.add(
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
    const hall = createHall();
    hall.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(hall, "cart")).toBe(0);
  });

  it("passes over a goal where another robot stands", () => {
    const hall = createHall();
    hall.begin("base", "base.navigate", "A");
    hall.pass(60_000);
    hall.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(hall, "cart")).toBe(1);
  });

  it("passes over a goal that a mission of another robot is on its way to, paused or not", () => {
    const hall = createHall();
    const id = hall.begin("base", "base.navigate", "A");
    hall.pass(1_000);
    hall.world.missions.control(hall.robot("base"), id, "pause", "test");
    hall.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(hall, "cart")).toBe(1);
  });

  it("passes over a goal that a task chain of another robot is on its way to", () => {
    const hall = createHall();
    chainTo(hall, "base", "S-A");
    hall.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(hall, "cart")).toBe(1);
  });

  it("takes a goal that another robot merely drives past, or has left", () => {
    const hall = createHall();
    hall.begin("base", "base.navigate", "A");
    hall.pass(60_000);
    hall.begin("base", "base.navigate", "D");
    hall.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(hall, "cart")).toBe(0);
  });

  it("is not in its own way", () => {
    const hall = createHall();
    hall.begin("cart", "cart.navigate", "A");
    hall.pass(10_000);
    hall.begin("cart", "cart.navigate-auto", "A", "B");
    expect(goalOf(hall, "cart")).toBe(0);
  });

  it("fails when every goal is taken, without moving, and the next mission starts", () => {
    const hall = createHall();
    hall.begin("base", "base.navigate", "A");
    hall.begin("serve", "serve.navigate", "B");
    hall.world.missions.begin(
      hall.robot("cart"),
      [hall.order("cart.navigate-auto", "A", "B"), hall.order("cart.navigate", "C")],
      "api",
      "test",
    );
    expect(hall.statuses("cart")).toEqual(["failed", "running"]);
    expect(goalOf(hall, "cart")).toBe(-1);
  });

  it("chooses when it starts and not when it is queued", () => {
    const hall = createHall();
    hall.begin("cart", "cart.navigate", "C");
    hall.world.missions.append(hall.robot("cart"), hall.order("cart.navigate-auto", "A", "B"), "api", "test");
    hall.begin("base", "base.navigate", "A");
    hall.pass(25_000);
    expect(hall.robot("cart").missions[1]).toMatchObject({ goalIndex: 1, status: "running" });
  });

  it("goes on to the next free goal when its goal is skipped", () => {
    const hall = createHall();
    hall.begin("base", "base.navigate", "B");
    hall.begin("cart", "cart.navigate-auto", "A", "B", "C");
    hall.world.missions.skip(hall.robot("cart"), "test");
    expect(goalOf(hall, "cart")).toBe(2);
    hall.world.missions.skip(hall.robot("cart"), "test");
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
  });
});
