import { type StatusCode, StatusCodes } from "node-opcua";
import type { Stations } from "../../contracts/stations.ts";
import type { StateChange } from "../../domain/change.ts";
import { type IdleFacts, idleReasonOf } from "../../domain/idle-reason.ts";
import { type Observed, type Quality, qualities } from "../../domain/observed.ts";
import type { Conveyor, Family, RobotId } from "../../domain/robot.ts";
import type { RobotSight } from "../../domain/stops.ts";
import type { ChainBoard } from "../../models/chain-board.ts";
import { type AlarmTagParts, addRobotAlarmTags } from "./alarm-tags.ts";
import { addConveyorSlot } from "./commands/conveyor-slot.ts";
import { addMissionSlots } from "./commands/mission-slot.ts";
import type { SlotKindParts } from "./commands/slot.ts";
import type { MissionRobot } from "./commands/slot-operation.ts";
import { addHoldTags, type HoldTagParts } from "./hold-tags.ts";
import { addMissionTags } from "./mission-tags.ts";
import { cartType, summaryTags } from "./model/robot.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";
import { addPlaceTags } from "./place-tags.ts";
import type { SeenRobot } from "./robot-register.ts";
import {
  type Ages,
  addBatteryTags,
  addConveyorTags,
  addIdleReasonTags,
  type ConveyorTags,
} from "./robot-state-tags.ts";
import { isShown, statusOfQuality } from "./status.ts";
import { tagTimes } from "./tag-registry.ts";

/** The changes that concern one robot. */
export type RobotChange = Exclude<
  StateChange,
  {
    kind:
      | "task_chain"
      | "task_chain_evicted"
      | "hold_all"
      | "map"
      | "station"
      | "station_removed"
      | "station_alarms"
      | "alarms";
  }
>;

/** The last values of a robot: one mutable object. */
type KnownFacts = { -readonly [Fact in keyof IdleFacts]: IdleFacts[Fact] } & {
  readonly conveyors: Map<number, Observed<Conveyor>>;
};

function nothingKnown(heldBy: KnownFacts["heldBy"]): KnownFacts {
  const nothing = { missions: undefined, presence: undefined, battery: undefined, chain: undefined };
  return { quality: "unknown", heldBy, leasedBy: null, conveyors: new Map(), ...nothing };
}

/** All nodes of one robot, with their updaters. */
export interface RobotTags {
  /** The robot, for commands. */
  robot(): MissionRobot;
  apply(change: RobotChange): void;
  /** Another station leases the robot, or none does. */
  leaseChanged(): void;
  /** Makes the nodes of a conveyor before its first message. */
  ensureConveyor(index: number): void;
}

/** The dependencies of a robot's nodes. */
export interface RobotParts {
  /** How many mission slots the robot has. */
  readonly missionSlots: number;
  readonly slots: SlotKindParts;
  readonly holds: HoldTagParts;
  readonly alarms: AlarmTagParts;
  readonly stations: Pick<Stations, "leaseOf">;
  readonly chains: ChainBoard;
  readonly ages: Ages;
  /** Called with new data of the robot on which its nodes depend. */
  readonly note: (robot: SeenRobot) => void;
}

/** Builds the nodes of a robot in its folder. */
export function addRobotTags(
  builder: NodeBuilder,
  folder: Folder,
  robotId: RobotId,
  { missionSlots, slots, holds, alarms: alarmParts, stations, chains, ages, note }: RobotParts,
): RobotTags {
  const robot = addSummaryTags(builder, folder, robotId, ages);
  const idleReason = addIdleReasonTags(builder, folder);
  const hold = addHoldTags(builder, folder, robotId, holds);
  const alarms = addRobotAlarmTags(builder, folder, robotId, alarmParts);
  const mission = addMissionTags(builder, folder);
  const battery = addBatteryTags(builder, folder);
  const place = addPlaceTags(builder, folder, ages);
  const known = nothingKnown(holds.holds.holdState(robotId).by);
  const sight = (): RobotSight => ({ ...known, conveyors: [] });
  const missionSlot = addMissionSlots(builder, folder, missionSlots, robotId, robot.family, sight, slots);
  let family: Family = "unknown";
  note({ robotId, family, conveyorIndexes: [] });

  const leasedBy = () => stations.leaseOf(robotId)?.station ?? null;
  const showIdleReason = () => idleReason.show(idleReasonOf({ ...known, leasedBy: leasedBy() }));
  showIdleReason();

  function showChain(next: IdleFacts["chain"]): void {
    known.chain = next;
    place.showChain(next);
    showIdleReason();
  }

  function showRobot(nextFamily: Family, quality: Quality): void {
    if (nextFamily === "cart") cartFolder();
    if (nextFamily !== family) {
      family = nextFamily;
      note({ robotId, family, conveyorIndexes: [] });
    }
    known.quality = quality;
    robot.show(nextFamily, quality);
  }

  const { cartFolder, conveyorTags } = addConveyorsOnDemand(
    builder,
    folder,
    (cart) => addConveyorSlot(builder, cart, robotId, slots),
    (index) => note({ robotId, family, conveyorIndexes: [index] }),
  );

  return {
    robot: missionSlot.robot,
    apply(change) {
      switch (change.kind) {
        case "robot":
          showRobot(change.family, change.quality);
          break;
        case "hold":
          hold.show(change.hold);
          known.heldBy = change.hold.by;
          break;
        case "robot_alarms":
          return alarms.show(change.alarms, change.isOutOfService);
        case "conveyor":
          known.conveyors.set(change.observed.value.index, change.observed);
          showObserved(conveyorTags(change.observed.value.index), change.observed);
          break;
        case "mission":
          robot.showClock(known.missions, change.observed);
          known.missions = change.observed;
          showObserved(mission, change.observed);
          missionSlot.refresh();
          break;
        case "battery":
          robot.showClock(known.battery, change.observed);
          known.battery = change.observed;
          showObserved(battery, change.observed);
          break;
        case "presence": {
          known.presence = change.observed;
          const { value, quality, stamp } = change.observed;
          robot.showPresence(quality === "good");
          place.show(change.observed, statusOfQuality[quality], tagTimes(stamp));
          chains.follow(robotId, value.taskChainId, showChain);
          break;
        }
      }
      showIdleReason();
    },
    leaseChanged: showIdleReason,
    ensureConveyor(index) {
      conveyorTags(index);
    },
  };
}

