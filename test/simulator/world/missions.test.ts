import { describe, expect, it } from "vitest";
import { createWorldHarness, refusalOf } from "./world-harness.ts";

describe("a mission of one goal", () => {
  it("runs at once, drives at the robot's speed and succeeds on arrival", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    expect(harness.told).toEqual(["cart mission running 0 navigating"]);
    harness.pass(9_999);
    expect(harness.statuses("cart")).toEqual(["running"]);
    harness.pass(1);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
    expect(harness.told.filter((line) => line.startsWith("cart mission"))).toEqual([
      "cart mission running 0 navigating",
      "cart mission succeeded 0 arrived",
    ]);
    expect(harness.robot("cart").body.place).toEqual({ x: 0, y: 0 });
  });

  it("takes time even where the robot stands already", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    harness.pass(10_000);
    harness.begin("cart", "cart.navigate", "A");
    expect(harness.statuses("cart")).toEqual(["running"]);
    harness.pass(100);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
  });

  it("stays in the list, as the current one, until the next list begins", () => {
    const harness = createWorldHarness();
    expect(harness.robot("cart").currentIndex).toBe(-1);
    const first = harness.begin("cart", "cart.navigate", "A");
    harness.pass(10_000);
    expect(harness.robot("cart").currentIndex).toBe(0);
    const second = harness.begin("cart", "cart.navigate", "B");
    expect(harness.robot("cart").missions.map(({ id }) => id)).toEqual([second]);
    expect(second).not.toBe(first);
  });
});

describe("the queue", () => {
  it("refuses a second list while a mission runs or is paused", () => {
    const harness = createWorldHarness();
    const id = harness.begin("cart", "cart.navigate", "A");
    expect(refusalOf(() => harness.begin("cart", "cart.navigate", "B"))).toBe("FAILED_PRECONDITION");
    harness.world.missions.control(harness.robot("cart"), id, "pause", "test");
    expect(refusalOf(() => harness.begin("cart", "cart.navigate", "B"))).toBe("FAILED_PRECONDITION");
    expect(refusalOf(() => harness.world.missions.charge(harness.robot("cart"), "api", "test"))).toBe(
      "FAILED_PRECONDITION",
    );
    expect(harness.robot("cart").missions).toHaveLength(1);
  });

  it("runs what is appended in order, each when the one before it is over", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const first = harness.begin("cart", "cart.navigate", "A");
    harness.world.missions.append(cart, harness.order("cart.navigate", "B"), "api", "test");
    harness.world.missions.append(cart, harness.order("cart.navigate", "A"), "api", "test");
    expect(harness.statuses("cart")).toEqual(["running", "default", "default"]);
    harness.world.missions.control(cart, first, "cancel", "test");
    expect(harness.statuses("cart")).toEqual(["canceled", "running", "default"]);
    expect(cart.currentIndex).toBe(1);
    harness.pass(60_000);
    expect(harness.statuses("cart")).toEqual(["canceled", "succeeded", "succeeded"]);
  });

  it("takes an appended mission while the current one is paused", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const id = harness.begin("cart", "cart.navigate", "A");
    harness.world.missions.control(cart, id, "pause", "test");
    expect(
      refusalOf(() => harness.world.missions.append(cart, harness.order("cart.navigate", "B"), "api", "t")),
    ).toBe("OK");
  });

  it("is empty before the first mission and once all are over", () => {
    const harness = createWorldHarness();
    const append = () =>
      harness.world.missions.append(
        harness.robot("cart"),
        harness.order("cart.navigate", "B"),
        "api",
        "test",
      );
    expect(refusalOf(append)).toBe("FAILED_PRECONDITION");
    harness.begin("cart", "cart.navigate", "A");
    harness.pass(10_000);
    expect(refusalOf(append)).toBe("FAILED_PRECONDITION");
  });

  it("is bounded, ahead and behind", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    harness.begin("cart", "cart.traverse-patrol", "A", "B");
    const append = () =>
      harness.world.missions.append(cart, harness.order("cart.navigate", "A"), "api", "test");
    for (let count = 0; count < 100; count += 1) append();
    expect(refusalOf(append)).toBe("FAILED_PRECONDITION");
    for (let count = 0; count < 500; count += 1) {
      const running = cart.missions[cart.currentIndex];
      harness.world.missions.control(cart, running?.id ?? "", "cancel", "test");
      append();
    }
    expect(cart.missions.length).toBeLessThanOrEqual(201);
    expect(cart.missions[cart.currentIndex]?.status).toBe("running");
  });
});

