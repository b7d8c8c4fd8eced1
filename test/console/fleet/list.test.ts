import { describe, expect, it } from "vitest";
import { begun, type Fleet, withRobots } from "../../../src/console/fleet/fleet.ts";
import { createLister, type ExceptionName, exceptions, hasWords } from "../../../src/console/fleet/list.ts";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { flatBattery } from "../busy-fleet.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";

const at = "2026-01-02T03:04:05.000Z";
const reception = { now: { monotonicMs: 0, wallMs: 0 }, delayMs: 0, isMotionReduced: false };

function fleetOf(...robots: readonly Robot[]): Fleet {
  const snapshot = {
    ...{ at, session_id: "s1", gateway_id: "plant1", version: "1", configuration: 0, open: false },
    ...{ has_simulator: false, poll_ms: 1_000, robot_count: robots.length, maps: [], stations: [] },
    alarms: { count: 0, alarms: [] },
    hold: { held: false, by: [], stored: true },
  };
  return withRobots(begun(snapshot), null, robots, reception);
}

const listed = (...robots: readonly Robot[]) => createLister()(fleetOf(...robots), false);
const namesOf = ({ robots }: ReturnType<typeof listed>) => robots.map(({ known }) => known.robot.robot_id);

const paused: Partial<Robot> = {
  idle: { reason: "PAUSED", text: "its mission is paused", since: at, for_ms: 0, not_ready: false },
};
const isLeft = (name: ExceptionName, robot: Robot) => listed(robot).robots.some(exceptions[name]);
const alarmed: Partial<Robot> = { alarms: [flatBattery] };

describe("the list of robots", () => {
  it("has alarms first, then what is unusual, each by name", () => {
    const listing = listed(
      standingRobot("cart-1"),
      standingRobot("cart-10", paused),
      standingRobot("cart-9", paused),
      standingRobot("cart-30", alarmed),
    );
    expect(namesOf(listing)).toEqual(["cart-30", "cart-9", "cart-10", "cart-1"]);
    expect(listing.names).toEqual(["cart-1", "cart-9", "cart-10", "cart-30"]);
  });

  it("knows a robot that has come, and one that needs a look by now", () => {
    const list = createLister();
    const first = list(fleetOf(standingRobot("cart-1"), standingRobot("cart-2")), false);
    const same = list(fleetOf(standingRobot("cart-2", paused), standingRobot("cart-1")), false);
    expect(namesOf(same)).toEqual(["cart-2", "cart-1"]);
    expect(same.names).toBe(first.names);
    const three = fleetOf(standingRobot("cart-1"), standingRobot("cart-2"), standingRobot("cart-3", paused));
    expect(namesOf(list(three, false))).toEqual(["cart-3", "cart-1", "cart-2"]);
  });

  it("counts those that are good, that need a look, and that a chip leaves", () => {
    const {
      good,
      unusual,
      exceptions: counts,
    } = listed(
      standingRobot("cart-1"),
      standingRobot("cart-2", paused),
      standingRobot("cart-3", { quality: "lost" }),
    );
    // One that is paused is in one count, and not in both.
    expect([good, unusual]).toEqual([1, 2]);
    expect(counts).toEqual({ alarm: 0, paused: 1, offline: 1, low: 0, idle: 0 });
  });

  it("says what a robot did last when the online list is late", () => {
    const robots = [standingRobot("cart-1", alarmed), standingRobot("cart-2")];
    const words = createLister()(fleetOf(...robots), true).robots.map(({ shown }) => shown.word);
    expect(words).toEqual([expect.stringMatching(/^last: /), "last: idle"]);
  });

  it("counts the robots of each hall, and those of them that need a look", () => {
    const { halls } = listed(
      standingRobot("cart-1"),
      standingRobot("cart-2", paused),
      standingRobot("cart-3", { place: null }),
    );
    expect([...halls]).toEqual([[1, { all: 2, unusual: 1, worst: "abnormal" }]]);
  });

  it.each([
    ["alarm", alarmed],
    ["paused", paused],
    ["offline", { quality: "lost" }],
    ["idle", { mission: oneMission({ state: "STATE_SUCCEEDED" }) }],
  ] as const)("leaves those of the chip %s", (name, changes) => {
    const running = standingRobot("cart-1", { mission: oneMission({}) });
    expect([isLeft(name, running), isLeft(name, { ...running, ...changes })]).toEqual([false, true]);
  });

  it("leaves robots with little charge", () => {
    const robot = standingRobot("cart-1");
    const { battery } = robot;
    if (battery?.state == null) throw new Error("it has a charge");
    const state = { ...battery.state, battery_state: { ...battery.state.battery_state, charge_percent: 20 } };
    const low = { ...robot, battery: { ...battery, state } };
    expect([isLeft("low", robot), isLeft("low", low)]).toEqual([false, true]);
  });

  it("finds words in any order and any case", () => {
    const texts = ["cart-03", "paused", "at Station D"];
    expect(hasWords("station CART", texts)).toBe(true);
    expect(hasWords("  ", texts)).toBe(true);
    expect(hasWords("cart serve", texts)).toBe(false);
  });
});
