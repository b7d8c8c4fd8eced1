import { currentMission, type MissionQueue } from "./mission.ts";
import type { Observed, Stamp } from "./observed.ts";
import type { Outcome } from "./outcome.ts";
import type { Conveyor, Presence } from "./robot.ts";

/** The last values received of one robot; undefined: none was. */
export interface RobotSight {
  readonly missions: Observed<MissionQueue> | undefined;
  readonly presence: Observed<Presence> | undefined;
  readonly conveyors: readonly Observed<Conveyor>[];
}

/** One thing that a robot does, and that a stop ends. */
export type Activity =
  | { readonly kind: "mission"; readonly missionId: string }
  | { readonly kind: "chain"; readonly chainId: number; readonly amrId: number }
  | { readonly kind: "conveyor"; readonly index: number };

/** An activity with the message that showed it last. */
export interface SeenActivity {
  readonly activity: Activity;
  /**
   * True: a good value shows it under way. False: it may be under way, or was when the robot was seen last.
   */
  readonly isSeen: boolean;
  /** The times of the message that showed it. Other times mean that it was seen again. */
  readonly stamp: Stamp;
}

/** What is sent to end activities of one robot. `amrId` is the number by which task chains name it. */
export type Stop =
  | { readonly kind: "pause_mission"; readonly missionId: string }
  | { readonly kind: "pause_chain"; readonly amrId: number }
  | { readonly kind: "stop_conveyors"; readonly indexes: readonly number[] };

/**
 * The simulator's name for it: no state but idle is documented (docs/internals/service.md, Where the
 * interface leaves a choice).
 */
const PAUSED = "ROBOT_STATE_PAUSED";

/** Whether the online list shows the robot as paused. */
export function isPaused({ stateId }: Presence): boolean {
  return stateId === PAUSED;
}

/**
 * The activities of a robot, by the last values received:
 *
 * - its current mission, unless its state says that it does not run;
 * - its task chain, unless the robot is paused;
 * - each conveyor that the robot still lists and that rolls, or is not known to stand now.
 */
export function activitiesOf({ missions, presence, conveyors }: RobotSight): readonly SeenActivity[] {
  return [...missionsOf(missions), ...chainsOf(presence), ...conveyors.flatMap(rollingOf)];
}

/** A stop, and the activities that it ends. */
export interface PlannedStop {
  readonly stop: Stop;
  readonly ends: readonly SeenActivity[];
}

/**
 * The stops that end these activities. Conveyors that were seen rolling share one request. Those in doubt
 * have another: the service refuses a whole request if one of its conveyors is gone.
 */
export function stopsOf(activities: readonly SeenActivity[]): readonly PlannedStop[] {
  const stops: PlannedStop[] = [];
  const rolling: SeenActivity[] = [];
  const inDoubt: SeenActivity[] = [];
  for (const seen of activities) {
    const { activity, isSeen } = seen;
    switch (activity.kind) {
      case "mission":
        stops.push({ stop: { kind: "pause_mission", missionId: activity.missionId }, ends: [seen] });
        break;
      case "chain":
        stops.push({ stop: { kind: "pause_chain", amrId: activity.amrId }, ends: [seen] });
        break;
      case "conveyor":
        (isSeen ? rolling : inDoubt).push(seen);
    }
  }
  for (const ends of [rolling, inDoubt]) {
    const indexes = ends.flatMap(({ activity }) => (activity.kind === "conveyor" ? [activity.index] : []));
    if (indexes.length > 0) stops.push({ stop: { kind: "stop_conveyors", indexes }, ends });
  }
  return stops;
}

/** The key of an activity of a robot: the same text for the same mission, task chain or conveyor. */
export function activityKey(activity: Activity): string {
  switch (activity.kind) {
    case "mission":
      return `mission ${activity.missionId}`;
    case "chain":
      return `chain ${activity.chainId}`;
    case "conveyor":
      return `conveyor ${activity.index}`;
  }
}

function missionsOf(missions: Observed<MissionQueue> | undefined): readonly SeenActivity[] {
  const mission = missions === undefined ? undefined : currentMission(missions.value);
  if (missions === undefined || mission === undefined) return [];
  const { state, missionId } = mission;
  const mayRun = typeof state !== "string" || state === "STATE_RUNNING" || state === "STATE_UNKNOWN";
  if (!mayRun) return [];
  const isSeen = state === "STATE_RUNNING" && missions.quality === "good";
  return [{ activity: { kind: "mission", missionId }, isSeen, stamp: missions.stamp }];
}

function chainsOf(presence: Observed<Presence> | undefined): readonly SeenActivity[] {
  if (presence === undefined) return [];
  const { taskChainId: chainId, amrId } = presence.value;
  if (chainId === 0 || isPaused(presence.value)) return [];
  const isSeen = presence.quality === "good";
  return [{ activity: { kind: "chain", chainId, amrId }, isSeen, stamp: presence.stamp }];
}

function rollingOf({ value, quality, stamp, isGone }: Observed<Conveyor>): readonly SeenActivity[] {
  const { index, operation } = value;
  if (isGone === true || (operation === "OPERATION_STATE_STOP" && quality === "good")) return [];
  const isSeen = operation === "OPERATION_STATE_ROLLING" && quality === "good";
  return [{ activity: { kind: "conveyor", index }, isSeen, stamp }];
}

/**
 * FAILED_PRECONDITION: there is nothing to pause, or it is paused already (docs/internals/service.md, TRN-25
 * and TRN-55).
 */
export function hasStopFailed({ outcome, code }: Outcome): boolean {
  return outcome !== "succeeded" && outcome !== "probably_succeeded" && code !== "FAILED_PRECONDITION";
}
