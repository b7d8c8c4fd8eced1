import { describe, expect, it } from "vitest";
import { createHall, refusalOf } from "./hall.ts";

describe("batteries", () => {
  it("drain faster by driving than by standing, and tell of each whole percent once", () => {
    const hall = createHall({ rules: { drivingPercentPerHour: 3_600, standingPercentPerHour: 360 } });
    hall.begin("cart", "cart.traverse-patrol", "A", "B");
    hall.pass(10_000);
    expect(hall.robot("cart").battery.percent).toBeCloseTo(40, 1);
    expect(hall.robot("base").battery.percent).toBeCloseTo(49, 1);
    const told = hall.told.filter((line) => line.startsWith("cart battery"));
    expect(told.slice(0, 2)).toEqual([
      "cart battery 49 discharging none",
      "cart battery 48 discharging none",
    ]);
    expect(new Set(told).size).toBe(told.length);
  });

  it("drain at the rate of what the robot did, to the moment", () => {
    const hall = createHall({ rules: { drivingPercentPerHour: 3_600, standingPercentPerHour: 0 } });
    hall.pass(500);
    const id = hall.begin("cart", "cart.navigate", "A");
    hall.pass(250);
    hall.world.missions.control(hall.robot("cart"), id, "pause", "test");
    hall.pass(5_250);
    expect(hall.robot("cart").battery.percent).toBeCloseTo(49.75, 6);
  });

  it("charge at the dock's contacts until full; the mission succeeds when charging begins", () => {
    const hall = createHall({ rules: { chargingPercentPerHour: 3_600, dockMs: 2_000 } });
    const cart = hall.robot("cart");
    hall.world.missions.charge(cart, "api", "test");
    hall.pass(30_000);
    expect(cart.missions[0]).toMatchObject({ status: "running", feedback: "docking" });
    hall.pass(2_000);
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
    expect(cart.battery).toMatchObject({ state: "charging", method: "contact" });
    hall.pass(60_000);
    expect(cart.battery).toMatchObject({ state: "full", method: "contact", percent: 100 });
    hall.begin("cart", "cart.navigate", "A");
    expect(cart.missions[0]?.feedback).toBe("undocking");
    hall.pass(2_000);
    expect(cart.battery).toMatchObject({ state: "discharging", method: "none" });
  });

  it("charge by wire where there is no dock", () => {
    const hall = createHall();
    hall.world.happen({ robotId: "base", kind: "wired", plugged: true });
    expect(hall.robot("base").battery).toMatchObject({ state: "charging", method: "wired" });
    expect(hall.told).toContain("base battery 50 charging wired");
    hall.world.happen({ robotId: "base", kind: "wired", plugged: false });
    expect(hall.robot("base").battery).toMatchObject({ state: "discharging", method: "none" });
  });

  it("ChargeRobot needs a contact dock, before it needs a free robot", () => {
    const hall = createHall();
    expect(refusalOf(() => hall.world.missions.charge(hall.robot("serve"), "api", "test"))).toBe(
      "FAILED_PRECONDITION",
    );
  });

  it("a robot that runs flat stands still, and its missions fail", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    hall.begin("cart", "cart.navigate", "A");
    hall.world.missions.append(cart, hall.order("cart.navigate", "B"), "api", "test");
    hall.pass(5_000);
    hall.world.happen({ robotId: "cart", kind: "battery", percent: 0 });
    expect(hall.statuses("cart")).toEqual(["failed", "failed"]);
    const { place } = cart.body;
    hall.pass(60_000);
    expect(cart.body.place).toEqual(place);
    hall.begin("cart", "cart.navigate", "A");
    expect(hall.statuses("cart")).toEqual(["failed"]);
    hall.world.happen({ robotId: "cart", kind: "battery", percent: 80 });
    hall.begin("cart", "cart.navigate", "A");
    expect(hall.statuses("cart")).toEqual(["running"]);
  });

  it("a robot whose last charge goes while it docks has not made it", () => {
    const hall = createHall({
      rules: { drivingPercentPerHour: 0, standingPercentPerHour: 3_600, dockMs: 2_500 },
    });
    const cart = hall.robot("cart");
    hall.world.happen({ robotId: "cart", kind: "battery", percent: 2.3 });
    hall.world.missions.charge(cart, "api", "test");
    hall.pass(60_000);
    expect(hall.statuses("cart")).toEqual(["failed"]);
    expect(cart.battery).toMatchObject({ percent: 0, method: "none" });
    expect(hall.world.record.since(0).some(({ fact }) => fact.what === "goal")).toBe(false);
  });

  it("run flat by themselves when nobody charges them", () => {
    const hall = createHall({ rules: { drivingPercentPerHour: 7_200 } });
    hall.begin("cart", "cart.traverse-patrol", "A", "B");
    hall.pass(60_000);
    expect(hall.statuses("cart")).toEqual(["failed"]);
    expect(hall.robot("cart").battery.percent).toBe(0);
  });
});

