import { StatusCodes } from "node-opcua";
import { codeNumber } from "../../../domain/coded.ts";
import { currentMission, type MissionQueue, missionStateNames } from "../../../domain/mission.ts";
import type { Family, RobotId } from "../../../domain/robot.ts";
import { activitiesOf, type RobotSight, stopsOf } from "../../../domain/stops.ts";
import { hasArrived } from "../mission-tags.ts";
import { followTags } from "../model/slot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { sourceOf } from "../security.ts";
import { isShown, statusOfQuality } from "../status.ts";
import { tagTimes } from "../tag-registry.ts";
import {
  isMissionOperation,
  isMissionStop,
  missionOfFields,
  missionRequest,
  mostPlaces,
  numberedMission,
} from "./mission-request.ts";
import { numberKind } from "./parameter-kind.ts";
import type { SlotKindParts } from "./slot.ts";
import type { SlotCommand, SlotRequest } from "./slot-command.ts";
import type { MissionParameters, MissionRobot } from "./slot-operation.ts";
import { addSlotTags } from "./slot-tags.ts";
import { addMissionParameters } from "./station-order.ts";
import { strayNumber } from "./written-ticket.ts";

const operations = numberKind(isMissionOperation);
/** The operations of the fleet service that make a mission. */
const making: ReadonlySet<string> = new Set([
  "CreateMission",
  "AppendMission",
  "CreateMissionWorkflow",
  "ChargeRobot",
]);

/** The mission slots of one robot, or one of them. */
export interface MissionSlots {
  /** The robot's missions have changed. */
  refresh(): void;
  /** The robot as it is known now. */
  robot(): MissionRobot;
}

/**
 * Adds `MissionSlot`, and further ones as `MissionSlot2`. `family`, and the last values of the robot, are
 * read when a command is made.
 */
export function addMissionSlots(
  builder: NodeBuilder,
  robot: Folder,
  count: number,
  robotId: RobotId,
  family: () => Family,
  sight: () => RobotSight,
  parts: SlotKindParts,
): MissionSlots {
  const add = (name: string) =>
    addMissionSlot(builder, builder.folder(robot, name), robotId, family, sight, parts);
  const first = add("MissionSlot");
  const further = Array.from({ length: count - 1 }, (_unused, index) => add(`MissionSlot${index + 2}`));
  const slots = [first, ...further];
  return {
    robot: first.robot,
    refresh() {
      for (const slot of slots) slot.refresh();
    },
  };
}

function addMissionSlot(
  builder: NodeBuilder,
  folder: Folder,
  robotId: RobotId,
  family: () => Family,
  sight: () => RobotSight,
  { runSlot, rights, stopRequest, destinations, userOf }: SlotKindParts,
): MissionSlots {
  const parameters = addMissionParameters({ builder, folder }, operations);
  const tags = addSlotTags(builder, folder, userOf);
  const followed = followMission(builder, folder, sight);

  function robotNow(): MissionRobot {
    const queue = knownQueue(sight());
    const currentMissionId = queue === null ? null : (currentMission(queue)?.missionId ?? null);
    const { presence } = sight();
    const chainId = presence?.value.taskChainId ?? 0;
    const isSeenNow = presence?.quality === "good";
    return {
      robotId,
      family: family(),
      currentMissionId,
      amrId: presence?.value.amrId ?? null,
      taskChain: chainId === 0 ? null : { chainId, isSeenNow },
      pauseNow,
    };
  }

  /** One ticket is one command: a robot drives for a mission or for a task chain. */
  function pauseNow(): SlotRequest | null {
    const [planned] = stopsOf(activitiesOf({ ...sight(), conveyors: [] }));
    if (planned === undefined) return null;
    const { stop } = planned;
    const missionId = stop.kind === "pause_mission" ? stop.missionId : null;
    const text = missionId === null ? "pause the task chain" : `pause mission ${missionId}`;
    return { text, ...stopRequest(robotId, stop), missionId };
  }

  function requestOf(mission: MissionParameters | { readonly problem: string }): SlotCommand {
    return "problem" in mission ? mission : missionRequest(mission, robotNow(), destinations.now());
  }

  /** `Command`: the operation and its object. */
  function numberedCommand(numbers: readonly number[]): SlotCommand {
    const [operation = 0, ...rest] = numbers;
    const isUsed = (place: number) => place <= 1 + mostPlaces(operation);
    const stray = isMissionStop(operation) ? null : strayNumber(numbers, isUsed);
    return stray ?? requestOf(numberedMission(operation, rest));
  }

  runSlot({
    path: folder.path,
    parameters: parameters.all,
    tags,
    refusedWriter: (account) => rights.refusedRobot(sourceOf(account), robotId),
    command: (sessionId) => requestOf(parameters.read(sessionId)),
    reads: parameters.inUse,
    commandOfNumbers: numberedCommand,
    commandOfFields: (fields) => requestOf(missionOfFields(fields)),
    served: parameters.served,
    begun: followed.begun,
    ended: followed.ended,
  });
  return { robot: robotNow, refresh: followed.refresh };
}

/** Adds the tags of the mission that the slot's last command made, or concerned. */
function followMission(builder: NodeBuilder, folder: Folder, sight: () => RobotSight) {
  const tags = builder.tags(folder, followTags);
  const madeAt = builder.timesNow();
  let followedId: string | null = null;
  /** A command under way makes a mission: the followed one is not its own. */
  let isMaking = false;

  function timesNow() {
    const { missions } = sight();
    return missions === undefined ? madeAt : tagTimes(missions.stamp);
  }

  /** Without a mission nothing can be wrong: 0 and Good. */
  function showNone(): void {
    const times = timesNow();
    tags.MissionState.set(0, StatusCodes.Good, times);
    tags.GoalIndex.set(0, StatusCodes.Good, times);
    tags.Arrived.set(false, StatusCodes.Good, times);
  }

  function show(): void {
    if (followedId === null || isMaking) showNone();
    else showMission(followedId);
  }

  function showMission(missionId: string): void {
    const times = timesNow();
    const status = statusOfQuality[sight().missions?.quality ?? "unknown"];
    const queue = knownQueue(sight());
    const mission = queue?.missions.find((candidate) => candidate.missionId === missionId);
    if (mission === undefined) {
      const why = queue === null ? status : StatusCodes.UncertainLastUsableValue;
      for (const tag of [tags.MissionState, tags.GoalIndex, tags.Arrived]) tag.weaken(why, times);
      return;
    }
    tags.MissionState.set(codeNumber(missionStateNames, mission.state), status, times);
    tags.GoalIndex.set(mission.currentGoalIndex, status, times);
    tags.Arrived.set(hasArrived(mission), status, times);
  }

  showNone();
  return {
    begun(operation: string): void {
      isMaking = making.has(operation);
      show();
    },
    ended(missionId: string | null): void {
      if (missionId !== followedId) showNone();
      followedId = missionId;
      isMaking = false;
      show();
    },
    refresh(): void {
      if (followedId !== null) show();
    },
  };
}

/** The robot's missions; null: none are known well enough to be shown. */
function knownQueue({ missions }: RobotSight): MissionQueue | null {
  return missions !== undefined && isShown(missions.quality) ? missions.value : null;
}
