import { describe, expect, it } from "vitest";
import { createHall, refusalOf } from "./hall.ts";

describe("a mission of one goal", () => {
  it("runs at once, drives at the robot's speed and succeeds on arrival", () => {
    const hall = createHall();
    hall.begin("cart", "cart.navigate", "A");
    expect(hall.told).toEqual(["cart mission running 0 navigating"]);
    hall.pass(9_999);
    expect(hall.statuses("cart")).toEqual(["running"]);
    hall.pass(1);
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
    expect(hall.told.filter((line) => line.startsWith("cart mission"))).toEqual([
      "cart mission running 0 navigating",
      "cart mission succeeded 0 arrived",
    ]);
    expect(hall.robot("cart").body.place).toEqual({ x: 0, y: 0 });
  });

  it("takes time even where the robot stands already", () => {
    const hall = createHall();
    hall.begin("cart", "cart.navigate", "A");
    hall.pass(10_000);
    hall.begin("cart", "cart.navigate", "A");
    expect(hall.statuses("cart")).toEqual(["running"]);
    hall.pass(100);
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
  });

  it("stays in the list, as the current one, until the next list begins", () => {
    const hall = createHall();
    expect(hall.robot("cart").currentIndex).toBe(-1);
    const first = hall.begin("cart", "cart.navigate", "A");
    hall.pass(10_000);
    expect(hall.robot("cart").currentIndex).toBe(0);
    const second = hall.begin("cart", "cart.navigate", "B");
    expect(hall.robot("cart").missions.map(({ id }) => id)).toEqual([second]);
    expect(second).not.toBe(first);
  });
});

describe("the queue", () => {
  it("refuses a second list while a mission runs or is paused", () => {
    const hall = createHall();
    const id = hall.begin("cart", "cart.navigate", "A");
    expect(refusalOf(() => hall.begin("cart", "cart.navigate", "B"))).toBe("FAILED_PRECONDITION");
    hall.world.missions.control(hall.robot("cart"), id, "pause", "test");
    expect(refusalOf(() => hall.begin("cart", "cart.navigate", "B"))).toBe("FAILED_PRECONDITION");
    expect(refusalOf(() => hall.world.missions.charge(hall.robot("cart"), "api", "test"))).toBe(
      "FAILED_PRECONDITION",
    );
    expect(hall.robot("cart").missions).toHaveLength(1);
  });

  it("runs what is appended in order, each when the one before it is over", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const first = hall.begin("cart", "cart.navigate", "A");
    hall.world.missions.append(cart, hall.order("cart.navigate", "B"), "api", "test");
    hall.world.missions.append(cart, hall.order("cart.navigate", "A"), "api", "test");
    expect(hall.statuses("cart")).toEqual(["running", "default", "default"]);
    hall.world.missions.control(cart, first, "cancel", "test");
    expect(hall.statuses("cart")).toEqual(["canceled", "running", "default"]);
    expect(cart.currentIndex).toBe(1);
    hall.pass(60_000);
    expect(hall.statuses("cart")).toEqual(["canceled", "succeeded", "succeeded"]);
  });

  it("takes an appended mission while the current one is paused", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const id = hall.begin("cart", "cart.navigate", "A");
    hall.world.missions.control(cart, id, "pause", "test");
    expect(
      refusalOf(() => hall.world.missions.append(cart, hall.order("cart.navigate", "B"), "api", "t")),
    ).toBe("OK");
  });

  it("is empty before the first mission and once all are over", () => {
    const hall = createHall();
    const append = () =>
      hall.world.missions.append(hall.robot("cart"), hall.order("cart.navigate", "B"), "api", "test");
    expect(refusalOf(append)).toBe("FAILED_PRECONDITION");
    hall.begin("cart", "cart.navigate", "A");
    hall.pass(10_000);
    expect(refusalOf(append)).toBe("FAILED_PRECONDITION");
  });

  it("is bounded, ahead and behind", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    hall.begin("cart", "cart.traverse-patrol", "A", "B");
    const append = () => hall.world.missions.append(cart, hall.order("cart.navigate", "A"), "api", "test");
    for (let count = 0; count < 100; count += 1) append();
    expect(refusalOf(append)).toBe("FAILED_PRECONDITION");
    for (let count = 0; count < 500; count += 1) {
      const running = cart.missions[cart.currentIndex];
      hall.world.missions.control(cart, running?.id ?? "", "cancel", "test");
      append();
    }
    expect(cart.missions.length).toBeLessThanOrEqual(201);
    expect(cart.missions[cart.currentIndex]?.status).toBe("running");
  });
});

