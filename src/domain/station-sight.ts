import {
  currentGoal,
  currentMission,
  isArrived,
  isTerminal,
  type Mission,
  type MissionQueue,
  mayHaveArrived,
} from "./mission.ts";
import { type Quality, qualities } from "./observed.ts";
import type { Family, RobotId } from "./robot.ts";
import type { RobotSight } from "./stops.ts";

/** A robot for a station: the last values received of it, and their quality. */
export interface StationRobot extends RobotSight {
  readonly robotId: RobotId;
  readonly family: Family;
  readonly quality: Quality;
}

/** Where a robot is, for one station. */
export type StationPlace =
  /** It stands at a destination. `hasArrived`: its mission says so, and the robot waits there. */
  | { readonly kind: "here"; readonly hasArrived: boolean }
  /** It comes after so many other goals. `isRunning`: it drives now. */
  | {
      readonly kind: "coming";
      readonly goalsBefore: number;
      readonly isRunning: boolean;
      readonly missionId: string;
    }
  /** `isBroken`: its last mission was canceled, or failed. */
  | { readonly kind: "elsewhere"; readonly isBroken: boolean };

/** A conveyor of the robot that is here. Neither is true unless it is known to be true now. */
export interface StationConveyor {
  readonly index: number;
  readonly isLoaded: boolean;
  readonly isRolling: boolean;
}

/** What a station publishes about robots. Nothing in it is true unless it is known to be true now. */
export interface StationSight {
  /** Good: the robot that is here is known, or that none is. */
  readonly quality: Quality;
  readonly here: { readonly robotId: RobotId; readonly hasArrived: boolean } | null;
  /** Robots that are known to be here. */
  readonly count: number;
  readonly conveyors: readonly StationConveyor[];
  /** Good: all of its conveyors are known. */
  readonly conveyorQuality: Quality;
  readonly next: { readonly robotId: RobotId; readonly goalsBefore: number } | null;
  readonly nextQuality: Quality;
}

/** A robot that is at a station, or comes to it, or did so when it was last seen. */
export interface StationCandidate {
  readonly robot: StationRobot;
  readonly place: StationPlace;
}

/** Before anything is known of any robot. */
export const unknownSight: StationSight = {
  quality: "unknown",
  here: null,
  count: 0,
  conveyors: [],
  conveyorQuality: "unknown",
  next: null,
  nextQuality: "unknown",
};

/** Whether all of it is good: for a PLC that drops status codes. */
export function isValidSight({ quality, conveyorQuality }: StationSight): boolean {
  return quality === "good" && conveyorQuality === "good";
}

/**
 * Where a robot is, by the last values received: its task chain counts before its missions, and both count
 * before the point of the online list.
 */
export function placeAt(destinations: readonly string[], { missions, presence }: RobotSight): StationPlace {
  const at = presence?.value;
  const isSeenHere = at !== undefined && destinations.includes(at.position);
  const here: StationPlace = { kind: "here", hasArrived: false };
  // The goals of a task chain are not published, so only the point counts.
  if (at !== undefined && at.taskChainId !== 0) {
    return isSeenHere ? here : { kind: "elsewhere", isBroken: false };
  }
  const queue = missions?.value;
  const current = queue === undefined ? undefined : currentMission(queue);
  if (queue !== undefined && current !== undefined && !isTerminal(current.state)) {
    if (isDestined(current, destinations) && isArrived(current)) return { kind: "here", hasArrived: true };
    return comingTo(destinations, queue) ?? { kind: "elsewhere", isBroken: false };
  }
  const last = queue?.missions.findLast(({ state }) => isTerminal(state));
  const hasEndedHere =
    last !== undefined &&
    last.state === "STATE_SUCCEEDED" &&
    isDestined(last, destinations) &&
    mayHaveArrived(last);
  if (hasEndedHere) return { kind: "here", hasArrived: isArrived(last) };
  if (isSeenHere) return here;
  const isBroken = last !== undefined && last.state !== "STATE_SUCCEEDED";
  return (queue && comingTo(destinations, queue)) ?? { kind: "elsewhere", isBroken };
}

/**
 * What a station publishes about the robots that are or were at it, or come to it.
 *
 * - The robot that was published last stays until it has left; otherwise the one with the first id is chosen.
 * - That nobody is here is known only if each possible robot is good, and the fleet is seen at all.
 *
 * @param fleetQuality the best quality of all robots
 * @param shownBefore the robot that was published last
 */
