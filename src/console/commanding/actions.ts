import type { MissionView } from "../../models/robot.ts";
import type { HoldRequest, Robot } from "../../northbound/web/api/robot.ts";
import type { Rights } from "../../northbound/web/api/session.ts";
import { hasEnded } from "../fleet/words.ts";
import type { IconName } from "../icon-paths.ts";
import { say } from "../texts/texts.ts";
import type { Wanted } from "./asked.ts";

/** An action of a user on a robot, with a second step. */
export interface Action {
  readonly label: string;
  readonly icon: IconName;
  /** Whether it starts the robot: from some addresses that is refused, and now if `whyNotStarted` says so. */
  readonly moves: boolean;
  /** What it does, for the second step. */
  readonly effect: string;
  readonly wanted: Wanted;
}

/** The actions that the robot's state allows. The fleet service decides. */
export function actionsOf(robot: Robot): readonly Action[] {
  const robotId = robot.robot_id;
  const mission = missionUnderWay(robot);
  if (mission === null) return [charge(robotId)];
  const cancel: Action = {
    label: say("action.cancel"),
    icon: "cancel",
    moves: false,
    effect: say("action.cancelEffect"),
    wanted: missionCommand(robotId, mission, "COMMAND_CANCEL"),
  };
  if (mission.state !== "STATE_PAUSED") return [cancel];
  const resume: Action = {
    label: say("action.resume"),
    icon: "play",
    moves: true,
    effect: say("action.resumeEffect"),
    wanted: missionCommand(robotId, mission, "COMMAND_RESUME"),
  };
  return [resume, cancel];
}

/** Why the gateway refuses to start the robot now; a hold comes before a doubt. Null: it may accept one. */
export function whyNotStarted({ hold, quality }: Robot): string | null {
  if (hold.held) return say("why.HELD", { by: hold.by[0] ?? "–" });
  return quality === "good" ? null : say(`why.${quality}`);
}

/** The mission beside which the fleet service takes no other one; null: none is known. */
export function missionUnderWay({ mission }: Robot): MissionView | null {
  const current = mission?.state?.current_mission ?? null;
  return current === null || hasEnded(current) ? null : current;
}

/** What must not change between the two steps. A robot that drives passes places, so these do not count. */
export function basisOf({ quality, idle, mission, lease, hold, place }: Robot): string {
  const current = mission?.state?.current_mission;
  return JSON.stringify([
    quality,
    idle.reason,
    current?.mission_id,
    current?.state,
    current?.current_goal_index,
    lease,
    hold.by,
    idle.reason === "MOVING" ? null : place?.point,
  ]);
}

/** The same for a mission to a place, which does not depend on where the robot is. */
export function goToBasisOf(robot: Robot): string {
  const { quality, idle, lease, hold } = robot;
  const isException = idle.reason === "EXCEPTION";
  return JSON.stringify([quality, isException, lease, hold.by, missionUnderWay(robot)?.mission_id]);
}

function charge(robotId: string): Action {
  return {
    label: say("action.charge"),
    icon: "charge",
    moves: true,
    effect: say("action.chargeEffect"),
    wanted: { operation: "ChargeRobot", request: { robotId } },
  };
}

function missionCommand(robotId: string, { mission_id: missionId }: MissionView, command: string): Wanted {
  return { operation: "UpdateMission", request: { robotId, missionCommand: { missionId, command } } };
}

/** An action of a user on the holds of a robot, with a second step. */
export interface HoldAction {
  readonly label: string;
  /** What it does, for the second step. */
  readonly effect: string;
  /** Its object, if it is not the robot alone. */
  readonly concerns?: string;
  /** Under /api/v1. */
  readonly path: string;
  readonly body: HoldRequest;
}

/** How `hold.by` marks a hold on all robots. */
const ON_ALL = " (all)";

/** A hold of the user's own, or its end; for engineers also the end of each other hold. */
export function holdActions({ robot_id: robotId, hold }: Robot, rights: Rights): readonly HoldAction[] {
  const path = `/robots/${encodeURIComponent(robotId)}/hold`;
  const own: HoldAction = hold.by.includes(rights.user)
    ? {
        label: say("hold.lift"),
        effect: say("hold.liftEffect"),
        path,
        body: { hold: false },
      }
    : {
        label: say("hold.begin"),
        effect: say("hold.beginEffect"),
        path,
        body: { hold: true },
      };
  const others = hold.by.filter((name) => name !== rights.user);
  return [own, ...others.flatMap((name) => liftOf(name, path, rights))];
}

function liftOf(name: string, path: string, { lift, lift_all: liftAll }: Rights): readonly HoldAction[] {
  if (!name.endsWith(ON_ALL)) {
    if (lift !== null) return [];
    const effect = say("hold.liftOfEffect", { user: name });
    return [{ label: say("hold.liftOf", { user: name }), effect, path, body: { hold: false, user: name } }];
  }
  if (liftAll !== null) return [];
  const user = name.slice(0, -ON_ALL.length);
  const effect = say("hold.liftAllEffect", { user });
  return [
    {
      label: say("hold.liftOf", { user }),
      effect,
      concerns: say("hold.all"),
      path: "/hold",
      body: { hold: false, user },
    },
  ];
}