describe("control", () => {
  it("pauses on the spot and goes on from there", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const id = harness.begin("cart", "cart.navigate", "A");
    harness.pass(4_000);
    harness.world.missions.control(cart, id, "pause", "test");
    expect(harness.statuses("cart")).toEqual(["paused"]);
    expect(cart.body.place).toEqual({ x: 0, y: 6 });
    harness.pass(60_000);
    expect(cart.body.place).toEqual({ x: 0, y: 6 });
    harness.world.missions.control(cart, id, "resume", "test");
    harness.pass(5_999);
    expect(harness.statuses("cart")).toEqual(["running"]);
    harness.pass(1);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
  });

  it("pauses a stop too", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const id = harness.begin("cart", "cart.traverse", "A");
    harness.pass(12_000);
    harness.world.missions.control(cart, id, "pause", "test");
    harness.pass(60_000);
    harness.world.missions.control(cart, id, "resume", "test");
    harness.pass(2_999);
    expect(harness.statuses("cart")).toEqual(["running"]);
    harness.pass(1);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
  });

  it.each(["running", "paused"])("cancels and finishes a %s mission", (state) => {
    for (const [control, end] of [
      ["cancel", "canceled"],
      ["finish", "succeeded"],
    ] as const) {
      const harness = createWorldHarness();
      const cart = harness.robot("cart");
      const id = harness.begin("cart", "cart.navigate", "A");
      harness.pass(2_000);
      if (state === "paused") harness.world.missions.control(cart, id, "pause", "test");
      harness.world.missions.control(cart, id, control, "test");
      expect(harness.statuses("cart")).toEqual([end]);
      harness.pass(60_000);
      expect(cart.body.place).toEqual({ x: 0, y: 8 });
      harness.begin("cart", "cart.navigate", "A");
      harness.pass(8_000);
      expect(harness.statuses("cart")).toEqual(["succeeded"]);
    }
  });

  it("refuses to pause twice and to resume what runs", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const id = harness.begin("cart", "cart.navigate", "A");
    const control = (what: "pause" | "resume") =>
      refusalOf(() => harness.world.missions.control(cart, id, what, "test"));
    expect(control("resume")).toBe("FAILED_PRECONDITION");
    expect(control("pause")).toBe("OK");
    expect(control("pause")).toBe("FAILED_PRECONDITION");
    expect(control("resume")).toBe("OK");
  });

  it("answers for the list, the id, the queue and the end, in this order", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const cancel = (id: string) =>
      refusalOf(() => harness.world.missions.control(cart, id, "cancel", "test"));
    expect(cancel("nobody's")).toBe("FAILED_PRECONDITION");
    const old = harness.begin("cart", "cart.navigate", "A");
    harness.pass(10_000);
    expect(cancel("nobody's")).toBe("INVALID_ARGUMENT");
    expect(cancel(old)).toBe("FAILED_PRECONDITION");
    harness.begin("cart", "cart.navigate", "B");
    expect(cancel(old)).toBe("INVALID_ARGUMENT");
    const queued = harness.world.missions.append(cart, harness.order("cart.navigate", "A"), "api", "test");
    expect(cancel(queued)).toBe("NOT_FOUND");
    expect(harness.statuses("cart")).toEqual(["running", "default"]);
  });
});

describe("goals in turn", () => {
  it("a traverse stops at each for its time", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.traverse", "A", "B");
    harness.pass(40_000);
    expect(harness.told.filter((line) => line.startsWith("cart mission"))).toEqual([
      "cart mission running 0 navigating",
      "cart mission running 0 arrived",
      "cart mission running 1 navigating",
      "cart mission running 1 arrived",
      "cart mission succeeded 1 arrived",
    ]);
  });

  it("SkipGoal directs a traverse on, from the way and from a stop, and ends it at its last goal", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const id = harness.begin("cart", "cart.traverse", "A", "B", "C");
    expect(harness.world.missions.skip(cart, "test")).toBe(id);
    expect(cart.missions[0]?.goalIndex).toBe(1);
    harness.pass(15_000);
    expect(cart.missions[0]?.feedback).toBe("arrived");
    harness.world.missions.skip(cart, "test");
    expect(cart.missions[0]).toMatchObject({ goalIndex: 2, feedback: "navigating", status: "running" });
    harness.world.missions.skip(cart, "test");
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
    expect(refusalOf(() => harness.world.missions.skip(cart, "test"))).toBe("FAILED_PRECONDITION");
  });

  it("SkipGoal needs a mission that runs", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    expect(refusalOf(() => harness.world.missions.skip(cart, "test"))).toBe("FAILED_PRECONDITION");
    const id = harness.begin("cart", "cart.traverse", "A", "B");
    harness.world.missions.control(cart, id, "pause", "test");
    expect(refusalOf(() => harness.world.missions.skip(cart, "test"))).toBe("FAILED_PRECONDITION");
  });

  it("a patrol goes round until it is told to end; SkipGoal at the last goal goes on with the first", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const id = harness.begin("cart", "cart.traverse-patrol", "A", "B");
    harness.pass(10_000 + 3_000 + 10_000 + 3_000 + 1);
    expect(cart.missions[0]).toMatchObject({ goalIndex: 0, status: "running", feedback: "navigating" });
    harness.world.missions.skip(cart, "test");
    harness.world.missions.skip(cart, "test");
    expect(cart.missions[0]).toMatchObject({ goalIndex: 0, status: "running" });
    harness.pass(3_600_000);
    expect(harness.statuses("cart")).toEqual(["running"]);
    harness.world.missions.control(cart, id, "finish", "test");
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
  });
});