describe("control", () => {
  it("pauses on the spot and goes on from there", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const id = hall.begin("cart", "cart.navigate", "A");
    hall.pass(4_000);
    hall.world.missions.control(cart, id, "pause", "test");
    expect(hall.statuses("cart")).toEqual(["paused"]);
    expect(cart.body.place).toEqual({ x: 0, y: 6 });
    hall.pass(60_000);
    expect(cart.body.place).toEqual({ x: 0, y: 6 });
    hall.world.missions.control(cart, id, "resume", "test");
    hall.pass(5_999);
    expect(hall.statuses("cart")).toEqual(["running"]);
    hall.pass(1);
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
  });

  it("pauses a stop too", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const id = hall.begin("cart", "cart.traverse", "A");
    hall.pass(12_000);
    hall.world.missions.control(cart, id, "pause", "test");
    hall.pass(60_000);
    hall.world.missions.control(cart, id, "resume", "test");
    hall.pass(2_999);
    expect(hall.statuses("cart")).toEqual(["running"]);
    hall.pass(1);
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
  });

  it.each(["running", "paused"])("cancels and finishes a %s mission", (state) => {
    for (const [control, end] of [
      ["cancel", "canceled"],
      ["finish", "succeeded"],
    ] as const) {
      const hall = createHall();
      const cart = hall.robot("cart");
      const id = hall.begin("cart", "cart.navigate", "A");
      hall.pass(2_000);
      if (state === "paused") hall.world.missions.control(cart, id, "pause", "test");
      hall.world.missions.control(cart, id, control, "test");
      expect(hall.statuses("cart")).toEqual([end]);
      hall.pass(60_000);
      expect(cart.body.place).toEqual({ x: 0, y: 8 });
      hall.begin("cart", "cart.navigate", "A");
      hall.pass(8_000);
      expect(hall.statuses("cart")).toEqual(["succeeded"]);
    }
  });

  it("refuses to pause twice and to resume what runs", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const id = hall.begin("cart", "cart.navigate", "A");
    const control = (what: "pause" | "resume") =>
      refusalOf(() => hall.world.missions.control(cart, id, what, "test"));
    expect(control("resume")).toBe("FAILED_PRECONDITION");
    expect(control("pause")).toBe("OK");
    expect(control("pause")).toBe("FAILED_PRECONDITION");
    expect(control("resume")).toBe("OK");
  });

  it("answers for the list, the id, the queue and the end, in this order", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const cancel = (id: string) => refusalOf(() => hall.world.missions.control(cart, id, "cancel", "test"));
    expect(cancel("nobody's")).toBe("FAILED_PRECONDITION");
    const old = hall.begin("cart", "cart.navigate", "A");
    hall.pass(10_000);
    expect(cancel("nobody's")).toBe("INVALID_ARGUMENT");
    expect(cancel(old)).toBe("FAILED_PRECONDITION");
    hall.begin("cart", "cart.navigate", "B");
    expect(cancel(old)).toBe("INVALID_ARGUMENT");
    const queued = hall.world.missions.append(cart, hall.order("cart.navigate", "A"), "api", "test");
    expect(cancel(queued)).toBe("NOT_FOUND");
    expect(hall.statuses("cart")).toEqual(["running", "default"]);
  });
});

describe("goals in turn", () => {
  it("a traverse stops at each for its time", () => {
    const hall = createHall();
    hall.begin("cart", "cart.traverse", "A", "B");
    hall.pass(40_000);
    expect(hall.told.filter((line) => line.startsWith("cart mission"))).toEqual([
      "cart mission running 0 navigating",
      "cart mission running 0 arrived",
      "cart mission running 1 navigating",
      "cart mission running 1 arrived",
      "cart mission succeeded 1 arrived",
    ]);
  });

  it("SkipGoal directs a traverse on, from the way and from a stop, and ends it at its last goal", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const id = hall.begin("cart", "cart.traverse", "A", "B", "C");
    expect(hall.world.missions.skip(cart, "test")).toBe(id);
    expect(cart.missions[0]?.goalIndex).toBe(1);
    hall.pass(15_000);
    expect(cart.missions[0]?.feedback).toBe("arrived");
    hall.world.missions.skip(cart, "test");
    expect(cart.missions[0]).toMatchObject({ goalIndex: 2, feedback: "navigating", status: "running" });
    hall.world.missions.skip(cart, "test");
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
    expect(refusalOf(() => hall.world.missions.skip(cart, "test"))).toBe("FAILED_PRECONDITION");
  });

  it("SkipGoal needs a mission that runs", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    expect(refusalOf(() => hall.world.missions.skip(cart, "test"))).toBe("FAILED_PRECONDITION");
    const id = hall.begin("cart", "cart.traverse", "A", "B");
    hall.world.missions.control(cart, id, "pause", "test");
    expect(refusalOf(() => hall.world.missions.skip(cart, "test"))).toBe("FAILED_PRECONDITION");
  });

  it("a patrol goes round until it is told to end; SkipGoal at the last goal goes on with the first", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const id = hall.begin("cart", "cart.traverse-patrol", "A", "B");
    hall.pass(10_000 + 3_000 + 10_000 + 3_000 + 1);
    expect(cart.missions[0]).toMatchObject({ goalIndex: 0, status: "running", feedback: "navigating" });
    hall.world.missions.skip(cart, "test");
    hall.world.missions.skip(cart, "test");
    expect(cart.missions[0]).toMatchObject({ goalIndex: 0, status: "running" });
    hall.pass(3_600_000);
    expect(hall.statuses("cart")).toEqual(["running"]);
    hall.world.missions.control(cart, id, "finish", "test");
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
  });
});
