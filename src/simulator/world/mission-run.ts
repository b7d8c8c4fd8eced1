import { firstFreeGoal } from "./claims.ts";
import type { WorldContext } from "./context.ts";
import { conductOf, type Feedback, isTerminal, type Mission, type MissionStatus } from "./mission.ts";
import type { Motion } from "./motion.ts";
import { activeMission, isFlat, type Robot } from "./robot.ts";
import type { Travel } from "./travel.ts";

/** Carries missions out: from goal to goal, through docking, stops and weight, to their end. */
export interface MissionRun {
  /** Makes the mission the running one. A navigate-auto mission without a free goal fails here. */
  start(robot: Robot, mission: Mission, by: string): void;
  /** Ends the mission; the next of the list starts, or the robot is free. */
  end(robot: Robot, mission: Mission, status: MissionStatus, by: string): void;
  /** Goes on with the next goal, as after a stop. */
  skip(robot: Robot, mission: Mission, by: string): void;
  pause(robot: Robot, mission: Mission, by: string): void;
  resume(robot: Robot, mission: Mission, by: string): void;
  /** Somebody put weight on the robot, or (negative) took it off. */
  changeWeight(robot: Robot, changeKg: number): void;
}

/** The course of missions in a world. `onFree` is told of a robot whose list has come to its end. */
export function createMissionRun(
  world: WorldContext,
  motion: Motion,
  travel: Travel,
  onFree: (robot: Robot) => void,
): MissionRun {
  const setStatus = (robot: Robot, mission: Mission, to: MissionStatus, by: string) => {
    const { id: missionId, owner } = mission;
    world.record.add(robot.id, { what: "mission", missionId, from: mission.status, to, owner, by });
    mission.status = to;
  };

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
      tell: (stage) => tell(robot, mission, stage),
      isOver: () => isTerminal(mission),
      arrived: () => arrived(robot, mission),
    });
  };

  const arrived = (robot: Robot, mission: Mission) => {
    world.record.add(robot.id, {
      what: "goal",
      missionId: mission.id,
      goalIndex: mission.goalIndex,
      by: "progress",
    });
    const { stop, course } = conductOf(mission.kind);
    mission.feedback = "arrived";
    if (stop === "none") return end(robot, mission, "succeeded", "progress");
    world.changed({ kind: "mission", robot });
    const { weightChangeMs, traverseStopMs, patrolStopMs } = world.rules;
    if (stop === "time") {
      const patrolMs = robot.family === "serve" ? (weightChangeMs ?? patrolStopMs) : patrolStopMs;
      motion.work(robot, course === "tour" ? traverseStopMs : patrolMs, () => endStop(robot, mission));
      return;
    }
    mission.awaits = stop;
    if (weightChangeMs !== undefined) motion.work(robot, weightChangeMs, () => lendHand(robot, mission));
  };

  /** A patrol's stop is over: where staff is about, it has put something on or taken it off meanwhile. */
  const endStop = (robot: Robot, mission: Mission) => {
    const { until } = conductOf(mission.kind);
    if (world.rules.weightChangeMs !== undefined && until === "empty")
      weigh(robot, -world.rules.weightChangeKg);
    if (world.rules.weightChangeMs !== undefined && until === "full")
      weigh(robot, world.rules.weightChangeKg);
    next(robot, mission, "progress");
  };

  /** Staff at the stop of a serve robot. Where there is nothing to take, it sends the robot on. */
  const lendHand = (robot: Robot, mission: Mission) => {
    const sign = mission.awaits === "weight-added" ? 1 : -1;
    weigh(robot, sign * world.rules.weightChangeKg);
    next(robot, mission, "progress");
  };

  const next = (robot: Robot, mission: Mission, by: string) => {
    const { course, until } = conductOf(mission.kind);
    if (mission.endReached || (until === "full" && isFull(robot))) {
      return end(robot, mission, "succeeded", by);
    }
    if (course === "first-free") {
      const others = world.robots.values();
      return goTo(robot, mission, freeAfter(robot, mission, others), by);
    }
    const following = mission.goalIndex + 1;
    goTo(robot, mission, course === "patrol" ? following % mission.targets.length : following, by);
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

  const weigh = (robot: Robot, changeKg: number) => {
    const carriedKg = Math.max(robot.carriedKg + changeKg, 0);
    const emptied = carriedKg === 0 && robot.carriedKg > 0;
    robot.carriedKg = carriedKg;
    world.record.add(robot.id, { what: "weight", carriedKg });
    const mission = activeMission(robot);
    if (mission === undefined) return;
    const { until } = conductOf(mission.kind);
    if ((until === "empty" && emptied) || (until === "full" && isFull(robot))) mission.endReached = true;
  };

  const isFull = (robot: Robot) => robot.carriedKg > world.rules.bussingThresholdKg;

  const tell = (robot: Robot, mission: Mission, feedback: Feedback) => {
    mission.feedback = feedback;
    world.changed({ kind: "mission", robot });
  };

  return {
    start,
    end,
    skip(robot, mission, by) {
      world.record.add(robot.id, { what: "goal", missionId: mission.id, goalIndex: mission.goalIndex, by });
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
      weigh(robot, changeKg);
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

/** The next free goal after the present one; past the end, which ends the mission, when none is. */
function freeAfter(robot: Robot, mission: Mission, robots: Iterable<Robot>): number {
  const index = firstFreeGoal(robot, mission.targets, robots, mission.goalIndex + 1);
  return index < 0 ? mission.targets.length : index;
}