export function sightOf(
  candidates: readonly StationCandidate[],
  fleetQuality: Quality,
  shownBefore: RobotId | null,
): StationSight {
  const inOrder = candidates.toSorted((a, b) => (a.robot.robotId < b.robot.robotId ? -1 : 1));
  const good = inOrder.filter(({ robot }) => qualityOf(robot) === "good");
  const doubtful = inOrder.filter(({ robot }) => qualityOf(robot) !== "good");
  const here = good.filter(({ place }) => place.kind === "here");
  const shown = here.find(({ robot }) => robot.robotId === shownBefore) ?? here[0];
  return {
    ...hereOf(shown, here.length, doubtful, fleetQuality),
    ...nextOf(good, doubtful, fleetQuality),
  };
}

/** The worst quality of the values that show where a robot is. */
export function qualityOf({ quality, missions, presence }: StationRobot): Quality {
  return worst([quality, missions?.quality ?? "good", presence?.quality ?? "good"]);
}

type Here = Pick<StationSight, "quality" | "here" | "count" | "conveyors" | "conveyorQuality">;

function hereOf(
  shown: StationCandidate | undefined,
  count: number,
  doubtful: readonly StationCandidate[],
  fleetQuality: Quality,
): Here {
  if (shown === undefined) {
    const doubt = doubtful.find(({ place }) => place.kind === "here") ?? doubtful[0];
    const quality = doubt === undefined ? fleetQuality : qualityOf(doubt.robot);
    return { quality, here: null, count: 0, conveyors: [], conveyorQuality: quality };
  }
  const { robot, place } = shown;
  const hasArrived = place.kind === "here" && place.hasArrived;
  return { quality: "good", here: { robotId: robot.robotId, hasArrived }, count, ...conveyorsOf(robot) };
}

function nextOf(
  good: readonly StationCandidate[],
  doubtful: readonly StationCandidate[],
  fleetQuality: Quality,
): Pick<StationSight, "next" | "nextQuality"> {
  let next: StationSight["next"] = null;
  for (const { robot, place } of good) {
    if (place.kind !== "coming" || (next !== null && next.goalsBefore <= place.goalsBefore)) continue;
    next = { robotId: robot.robotId, goalsBefore: place.goalsBefore };
  }
  if (next !== null) return { next, nextQuality: "good" };
  const doubt = doubtful.find(({ place }) => place.kind === "coming");
  return { next, nextQuality: doubt === undefined ? fleetQuality : qualityOf(doubt.robot) };
}

function conveyorsOf({
  family,
  conveyors,
}: StationRobot): Pick<StationSight, "conveyors" | "conveyorQuality"> {
  const listed = conveyors.filter(({ isGone }) => isGone !== true);
  return {
    conveyors: listed.map(({ value: { index, payload, operation }, quality }) => ({
      index,
      isLoaded: quality === "good" && payload === "PAYLOAD_STATE_LOADED",
      isRolling: quality === "good" && operation === "OPERATION_STATE_ROLLING",
    })),
    // A cart has some: until its first message nobody knows whether it is loaded.
    conveyorQuality:
      family === "cart" && conveyors.length === 0 ? "unknown" : worst(listed.map(({ quality }) => quality)),
  };
}

/** The first mission of the queue that leads to a destination; null if none does. */
function comingTo(
  destinations: readonly string[],
  { missions, currentMissionIndex }: MissionQueue,
): StationPlace | null {
  let goalsBefore = 0;
  for (const mission of missions.slice(Math.max(0, currentMissionIndex))) {
    if (isTerminal(mission.state)) continue;
    const goals = goalsAhead(mission);
    const at = goals.findIndex((name) => name !== null && destinations.includes(name));
    if (at !== -1) {
      const { state, missionId } = mission;
      const isRunning = state === "STATE_RUNNING" && mission === missions[currentMissionIndex];
      return { kind: "coming", goalsBefore: goalsBefore + at, isRunning, missionId };
    }
    goalsBefore += goals.length;
  }
  return null;
}

/** Names of the goals before a mission's end, the next one first; null: a pose. */
export function goalsAhead(mission: Mission): readonly (string | null)[] {
  const { goals, currentGoalIndex, type } = mission;
  const kind = type !== null && type.family !== "none" ? String(type.type) : "";
  // An automatic mission has one goal: the one that the robot has chosen.
  const chosen = currentGoal(mission);
  const ahead = kind.endsWith("_AUTO")
    ? chosen === undefined
      ? []
      : [chosen]
    : [
        ...goals.slice(Math.max(0, currentGoalIndex)),
        ...(kind.endsWith("_PATROL") ? goals.slice(0, Math.max(0, currentGoalIndex)) : []),
      ];
  return ahead.map((goal) => (goal.kind === "destination" ? goal.destinationId : null));
}

function isDestined(mission: Mission, destinations: readonly string[]): boolean {
  const goal = currentGoal(mission);
  return goal?.kind === "destination" && destinations.includes(goal.destinationId);
}

function worst(list: readonly Quality[]): Quality {
  return qualities[Math.max(0, ...list.map((each) => qualities.indexOf(each)))] ?? "unknown";
}
