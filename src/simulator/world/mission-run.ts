import type { WorldContext } from "./context.ts";
import { samePlace, type Target } from "./map.ts";
import { conductOf, type Feedback, isTerminal, type Mission, type MissionStatus } from "./mission.ts";
import type { Motion, Travel } from "./motion.ts";
import { activeMission, isDriving, isFlat, type Robot } from "./robot.ts";

/** Executes missions: from goal to goal, through docking, stops and weight, to their end. */
export interface MissionRun {
  /** Makes the mission the running one. A navigate-auto mission without a free goal fails here. */
  start(robot: Robot, mission: Mission, by: string): void;
  /** Ends the mission; the next of the list starts, or the robot is free. */
  end(robot: Robot, mission: Mission, status: MissionStatus, by: string): void;
  /** Continues with the next goal, as after a stop. */
  skip(robot: Robot, mission: Mission, by: string): void;
  pause(robot: Robot, mission: Mission, by: string): void;
  resume(robot: Robot, mission: Mission, by: string): void;
  /** Somebody put weight on the robot, or (negative) took it off. */
  changeWeight(robot: Robot, changeKg: number): void;
}

/** Runs the missions of a world. `onFree` is called with a robot whose list is over. */
export function createMissionRun(
  world: WorldContext,
  motion: Motion,
  travel: Travel,
  onFree: (robot: Robot) => void,
): MissionRun {
  const weights = createWeights(world);

  const setStatus = (robot: Robot, mission: Mission, to: MissionStatus, by: string) => {
    const { id: missionId, owner } = mission;
    world.record.add(robot.id, { what: "mission", missionId, from: mission.status, to, owner, by });
    mission.status = to;
  };

  const recordGoal = (robot: Robot, { id: missionId, goalIndex }: Mission, by: string) =>
    world.record.add(robot.id, { what: "goal", missionId, goalIndex, by });

  const start = (robot: Robot, mission: Mission, by: string) => {
    robot.currentIndex = robot.missions.indexOf(mission);
    setStatus(robot, mission, "running", by);
    if (conductOf(mission.kind).course === "first-free") {
      mission.goalIndex = firstFreeGoal(robot, mission.targets, world.robots.values(), 0);
    }
    if (mission.goalIndex < 0 || isFlat(robot)) return end(robot, mission, "failed", "progress");
    goTo(robot, mission, mission.goalIndex, by);
  };

  const goTo = (robot: Robot, mission: Mission, goalIndex: number, by: string) => {
    const target = mission.targets[goalIndex];
    if (target === undefined) return end(robot, mission, "succeeded", by);
    mission.goalIndex = goalIndex;
    mission.awaits = "nothing";
    robot.bound = target;
    travel.go(robot, target, {
      notify: (stage) => showFeedback(world, robot, mission, stage),
      isOver: () => isTerminal(mission),
      arrived: () => arrived(robot, mission),
    });
  };

  const arrived = (robot: Robot, mission: Mission) => {
    recordGoal(robot, mission, "progress");
    mission.feedback = "arrived";
    const { stop, course } = conductOf(mission.kind);
    if (stop === "none") return end(robot, mission, "succeeded", "progress");
    world.changed({ kind: "mission", robot });
    const leave = () => endStop(robot, mission);
    if (stop === "time") return motion.work(robot, stopMs(world, robot, course), leave);
    const { weightChangeMs } = world.rules;
    mission.awaits = stop;
    if (weightChangeMs !== null) motion.work(robot, weightChangeMs, () => changeByStaff(robot, mission));
  };

  const endStop = (robot: Robot, mission: Mission) => {
    weights.changeAtStop(robot, conductOf(mission.kind).until);
    next(robot, mission, "progress");
  };

  /** Staff at the stop of a serve robot. If there is nothing to take, it sends the robot on. */
  const changeByStaff = (robot: Robot, mission: Mission) => {
    weights.change(robot, (mission.awaits === "weight-added" ? 1 : -1) * world.rules.weightChangeKg);
    next(robot, mission, "progress");
  };

  const next = (robot: Robot, mission: Mission, by: string) => {
    const { until } = conductOf(mission.kind);
    if (mission.endReached || (until === "full" && weights.isFull(robot))) {
      return end(robot, mission, "succeeded", by);
    }
    goTo(robot, mission, goalAfter(robot, mission, world.robots.values()), by);
  };

  const end = (robot: Robot, mission: Mission, status: MissionStatus, by: string) => {
    motion.abandon(robot);
    robot.bound = undefined;
    setStatus(robot, mission, status, by);
    robot.body.halts.delete("mission-paused");
    world.changed({ kind: "mission", robot });
    const following = robot.missions[robot.currentIndex + 1];
    if (following !== undefined) start(robot, following, "progress");
    else onFree(robot);
  };

  return {
    start,
    end,
    skip(robot, mission, by) {
      recordGoal(robot, mission, by);
      motion.abandon(robot);
      next(robot, mission, by);
    },
    pause(robot, mission, by) {
      setStatus(robot, mission, "paused", by);
      motion.halt(robot, "mission-paused");
      world.changed({ kind: "mission", robot });
    },
    resume(robot, mission, by) {
      setStatus(robot, mission, "running", by);
      world.changed({ kind: "mission", robot });
      motion.release(robot, "mission-paused");
    },
    changeWeight(robot, changeKg) {
      weights.change(robot, changeKg);
      const mission = activeMission(robot);
      if (mission === undefined || isTerminal(mission)) return;
      const awaited = changeKg < 0 ? "weight-removed" : "weight-added";
      if (mission.endReached || mission.awaits === awaited) {
        mission.awaits = "nothing";
        motion.work(robot, 0, () => next(robot, mission, "progress"));
      }
    },
  };
}