describe("conveyors", () => {
  it("clockwise draws a load on after its time, and turns until it is stopped", () => {
    const hall = createHall({ rules: { transferMs: 3_000 } });
    const cart = hall.robot("cart");
    const command = (motor: "cw" | "ccw" | "stop") =>
      hall.world.conveyors.command(cart, [{ index: 1, motor }], "test");
    command("cw");
    hall.pass(2_999);
    expect(cart.conveyors[0]).toMatchObject({ motor: "cw", loaded: false });
    hall.pass(1);
    expect(cart.conveyors[0]).toMatchObject({ motor: "cw", loaded: true });
    hall.pass(60_000);
    command("stop");
    command("ccw");
    hall.pass(3_000);
    expect(cart.conveyors[0]).toMatchObject({ motor: "ccw", loaded: false });
    expect(hall.told.filter((line) => line.includes("conveyors"))).toEqual([
      "cart conveyors cw empty, stop empty",
      "cart conveyors cw loaded, stop empty",
      "cart conveyors stop loaded, stop empty",
      "cart conveyors ccw loaded, stop empty",
      "cart conveyors ccw empty, stop empty",
    ]);
  });

  it("stopped before its time, the load stays where it was", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    hall.world.conveyors.command(cart, [{ index: 2, motor: "cw" }], "test");
    hall.pass(1_000);
    hall.world.conveyors.command(cart, [{ index: 2, motor: "stop" }], "test");
    hall.pass(60_000);
    expect(cart.conveyors[1]).toMatchObject({ motor: "stop", loaded: false });
  });

  it("an error stops the motor and refuses commands until it is repaired; the others of the command stay still", () => {
    const hall = createHall();
    const cart = hall.robot("cart");
    const both = () =>
      hall.world.conveyors.command(
        cart,
        [
          { index: 1, motor: "cw" },
          { index: 2, motor: "cw" },
        ],
        "test",
      );
    hall.world.conveyors.command(cart, [{ index: 2, motor: "cw" }], "test");
    hall.world.happen({ robotId: "cart", kind: "conveyor-health", index: 2, ok: false });
    expect(cart.conveyors[1]).toMatchObject({ motor: "stop", healthy: false });
    expect(refusalOf(both)).toBe("FAILED_PRECONDITION");
    expect(cart.conveyors[0]?.motor).toBe("stop");
    hall.world.happen({ robotId: "cart", kind: "conveyor-health", index: 2, ok: true });
    expect(refusalOf(both)).toBe("OK");
  });
});

describe("what befalls robots", () => {
  it("offline: the mission goes on, nothing is told, and all of it is told on return", () => {
    const hall = createHall();
    hall.begin("cart", "cart.navigate", "A");
    const { sequence } = hall.robot("cart").missionStamp;
    hall.world.happen({ robotId: "cart", kind: "offline" });
    hall.told.length = 0;
    hall.pass(10_000);
    expect(hall.told.filter((line) => line.startsWith("cart"))).toEqual([]);
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
    hall.world.happen({ robotId: "cart", kind: "online" });
    expect(hall.told).toContain("cart mission succeeded 0 arrived");
    expect(hall.robot("cart").missionStamp.sequence).toBe(sequence + 1);
  });

  it("blocked: stands still until the way is free", () => {
    const hall = createHall();
    hall.begin("cart", "cart.navigate", "A");
    hall.pass(5_000);
    hall.world.happen({ robotId: "cart", kind: "blocked" });
    hall.pass(60_000);
    expect(hall.statuses("cart")).toEqual(["running"]);
    hall.world.happen({ robotId: "cart", kind: "unblocked" });
    hall.pass(5_000);
    expect(hall.statuses("cart")).toEqual(["succeeded"]);
  });

  it("blocked for too long: the mission fails, but not for an earlier obstacle's sake", () => {
    const hall = createHall({ rules: { blockedFailMs: 10_000 } });
    hall.begin("cart", "cart.navigate", "A");
    hall.world.happen({ robotId: "cart", kind: "blocked" });
    hall.pass(9_000);
    hall.world.happen({ robotId: "cart", kind: "unblocked" });
    hall.world.happen({ robotId: "cart", kind: "blocked" });
    hall.pass(9_000);
    expect(hall.statuses("cart")).toEqual(["running"]);
    hall.pass(1_000);
    expect(hall.statuses("cart")).toEqual(["failed"]);
  });

  it("a sequence reset reports with 0 and counts on from there", () => {
    const hall = createHall();
    hall.begin("cart", "cart.traverse", "A", "B");
    hall.pass(20_000);
    expect(hall.robot("cart").missionStamp.sequence).toBeGreaterThan(1);
    hall.told.length = 0;
    hall.world.happen({ robotId: "cart", kind: "sequence-reset" });
    expect(hall.told).toContain("cart mission running 1 navigating");
    expect(hall.robot("cart").missionStamp.sequence).toBe(0);
    hall.world.missions.skip(hall.robot("cart"), "test");
    expect(hall.robot("cart").missionStamp.sequence).toBe(1);
  });

  it("counts mission and battery events apart", () => {
    const hall = createHall();
    hall.begin("cart", "cart.navigate", "A");
    hall.world.happen({ robotId: "cart", kind: "battery", percent: 20 });
    hall.world.happen({ robotId: "cart", kind: "battery", percent: 10 });
    expect(hall.robot("cart").missionStamp.sequence).toBe(1);
    expect(hall.robot("cart").batteryStamp.sequence).toBe(2);
  });
});
