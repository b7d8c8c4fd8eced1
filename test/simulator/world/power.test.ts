import { describe, expect, it } from "vitest";
import { createWorldHarness, refusalOf } from "./world-harness.ts";

describe("batteries", () => {
  it("drain faster by driving than by standing, and tell of each whole percent once", () => {
    const harness = createWorldHarness({
      rules: { drivingPercentPerHour: 3_600, standingPercentPerHour: 360 },
    });
    harness.begin("cart", "cart.traverse-patrol", "A", "B");
    harness.pass(10_000);
    expect(harness.robot("cart").battery.percent).toBeCloseTo(40, 1);
    expect(harness.robot("base").battery.percent).toBeCloseTo(49, 1);
    const told = harness.told.filter((line) => line.startsWith("cart battery"));
    expect(told.slice(0, 2)).toEqual([
      "cart battery 49 discharging none",
      "cart battery 48 discharging none",
    ]);
    expect(new Set(told).size).toBe(told.length);
  });

  it("drain at the rate of what the robot did, to the moment", () => {
    const harness = createWorldHarness({
      rules: { drivingPercentPerHour: 3_600, standingPercentPerHour: 0 },
    });
    harness.pass(500);
    const id = harness.begin("cart", "cart.navigate", "A");
    harness.pass(250);
    harness.world.missions.control(harness.robot("cart"), id, "pause", "test");
    harness.pass(5_250);
    expect(harness.robot("cart").battery.percent).toBeCloseTo(49.75, 6);
  });

  it("charge at the dock's contacts until full; the mission succeeds when charging begins", () => {
    const harness = createWorldHarness({ rules: { chargingPercentPerHour: 3_600, dockMs: 2_000 } });
    const cart = harness.robot("cart");
    harness.world.missions.charge(cart, "api", "test");
    harness.pass(30_000);
    expect(cart.missions[0]).toMatchObject({ status: "running", feedback: "docking" });
    harness.pass(2_000);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
    expect(cart.battery).toMatchObject({ state: "charging", method: "contact" });
    harness.pass(60_000);
    expect(cart.battery).toMatchObject({ state: "full", method: "contact", percent: 100 });
    harness.begin("cart", "cart.navigate", "A");
    expect(cart.missions[0]?.feedback).toBe("undocking");
    harness.pass(2_000);
    expect(cart.battery).toMatchObject({ state: "discharging", method: "none" });
  });

  it("charge by wire where there is no dock", () => {
    const harness = createWorldHarness();
    harness.world.happen({ robotId: "base", kind: "wired", plugged: true });
    expect(harness.robot("base").battery).toMatchObject({ state: "charging", method: "wired" });
    expect(harness.told).toContain("base battery 50 charging wired");
    harness.world.happen({ robotId: "base", kind: "wired", plugged: false });
    expect(harness.robot("base").battery).toMatchObject({ state: "discharging", method: "none" });
  });

  it("ChargeRobot needs a contact dock, before it needs a free robot", () => {
    const harness = createWorldHarness();
    expect(refusalOf(() => harness.world.missions.charge(harness.robot("serve"), "api", "test"))).toBe(
      "INVALID_ARGUMENT",
    );
  });

  it("a robot that runs flat stands still, and its missions fail", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    harness.begin("cart", "cart.navigate", "A");
    harness.world.missions.append(cart, harness.order("cart.navigate", "B"), "api", "test");
    harness.pass(5_000);
    harness.world.happen({ robotId: "cart", kind: "battery", percent: 0 });
    expect(harness.statuses("cart")).toEqual(["failed", "failed"]);
    const { place } = cart.body;
    harness.pass(60_000);
    expect(cart.body.place).toEqual(place);
    harness.begin("cart", "cart.navigate", "A");
    expect(harness.statuses("cart")).toEqual(["failed"]);
    harness.world.happen({ robotId: "cart", kind: "battery", percent: 80 });
    harness.begin("cart", "cart.navigate", "A");
    expect(harness.statuses("cart")).toEqual(["running"]);
  });

  it("a robot whose last charge goes while it docks has not made it", () => {
    const harness = createWorldHarness({
      rules: { drivingPercentPerHour: 0, standingPercentPerHour: 3_600, dockMs: 2_500 },
    });
    const cart = harness.robot("cart");
    harness.world.happen({ robotId: "cart", kind: "battery", percent: 2.3 });
    harness.world.missions.charge(cart, "api", "test");
    harness.pass(60_000);
    expect(harness.statuses("cart")).toEqual(["failed"]);
    expect(cart.battery).toMatchObject({ percent: 0, method: "none" });
    expect(harness.world.record.since(0).some(({ fact }) => fact.what === "goal")).toBe(false);
  });

  it("run flat by themselves when nobody charges them", () => {
    const harness = createWorldHarness({ rules: { drivingPercentPerHour: 7_200 } });
    harness.begin("cart", "cart.traverse-patrol", "A", "B");
    harness.pass(60_000);
    expect(harness.statuses("cart")).toEqual(["failed"]);
    expect(harness.robot("cart").battery.percent).toBe(0);
  });
});