/**
 * The goal after the present one. An index past the last one ends the mission: no goal is left, or none is
 * free.
 */
function goalAfter(robot: Robot, mission: Mission, robots: Iterable<Robot>): number {
  const { targets } = mission;
  const following = mission.goalIndex + 1;
  switch (conductOf(mission.kind).course) {
    case "patrol":
      return following % targets.length;
    case "first-free": {
      const free = firstFreeGoal(robot, targets, robots, following);
      return free < 0 ? targets.length : free;
    }
    default:
      return following;
  }
}

/** How long a robot stops at a goal of a tour or a patrol. */
function stopMs(
  { rules: { weightChangeMs, traverseStopMs, patrolStopMs } }: WorldContext,
  robot: Robot,
  course: string,
): number {
  if (course === "tour") return traverseStopMs;
  return robot.family === "serve" ? (weightChangeMs ?? patrolStopMs) : patrolStopMs;
}

function showFeedback(world: WorldContext, robot: Robot, mission: Mission, feedback: Feedback): void {
  mission.feedback = feedback;
  world.changed({ kind: "mission", robot });
}

/**
 * The navigate-auto rule (docs/internals/service.md, TRN-32): the first goal, in list order from `from`, that
 * is neither occupied (another robot stands there) nor claimed (another robot is on its way there, for a
 * mission or a task chain).
 *
 * @returns its index, or -1 if all are taken
 */
function firstFreeGoal(
  robot: Robot,
  targets: readonly Target[],
  robots: Iterable<Robot>,
  from: number,
): number {
  const others = [...robots].filter((other) => other !== robot && other.map === robot.map);
  return targets.findIndex((target, index) => index >= from && !others.some((other) => takes(other, target)));
}

function takes(other: Robot, target: Target): boolean {
  if (other.bound !== undefined && samePlace(other.bound, target)) return true;
  return !isDriving(other) && samePlace(other.body.place, target);
}

/** The loads of robots, in kilograms, and their effect on missions. */
interface Weights {
  /** Puts weight on the robot, or (negative) takes it off. */
  change(robot: Robot, changeKg: number): void;
  /** Changes the weight like staff at a patrol's stop, if the rules have staff. */
  changeAtStop(robot: Robot, until: "done" | "told" | "empty" | "full"): void;
  isFull(robot: Robot): boolean;
}

function createWeights(world: WorldContext): Weights {
  const isFull = (robot: Robot) => robot.carriedKg > world.rules.bussingThresholdKg;

  const change = (robot: Robot, changeKg: number) => {
    const carriedKg = Math.max(robot.carriedKg + changeKg, 0);
    const emptied = carriedKg === 0 && robot.carriedKg > 0;
    robot.carriedKg = carriedKg;
    world.record.add(robot.id, { what: "weight", carriedKg });
    const mission = activeMission(robot);
    if (mission === undefined) return;
    const { until } = conductOf(mission.kind);
    if ((until === "empty" && emptied) || (until === "full" && isFull(robot))) mission.endReached = true;
  };

  return {
    change,
    changeAtStop(robot, until) {
      const { weightChangeMs, weightChangeKg } = world.rules;
      if (weightChangeMs === null) return;
      if (until === "empty") change(robot, -weightChangeKg);
      if (until === "full") change(robot, weightChangeKg);
    },
    isFull,
  };
}
