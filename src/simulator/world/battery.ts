import type { Rules } from "../scenario/schema.ts";
import type { WorldContext } from "./context.ts";
import { isDriving, type Robot } from "./robot.ts";

const MS_PER_HOUR = 3_600_000;
/** How often every battery is updated; more often than any battery changes by a percent. */
const ROUND_MS = 1_000;

/** The rules of batteries. */
export interface BatteryRules {
  /** Brings a battery up to the present, and reports it if its published values have changed. */
  settle(robot: Robot): void;
  setPercent(robot: Robot, percent: number): void;
  setPlugged(robot: Robot, plugged: boolean): void;
}

/**
 * Batteries drain by driving and standing, and charge by wire or at a dock's contacts. `onFlat` is called
 * with a robot that has no charge left.
 */
export function createBatteryRules(world: WorldContext, onFlat: (robot: Robot) => void): BatteryRules {
  const settle = (robot: Robot) => {
    accrue(robot, world);
    show(robot);
    const isFlat = robot.battery.percent <= 0;
    if (isFlat === robot.battery.ranFlat) return;
    robot.battery.ranFlat = isFlat;
    if (isFlat) onFlat(robot);
  };

  const show = (robot: Robot) => {
    const { battery } = robot;
    const method = chargeMethod(robot);
    const state = method === "none" ? "discharging" : battery.percent >= 100 ? "full" : "charging";
    const shownPercent = Math.floor(battery.percent);
    const same =
      battery.method === method && battery.state === state && battery.shownPercent === shownPercent;
    if (same) return;
    battery.method = method;
    battery.state = state;
    battery.shownPercent = shownPercent;
    world.changed({ kind: "battery", robot });
  };

  const round = () => {
    world.agenda.after(ROUND_MS, round);
    for (const robot of world.robots.values()) settle(robot);
  };
  world.agenda.after(0, round);

  return {
    settle,
    setPercent(robot, percent) {
      accrue(robot, world);
      robot.battery.percent = clamp(percent);
      settle(robot);
    },
    setPlugged(robot, plugged) {
      settle(robot);
      robot.battery.plugged = plugged;
      show(robot);
    },
  };
}

/**
 * Brings the charge up to the present, before the robot begins or ends a drive or a charge. Reports nothing.
 */
export function accrue(robot: Robot, { agenda, rules }: WorldContext): void {
  const { battery } = robot;
  const hours = (agenda.nowMs() - battery.settledMs) / MS_PER_HOUR;
  battery.percent = clamp(battery.percent + hours * percentPerHour(robot, rules));
  battery.settledMs = agenda.nowMs();
}

function percentPerHour(robot: Robot, rules: Rules): number {
  if (chargeMethod(robot) !== "none") return rules.chargingPercentPerHour;
  return isDriving(robot) ? -rules.drivingPercentPerHour : -rules.standingPercentPerHour;
}

function chargeMethod(robot: Robot): Robot["battery"]["method"] {
  if (robot.battery.plugged) return "wired";
  const { dock, body } = robot;
  const atDock = dock !== undefined && body.docked && body.place.x === dock.x && body.place.y === dock.y;
  return atDock ? "contact" : "none";
}

function clamp(percent: number): number {
  return Math.min(Math.max(percent, 0), 100);
}
