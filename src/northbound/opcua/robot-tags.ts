import { StatusCodes } from "node-opcua";
import type { StateChange } from "../../domain/change.ts";
import { clip } from "../../domain/clip.ts";
import type { HoldState } from "../../domain/hold.ts";
import type { Stamp } from "../../domain/observed.ts";
import { type Quality, qualities } from "../../domain/quality.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import type { RobotSight } from "../../domain/stops.ts";
import { addBatteryTags } from "./battery-tags.ts";
import { addConveyorSlot } from "./commands/conveyor-slot.ts";
import type { Methods } from "./commands/methods.ts";
import type { MissionRobot } from "./commands/mission-request.ts";
import { addMissionSlot } from "./commands/mission-slot.ts";
import type { Slot } from "./commands/slot.ts";
import type { SlotParts } from "./commands/slot-parts.ts";
import { addConveyorTags, type ConveyorTags } from "./conveyor-tags.ts";
import { createEnumTable } from "./enumeration.ts";
import { addHoldTags, type HoldTagParts } from "./hold-tags.ts";
import { addMissionTags } from "./mission-tags.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";
import { addPositionTags } from "./position-tags.ts";
import type { SeenRobot } from "./robot-register.ts";
import { isShown, statusOfQuality } from "./status.ts";

const qualityTable = createEnumTable("Quality", qualities);

/** The changes that concern one robot. */
export type RobotChange = Exclude<StateChange, { kind: "task_chain" | "task_chain_evicted" | "hold_all" }>;

/** All nodes of one robot, and what they show. */
export interface RobotTags {
  /** What commands need to know of it. */
  robot(): MissionRobot;
  apply(change: RobotChange): void;
  /** Makes the nodes of a conveyor before its first message. */
  ensureConveyor(index: number): void;
}

/** Lets an AgeSeconds grow; called about once a second. */
type Age = (nowMs: number) => void;

/** What a robot's nodes need of the rest of the server. */
export interface RobotParts {
  readonly slots: SlotParts;
  readonly holds: HoldTagParts;
  readonly addSlot: (slot: Slot) => void;
  readonly methods: Methods;
  /** Something was learned of the robot that its nodes depend on. */
  readonly note: (robot: SeenRobot) => void;
  /** Where robots that are not good let their age grow: a thousand good ones cost nothing a second. */
  readonly ageing: Set<Age>;
}

/** Builds the nodes of a robot in its folder. */
export function addRobotTags(
  builder: NodeBuilder,
  folder: Folder,
  robotId: RobotId,
  { slots: slotParts, holds, addSlot, methods, note, ageing }: RobotParts,
): RobotTags {
  methods.addRobot(folder, robotId);
  const robot = addSummaryTags(builder, folder, robotId, () => slotParts.clock.nowMs(), ageing);
  const hold = addHoldTags(builder, folder, robotId, holds);
  robot.showHold(holds.holds.holdState(robotId));
  const mission = addMissionTags(builder, folder);
  const battery = addBatteryTags(builder, folder);
  const position = addPositionTags(builder, folder);
  let missions: RobotSight["missions"];
  let presence: RobotSight["presence"];
  const sight = (): RobotSight => ({ missions, presence, conveyors: [] });
  const missionSlot = addMissionSlot(builder, folder, robotId, robot.family, sight, slotParts);
  addSlot(missionSlot);
  const conveyors = new Map<number, ConveyorTags>();
  let conveyorFolder: Folder | null = null;
  let family: Family = "unknown";
  note({ robotId, family, conveyorIndexes: [] });

  /** Only carts have conveyors, so only they get the folder and the slot. */
  function cartFolder(): Folder {
    if (conveyorFolder === null) {
      conveyorFolder = builder.folder(folder, "Conveyors");
      addSlot(addConveyorSlot(builder, folder, robotId, slotParts));
    }
    return conveyorFolder;
  }

  function conveyorTags(index: number): ConveyorTags {
    let tags = conveyors.get(index);
    if (tags === undefined) {
      tags = addConveyorTags(builder, cartFolder(), index);
      conveyors.set(index, tags);
      note({ robotId, family, conveyorIndexes: [index] });
    }
    return tags;
  }

  return {
    robot: missionSlot.robot,
    apply(change) {
      if (change.kind === "robot") {
        if (change.family === "cart") cartFolder();
        if (change.family !== family) {
          family = change.family;
          note({ robotId, family, conveyorIndexes: [] });
        }
        robot.show(change.family, change.quality);
        return;
      }
      if (change.kind === "hold") {
        hold.show(change.hold);
        robot.showHold(change.hold);
        return;
      }
      const { observed } = change;
      const status = statusOfQuality[observed.quality];
      const times = tagTimes(observed.stamp);
      const shown = isShown(observed.quality);
      switch (change.kind) {
        case "mission":
          missions = change.observed;
          if (shown) {
            mission.show(change.observed.value, observed.stamp.sequence, status, times);
            missionSlot.show(change.observed.value, status, times);
          } else {
            mission.fail(status, times);
            missionSlot.fail(status, times);
          }
          return;
        case "battery":
          if (shown) battery.show(change.observed.value, status, times);
          else battery.fail(status, times);
          return;
        case "conveyor": {
          const tags = conveyorTags(change.observed.value.index);
          if (shown) tags.show(change.observed.value, status, times);
          else tags.fail(status, times);
          return;
        }
        case "presence":
          presence = change.observed;
          robot.showPresence(observed.quality === "good");
          if (shown) position.show(change.observed.value, status, times);
          else position.fail(status, times);
          return;
      }
    },
    ensureConveyor(index) {
      conveyorTags(index);
    },
  };
}

