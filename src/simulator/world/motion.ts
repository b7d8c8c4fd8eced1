import { accrue, type BatteryRules } from "./battery.ts";
import type { WorldContext } from "./context.ts";
import { distanceMeters, type Point, type Target } from "./map.ts";
import type { Feedback } from "./mission.ts";
import { type Action, along, type Halt, isHalted, type Robot } from "./robot.ts";

/** The shortest drive, so that a mission cannot end within its own command. */
const SHORTEST_DRIVE_MS = 100;

/** Moves bodies: straight legs at constant speed, and work that takes time. */
export interface Motion {
  /** Drives to a target over the map's route, then calls `done`. Replaces what the body did before. */
  drive(robot: Robot, target: Target, done: () => void): void;
  /** Stays for this long, then calls `done`; at once for 0, unless the robot is halted. */
  work(robot: Robot, durationMs: number, done: () => void): void;
  /** Stops here and drops its action. */
  abandon(robot: Robot): void;
  /** Interrupts: time stands still for the body until every halt is released. */
  halt(robot: Robot, cause: Halt): void;
  release(robot: Robot, cause: Halt): void;
  /** Halts at the end of the leg that is being driven, or at once when none is. */
  haltAtWaypoint(robot: Robot): void;
}

/** The motion of a world's robots. */
export function createMotion(world: WorldContext): Motion {
  const begin = (robot: Robot, action: Action) => {
    stop(robot);
    robot.body.action = action;
    proceed(robot);
  };

  const proceed = (robot: Robot) => {
    const { body } = robot;
    const { action } = body;
    if (action === undefined || isHalted(robot)) return;
    accrue(robot, world);
    action.startMs = world.agenda.nowMs();
    if (action.kind === "work") {
      if (action.remainingMs <= 0) finish(robot, action);
      else body.timer = world.agenda.after(action.remainingMs, () => finish(robot, action));
      return;
    }
    const to = action.route[action.leg] ?? action.target;
    const meters = distanceMeters(body.place, to);
    if (meters > 0) body.heading = Math.atan2(to.y - body.place.y, to.x - body.place.x);
    action.from = body.place;
    action.legMs = Math.max((meters / robot.speedMetersPerSecond) * 1_000, SHORTEST_DRIVE_MS);
    body.docked = false;
    body.timer = world.agenda.after(action.legMs, () => endLeg(robot, action, to));
  };

  const endLeg = (robot: Robot, action: Extract<Action, { kind: "drive" }>, at: Point) => {
    const { body } = robot;
    accrue(robot, world);
    body.timer = undefined;
    body.place = { x: at.x, y: at.y };
    action.leg += 1;
    if (body.haltAtWaypoint) {
      body.haltAtWaypoint = false;
      body.halts.add("chain-paused");
    }
    if (action.leg < action.route.length) return proceed(robot);
    body.heading = action.target.heading;
    finish(robot, action);
  };

  const finish = (robot: Robot, action: Action) => {
    robot.body.timer = undefined;
    robot.body.action = undefined;
    action.done();
  };

  /** Ends the body's action as it is at this moment. */
  const freeze = (robot: Robot) => {
    const { body } = robot;
    const { action } = body;
    if (action === undefined || body.timer === undefined) return;
    accrue(robot, world);
    body.timer();
    body.timer = undefined;
    const passedMs = world.agenda.nowMs() - action.startMs;
    if (action.kind === "work") action.remainingMs = Math.max(action.remainingMs - passedMs, 0);
    else body.place = along(action, passedMs);
  };

  const stop = (robot: Robot) => {
    freeze(robot);
    robot.body.action = undefined;
  };

  return {
    drive(robot, target, done) {
      const route = robot.map.route(robot.body.place, target);
      const { place } = robot.body;
      begin(robot, { kind: "drive", route, target, done, leg: 0, from: place, startMs: 0, legMs: 0 });
    },
    work(robot, durationMs, done) {
      begin(robot, { kind: "work", done, startMs: 0, remainingMs: durationMs });
    },
    abandon: stop,
    halt(robot, cause) {
      robot.body.halts.add(cause);
      if (isHalted(robot)) freeze(robot);
    },
    release(robot, cause) {
      if (!robot.body.halts.delete(cause)) return;
      if (robot.body.timer === undefined) proceed(robot);
    },
    haltAtWaypoint(robot) {
      if (robot.body.action?.kind === "drive" && robot.body.timer !== undefined) {
        robot.body.haltAtWaypoint = true;
      } else {
        this.halt(robot, "chain-paused");
      }
    },
  };
}

/** The purpose of a trip: a goal of a mission, or a task of a chain. */
interface Trip {
  /** The trip has reached its next stage. */
  notify(stage: Exclude<Feedback, "none" | "arrived">): void;
  /** Whether the purpose of the trip has ended meanwhile: then its arrival has no effect. */
  isOver(): boolean;
  /** The robot stands at the target, docked if robots dock there. */
  arrived(): void;
}

/** Moves robots to a target: out of a dock, along the way, and into a dock. */
export interface Travel {
  go(robot: Robot, target: Target, trip: Trip): void;
}

/** The travels of a world's robots. */
export function createTravel(world: WorldContext, motion: Motion, batteries: BatteryRules): Travel {
  const dock = (robot: Robot, trip: Trip) => {
    trip.notify("docking");
    motion.work(robot, world.rules.dockMs, () => {
      // The last of the charge may be gone before the contacts meet.
      batteries.settle(robot);
      if (trip.isOver()) return;
      robot.body.docked = true;
      batteries.settle(robot);
      trip.arrived();
    });
  };

  return {
    go(robot, target, trip) {
      const drive = () => {
        trip.notify("navigating");
        motion.drive(robot, target, () => {
          if (target.vertex?.docking === true) dock(robot, trip);
          else trip.arrived();
        });
        batteries.settle(robot);
      };
      if (!robot.body.docked) return drive();
      trip.notify("undocking");
      motion.work(robot, world.rules.undockMs, drive);
    },
  };
}
