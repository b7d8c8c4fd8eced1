import type { Mission as CartMission } from "../../wire/fleet/v1/cart/cart_pb.js";
import type { Goal } from "../../wire/fleet/v1/common_pb.js";
import { type BaseMission, type Mission, MissionCommand_Command } from "../../wire/fleet/v1/mission_pb.js";
import type { Mission as ServeMission } from "../../wire/fleet/v1/serve/serve_pb.js";
import { invalid } from "../refusal.ts";
import type { GoalName, Target } from "../world/map.ts";
import { conductOf, type MissionKind, type MissionOrder } from "../world/mission.ts";
import type { MissionControl } from "../world/mission-queue.ts";
import type { Robot } from "../world/robot.ts";

const MOST_GOALS = 200;

/** A well-formed mission of a request, whose goals are not looked up on a map yet. */
export interface MissionWish {
  readonly kind: MissionKind;
  readonly goals: readonly GoalName[];
  /** Further goals, for trays. */
  readonly trayGoals: readonly GoalName[];
}

/** Reads a Mission. Throws INVALID_ARGUMENT for what is not well-formed. */
export function readMission(mission: Mission | undefined): MissionWish {
  if (mission === undefined) throw invalid("mission is required");
  if (mission.extension !== undefined) throw invalid("mission.extension is not supported");
  switch (mission.mission.case) {
    case "baseMission":
      return readBase(mission.mission.value);
    case "serveMission":
      return readServe(mission.mission.value);
    case "cartMission":
      return readCart(mission.mission.value);
    default:
      throw invalid("mission: one of base_mission, serve_mission and cart_mission is required");
  }
}

function readBase({ mission }: BaseMission): MissionWish {
  switch (mission.case) {
    case "navigateMission":
      return wish("base.navigate", [mission.value.goal]);
    case "navigateAutoMission":
      return wish("base.navigate-auto", mission.value.goals);
    default:
      throw invalid("base_mission: no mission type is set");
  }
}

function readCart({ mission }: CartMission): MissionWish {
  switch (mission.case) {
    case "traverseMission":
      return wish("cart.traverse", mission.value.goals);
    case "traversePatrolMission":
      return wish("cart.traverse-patrol", mission.value.goals);
    case "navigateMission":
      return wish("cart.navigate", [mission.value.goal]);
    case "navigateAutoMission":
      return wish("cart.navigate-auto", mission.value.goals);
    default:
      throw invalid("cart_mission: no mission type is set");
  }
}

function readServe({ mission }: ServeMission): MissionWish {
  switch (mission.case) {
    case "deliveryMission": {
      const trays = mission.value.params?.trayMappings ?? [];
      const trayGoals = trays.length === 0 ? [] : readGoals(trays.map(({ goal }) => goal));
      return { ...wish("serve.serving", mission.value.goals), trayGoals };
    }
    case "bussingMission":
      return wish("serve.bussing", mission.value.goals);
    case "deliveryPatrolMission":
      return wish("serve.serving-patrol", mission.value.goals);
    case "bussingPatrolMission":
      return wish("serve.bussing-patrol", mission.value.goals);
    case "navigateMission":
      return wish("serve.navigate", [mission.value.goal]);
    case "navigateAutoMission":
      return wish("serve.navigate-auto", mission.value.goals);
    default:
      throw invalid("serve_mission: no mission type is set");
  }
}

/** A mission of the wire's goals. Throws INVALID_ARGUMENT. */
export function wish(kind: MissionKind, goals: ReadonlyArray<Goal | undefined>): MissionWish {
  return { kind, goals: readGoals(goals), trayGoals: [] };
}

/** Looks up a mission's goals on the robot's map, after its family was checked. Throws INVALID_ARGUMENT. */
export function toOrder(robot: Robot, { kind, goals, trayGoals }: MissionWish): MissionOrder {
  for (const goal of trayGoals) find(robot, goal);
  return { kind, targets: goals.map((goal) => find(robot, goal)) };
}

/** Throws INVALID_ARGUMENT for a mission of another family. */
export function checkFamily(robot: Robot, { kind }: MissionWish): void {
  const { family } = conductOf(kind);
  if (family === undefined || family === robot.family) return;
  throw invalid(`robot ${robot.id} is not of the ${family} family`);
}

/** Reads a mission's command. Throws INVALID_ARGUMENT if it is not set or not known. */
export function readControl(command: MissionCommand_Command): MissionControl {
  switch (command) {
    case MissionCommand_Command.CANCEL:
      return "cancel";
    case MissionCommand_Command.PAUSE:
      return "pause";
    case MissionCommand_Command.RESUME:
      return "resume";
    case MissionCommand_Command.FINISH:
      return "finish";
    default:
      throw invalid(`mission_command.command: ${command} is not a command`);
  }
}

function readGoals(goals: ReadonlyArray<Goal | undefined>): readonly GoalName[] {
  if (goals.length === 0) throw invalid("goals: at least one goal is required");
  if (goals.length > MOST_GOALS) throw invalid(`goals: more than ${MOST_GOALS}`);
  return goals.map(readGoal);
}

function readGoal(goal: Goal | undefined): GoalName {
  switch (goal?.goal.case) {
    case "destinationId":
      if (goal.goal.value === "") throw invalid("goal.destination_id is empty");
      return { kind: "destination", destinationId: goal.goal.value };
    case "pose": {
      const { xMeters, yMeters, headingRadians } = goal.goal.value;
      return { kind: "pose", x: xMeters, y: yMeters, heading: headingRadians };
    }
    default:
      throw invalid("goal: one of destination_id and pose is required");
  }
}

function find(robot: Robot, goal: GoalName): Target {
  const target = robot.map.find(goal);
  if (target !== undefined) return target;
  throw invalid(
    goal.kind === "destination"
      ? `destination ${goal.destinationId} is not on the map of robot ${robot.id}`
      : `pose (${goal.x}, ${goal.y}, ${goal.heading}) is not on the map of robot ${robot.id}`,
  );
}