/** What a DateTime can say: 1601 to 9999 (OPC UA Part 6, DateTime). */
const EARLIEST_MS = Date.UTC(1601, 0, 1);
const LATEST_MS = Date.UTC(9999, 11, 31);

/**
 * Conveyors carry no time of their own, and a robot's clock may show any: then the gateway's is the best
 * there is.
 */
function tagTimes({ sourceTimeMs, receivedAtMs }: Stamp): TagTimes {
  const server = new Date(receivedAtMs);
  const isTime = sourceTimeMs !== null && sourceTimeMs >= EARLIEST_MS && sourceTimeMs <= LATEST_MS;
  return { source: isTime ? new Date(sourceTimeMs) : server, server };
}

/**
 * What the gateway itself says of a robot: always of status Good, for these are its own findings, and for
 * programs that drop status codes.
 */
function addSummaryTags(
  builder: NodeBuilder,
  folder: Folder,
  robotId: RobotId,
  nowMs: () => number,
  ageing: Set<Age>,
) {
  const valid = builder.tag(folder, "Valid", "Boolean");
  const qualityTag = builder.enumeration(folder, "Quality", qualityTable);
  const ageSeconds = builder.tag(folder, "AgeSeconds", "Double");
  const familyTag = builder.tag(folder, "Family", "String");
  const robotIdTag = builder.tag(folder, "RobotId", "String");
  const present = builder.tag(folder, "Present", "Boolean");
  const ready = builder.tag(folder, "ReadyForCommand", "Boolean");
  const notReadyReason = builder.tag(folder, "NotReadyReason", "String");
  const good = StatusCodes.Good;
  let quality: Quality = "unknown";
  let family: Family = "unknown";
  let lastGoodMs = nowMs();
  let heldBy: readonly string[] = [];
  let isListed: boolean | null = null;
  let shownAgeSeconds: number | null = null;

  function times(): TagTimes {
    const now = new Date(nowMs());
    return { source: now, server: now };
  }
  function showPresent(at: TagTimes): void {
    present.set(isListed ?? (quality === "good" || quality === "stale"), good, at);
  }
  function showReady(at: TagTimes): void {
    const reason = quality !== "good" ? notReady[quality] : heldBy.length === 0 ? "" : `held by ${heldBy[0]}`;
    ready.set(reason === "", good, at);
    notReadyReason.set(reason, good, at);
  }
  function show(nextFamily: Family, next: Quality): void {
    const at = times();
    family = nextFamily;
    if (quality === "good") lastGoodMs = nowMs();
    quality = next;
    valid.set(next === "good", good, at);
    qualityTag.set(qualities.indexOf(next), good, at);
    familyTag.set(family, good, at);
    showReady(at);
    showPresent(at);
    age(nowMs());
    if (next === "good") ageing.delete(age);
    else ageing.add(age);
  }
  function age(atMs: number): void {
    const seconds = quality === "good" ? 0 : Math.max(0, Math.floor((atMs - lastGoodMs) / 1000));
    if (seconds === shownAgeSeconds) return;
    shownAgeSeconds = seconds;
    const at = new Date(atMs);
    ageSeconds.set(seconds, good, { source: at, server: at });
  }

  robotIdTag.set(robotId, good, times());
  show(family, quality);
  return {
    show,
    showPresence(listed: boolean) {
      isListed = listed;
      showPresent(times());
    },
    showHold(hold: HoldState) {
      heldBy = hold.by.map((name) => clip(name, LONGEST_HOLDER));
      showReady(times());
    },
    family: () => family,
  };
}

/** Of a user's name in a reason. */
const LONGEST_HOLDER = 70;

const notReady: Readonly<Record<Exclude<Quality, "good">, string>> = {
  stale: "the robot's values are stale: its stream is silent or cut",
  offline: "the robot is offline, or the fleet service is not reached",
  lost: "nothing has been known of the robot for longer than values are held",
  unknown: "no message of the robot has been received yet",
};