/** The tags of one value of the robot. */
interface ObservedTags<T> {
  show(value: T, status: StatusCode, times: TagTimes, sequence: number | null): void;
  fail(status: StatusCode, times: TagTimes): void;
}

function showObserved<T>(tags: ObservedTags<T>, { value, quality, stamp }: Observed<T>): void {
  const [status, times] = [statusOfQuality[quality], tagTimes(stamp)];
  if (isShown(quality)) tags.show(value, status, times, stamp.sequence);
  else tags.fail(status, times);
}

/** Only carts have conveyors, so only they get the folder and the slot. */
function addConveyorsOnDemand(
  builder: NodeBuilder,
  robot: Folder,
  addSlot: (cart: Folder) => void,
  added: (index: number) => void,
) {
  const conveyors = new Map<number, ConveyorTags>();
  let folder: Folder | null = null;

  function cartFolder(): Folder {
    if (folder === null) {
      const cart = builder.retype(robot, cartType);
      folder = builder.folder(cart, "Conveyors");
      addSlot(cart);
      builder.changed([{ node: cart.node, verb: "extended" }]);
    }
    return folder;
  }

  return {
    cartFolder,
    conveyorTags(index: number): ConveyorTags {
      let tags = conveyors.get(index);
      if (tags === undefined) {
        tags = addConveyorTags(builder, cartFolder(), index);
        conveyors.set(index, tags);
        added(index);
      }
      return tags;
    },
  };
}

/** The gateway's own findings about a robot: always with status Good, for programs that drop status codes. */
function addSummaryTags(builder: NodeBuilder, folder: Folder, robotId: RobotId, ages: Ages) {
  const tags = builder.tags(folder, summaryTags);
  const showAge = ages.ofRobot(tags.AgeSeconds);
  const good = StatusCodes.Good;
  let quality: Quality = "unknown";
  let family: Family = "unknown";
  let isListed: boolean | null = null;

  const times = builder.timesNow;
  function showPresent(at: TagTimes): void {
    tags.Present.set(isListed ?? (quality === "good" || quality === "stale"), good, at);
  }
  function show(nextFamily: Family, next: Quality): void {
    const at = times();
    family = nextFamily;
    quality = next;
    tags.Valid.set(next === "good", good, at);
    tags.Quality.set(qualities.indexOf(next), good, at);
    tags.Family.set(family, good, at);
    showPresent(at);
    showAge(next === "good");
  }

  /** When the newest message with a time of the robot came. */
  let stampedAtMs = 0;
  function showClock(before: Observed<unknown> | undefined, { stamp }: Observed<unknown>): void {
    const { receivedAtMs, isClockWrong } = stamp;
    const now = times();
    // What lies ahead came before the wall clock was set back.
    const isOlder = receivedAtMs < stampedAtMs && stampedAtMs <= now.server.getTime();
    if (before?.stamp === stamp || isOlder) return;
    stampedAtMs = receivedAtMs;
    tags.ClockValid.set(isClockWrong !== true, good, now);
  }

  tags.RobotId.set(robotId, good, times());
  tags.ClockValid.set(true, good, times());
  show(family, quality);
  return {
    show,
    showClock,
    showPresence(listed: boolean) {
      isListed = listed;
      showPresent(times());
    },
    family: () => family,
  };
}
