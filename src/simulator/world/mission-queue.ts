import { invalid, Refusal } from "../refusal.ts";
import type { WorldContext } from "./context.ts";
import { targetOf } from "./map.ts";
import { isTerminal, type Mission, type MissionOrder } from "./mission.ts";
import type { MissionRun } from "./mission-run.ts";
import { randomId } from "./random.ts";
import { activeMission, currentMission, type Robot } from "./robot.ts";

/** The commands of UpdateMission. */
export type MissionControl = "cancel" | "pause" | "resume" | "finish";

/** The longest list of a robot; the oldest missions that are over leave it. */
const LONGEST_QUEUE = 100;

/**
 * A robot's list of missions and the commands on it, with all transitions of
 * docs/internals/service.md, States and transitions. A command that throws a Refusal has
 * changed nothing. `by` names the cause in the record.
 */
export interface MissionQueue {
  /**
   * CreateMission, CreateMissionWorkflow: a new list, whose first mission runs.
   *
   * @returns the new ids
   */
  begin(robot: Robot, orders: readonly MissionOrder[], owner: string, by: string): string[];
  /** AppendMission: to the end of a list that is not over. @returns the new id. */
  append(robot: Robot, order: MissionOrder, owner: string, by: string): string;
  /** ChargeRobot: a new list with a drive to the contact dock. @returns the new id. */
  charge(robot: Robot, owner: string, by: string): string;
  /** UpdateMission. */
  control(robot: Robot, missionId: string, control: MissionControl, by: string): void;
  /** SkipGoal. @returns the id of the mission. */
  skip(robot: Robot, by: string): string;
  /** A failure of the robot ends all missions of the list. */
  failAll(robot: Robot, by: string): void;
}

/** The mission queues of a world's robots. */
export function createMissionQueue(world: WorldContext, run: MissionRun): MissionQueue {
  const newMission = (robot: Robot, order: MissionOrder, owner: string, by: string): Mission => {
    const id = randomId(world.random);
    world.record.add(robot.id, { what: "mission", missionId: id, from: "none", to: "default", owner, by });
    return {
      ...order,
      id,
      owner,
      status: "default",
      goalIndex: 0,
      feedback: "none",
      awaits: "nothing",
      endReached: false,
    };
  };

  const begin: MissionQueue["begin"] = (robot, orders, owner, by) => {
    refuseBusy(robot);
    robot.missions = orders.map((order) => newMission(robot, order, owner, by));
    const ids = robot.missions.map((mission) => mission.id);
    const first = robot.missions[0];
    if (first !== undefined) run.start(robot, first, by);
    return ids;
  };

  return {
    begin,
    append(robot, order, owner, by) {
      if (activeMission(robot) === undefined) {
        throw new Refusal("FAILED_PRECONDITION", "no mission is in the queue: create the first one");
      }
      if (robot.missions.length - robot.currentIndex > LONGEST_QUEUE) {
        throw new Refusal("FAILED_PRECONDITION", `the queue is full: ${LONGEST_QUEUE} missions wait`);
      }
      if (robot.currentIndex >= LONGEST_QUEUE) {
        robot.missions.shift();
        robot.currentIndex -= 1;
      }
      const mission = newMission(robot, order, owner, by);
      robot.missions.push(mission);
      world.changed({ kind: "mission", robot });
      return mission.id;
    },
    charge(robot, owner, by) {
      if (robot.dock === undefined) {
        throw invalid(`robot ${robot.id} has no contact dock`);
      }
      const [id = ""] = begin(robot, [{ kind: "charge", targets: [targetOf(robot.dock)] }], owner, by);
      return id;
    },
    control(robot, missionId, control, by) {
      applyControl(run, robot, missionToControl(robot, missionId), control, by);
    },
    skip(robot, by) {
      const mission = activeMission(robot);
      if (mission?.status !== "running") {
        throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is not on a running mission`);
      }
      run.skip(robot, mission, by);
      return mission.id;
    },
    failAll(robot, by) {
      // The next mission starts when the one before it ends, so each fails in its turn.
      for (let left = robot.missions.length; left > 0; left -= 1) {
        const mission = activeMission(robot);
        if (mission === undefined) return;
        run.end(robot, mission, "failed", by);
      }
    },
  };
}

function refuseBusy(robot: Robot): void {
  if (activeMission(robot) !== undefined) {
    throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is already executing a mission`);
  }
  if (robot.chainId !== 0) {
    throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is busy with task chain ${robot.chainId}`);
  }
}

/** The checks of UpdateMission, in the order of docs/internals/service.md, ERR-53. */
function missionToControl(robot: Robot, missionId: string): Mission {
  if (robot.missions.length === 0) {
    throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is not on a mission`);
  }
  const index = robot.missions.findIndex((mission) => mission.id === missionId);
  const mission = robot.missions[index];
  if (mission === undefined) {
    throw invalid(`mission ${missionId} is not in the list of robot ${robot.id}`);
  }
  if (isTerminal(mission)) {
    throw new Refusal("FAILED_PRECONDITION", `mission ${missionId} has ${mission.status}`);
  }
  if (mission !== currentMission(robot)) {
    throw new Refusal("NOT_FOUND", `mission ${missionId} is queued: only the current one takes commands`);
  }
  return mission;
}

function applyControl(
  run: MissionRun,
  robot: Robot,
  mission: Mission,
  control: MissionControl,
  by: string,
): void {
  const paused = mission.status === "paused";
  switch (control) {
    case "cancel":
      run.end(robot, mission, "canceled", by);
      break;
    case "finish":
      run.end(robot, mission, "succeeded", by);
      break;
    case "pause":
      if (paused) throw new Refusal("FAILED_PRECONDITION", `mission ${mission.id} is paused already`);
      run.pause(robot, mission, by);
      break;
    case "resume":
      if (!paused) throw new Refusal("FAILED_PRECONDITION", `mission ${mission.id} is not paused`);
      run.resume(robot, mission, by);
      break;
  }
}