describe("conveyors", () => {
  it("clockwise draws a load on after its time, and turns until it is stopped", () => {
    const harness = createWorldHarness({ rules: { transferMs: 3_000 } });
    const cart = harness.robot("cart");
    const command = (motor: "cw" | "ccw" | "stop") =>
      harness.world.conveyors.command(cart, [{ index: 1, motor }], "test");
    command("cw");
    harness.pass(2_999);
    expect(cart.conveyors[0]).toMatchObject({ motor: "cw", loaded: false });
    harness.pass(1);
    expect(cart.conveyors[0]).toMatchObject({ motor: "cw", loaded: true });
    harness.pass(60_000);
    command("stop");
    command("ccw");
    harness.pass(3_000);
    expect(cart.conveyors[0]).toMatchObject({ motor: "ccw", loaded: false });
    expect(harness.told.filter((line) => line.includes("conveyors"))).toEqual([
      "cart conveyors cw empty, stop empty",
      "cart conveyors cw loaded, stop empty",
      "cart conveyors stop loaded, stop empty",
      "cart conveyors ccw loaded, stop empty",
      "cart conveyors ccw empty, stop empty",
    ]);
  });

  it("stopped before its time, the load stays where it was", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    harness.world.conveyors.command(cart, [{ index: 2, motor: "cw" }], "test");
    harness.pass(1_000);
    harness.world.conveyors.command(cart, [{ index: 2, motor: "stop" }], "test");
    harness.pass(60_000);
    expect(cart.conveyors[1]).toMatchObject({ motor: "stop", loaded: false });
  });

  it("an error stops the motor and refuses commands until it is repaired; the others of the command stay still", () => {
    const harness = createWorldHarness();
    const cart = harness.robot("cart");
    const both = () =>
      harness.world.conveyors.command(
        cart,
        [
          { index: 1, motor: "cw" },
          { index: 2, motor: "cw" },
        ],
        "test",
      );
    harness.world.conveyors.command(cart, [{ index: 2, motor: "cw" }], "test");
    harness.world.happen({ robotId: "cart", kind: "conveyor-health", index: 2, ok: false });
    expect(cart.conveyors[1]).toMatchObject({ motor: "stop", healthy: false });
    expect(refusalOf(both)).toBe("FAILED_PRECONDITION");
    expect(cart.conveyors[0]?.motor).toBe("stop");
    harness.world.happen({ robotId: "cart", kind: "conveyor-health", index: 2, ok: true });
    expect(refusalOf(both)).toBe("OK");
  });
});

describe("what befalls robots", () => {
  it("offline: the mission goes on, nothing is told, and all of it is told on return", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    const { sequence } = harness.robot("cart").missionStamp;
    harness.world.happen({ robotId: "cart", kind: "offline" });
    harness.told.length = 0;
    harness.pass(10_000);
    expect(harness.told.filter((line) => line.startsWith("cart"))).toEqual([]);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
    harness.world.happen({ robotId: "cart", kind: "online" });
    expect(harness.told).toContain("cart mission succeeded 0 arrived");
    expect(harness.robot("cart").missionStamp.sequence).toBe(sequence + 1);
  });

  it("blocked: stands still until the way is free", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    harness.pass(5_000);
    harness.world.happen({ robotId: "cart", kind: "blocked" });
    harness.pass(60_000);
    expect(harness.statuses("cart")).toEqual(["running"]);
    harness.world.happen({ robotId: "cart", kind: "unblocked" });
    harness.pass(5_000);
    expect(harness.statuses("cart")).toEqual(["succeeded"]);
  });

  it("blocked for too long: the mission fails, but not for an earlier obstacle's sake", () => {
    const harness = createWorldHarness({ rules: { blockedFailMs: 10_000 } });
    harness.begin("cart", "cart.navigate", "A");
    harness.world.happen({ robotId: "cart", kind: "blocked" });
    harness.pass(9_000);
    harness.world.happen({ robotId: "cart", kind: "unblocked" });
    harness.world.happen({ robotId: "cart", kind: "blocked" });
    harness.pass(9_000);
    expect(harness.statuses("cart")).toEqual(["running"]);
    harness.pass(1_000);
    expect(harness.statuses("cart")).toEqual(["failed"]);
  });

  it("a sequence reset reports with 0 and counts on from there", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.traverse", "A", "B");
    harness.pass(20_000);
    expect(harness.robot("cart").missionStamp.sequence).toBeGreaterThan(1);
    harness.told.length = 0;
    harness.world.happen({ robotId: "cart", kind: "sequence-reset" });
    expect(harness.told).toContain("cart mission running 1 navigating");
    expect(harness.robot("cart").missionStamp.sequence).toBe(0);
    harness.world.missions.skip(harness.robot("cart"), "test");
    expect(harness.robot("cart").missionStamp.sequence).toBe(1);
  });

  it("counts mission and battery events apart", () => {
    const harness = createWorldHarness();
    harness.begin("cart", "cart.navigate", "A");
    harness.world.happen({ robotId: "cart", kind: "battery", percent: 20 });
    harness.world.happen({ robotId: "cart", kind: "battery", percent: 10 });
    expect(harness.robot("cart").missionStamp.sequence).toBe(1);
    expect(harness.robot("cart").batteryStamp.sequence).toBe(2);
  });
});
