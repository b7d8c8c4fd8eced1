import { type StatusCode, StatusCodes } from "node-opcua";
import { codeNumber } from "../../domain/coded.ts";
import { type IdleReason, idleReasonNames } from "../../domain/idle-reason.ts";
import { createAge } from "../../domain/observed.ts";
import {
  type Battery,
  batteryStateNames,
  type Conveyor,
  chargeMethodNames,
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { conveyorTags } from "./model/conveyor.ts";
import { batteryTags, idleReasonTags } from "./model/robot.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, type Tag, type TagTimes, timesAt } from "./node-opcua/tag.ts";

/**
 * Why a robot stands, and whether it takes commands: findings of the gateway itself, always with status Good.
 */
export interface IdleReasonTags {
  show(idleReason: IdleReason): void;
}

/** Adds them to a robot's folder. */
export function addIdleReasonTags(builder: NodeBuilder, robot: Folder): IdleReasonTags {
  const tags = builder.tags(robot, idleReasonTags);
  const good = StatusCodes.Good;
  let shown: IdleReason | null = null;

  return {
    show(idleReason) {
      if (shown !== null && isSame(shown, idleReason)) return;
      shown = idleReason;
      const { reason, text, isNotReady } = idleReason;
      const times = builder.timesNow();
      tags.ReadyForCommand.set(!isNotReady, good, times);
      tags.NotReadyReason.set(isNotReady ? fittingText(text) : "", good, times);
      tags.StandReason.set(idleReasonNames.indexOf(reason), good, times);
      tags.StandText.set(fittingText(text), good, times);
    },
  };
}

function isSame(a: IdleReason, b: IdleReason): boolean {
  return a.reason === b.reason && a.text === b.text && a.isNotReady === b.isNotReady;
}

/** A robot's `Battery` folder. */
export interface BatteryTags {
  show(battery: Battery, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
export function addBatteryTags(builder: NodeBuilder, robot: Folder): BatteryTags {
  const folder = builder.folder(robot, "Battery");
  const tags = builder.tags(folder, batteryTags);

  return {
    show(battery, status, times) {
      tags.ChargePercent.set(battery.chargePercent, status, times);
      tags.State.set(codeNumber(batteryStateNames, battery.state), status, times);
      tags.ChargeMethod.set(codeNumber(chargeMethodNames, battery.chargeMethod), status, times);
      tags.Charging.set(battery.state === "STATE_CHARGING", status, times);
    },
    fail(status, times) {
      for (const tag of Object.values(tags)) tag.fail(status, times);
    },
  };
}

/** One folder of a cart's `Conveyors`, named by the conveyor's index. */
export interface ConveyorTags {
  show(conveyor: Conveyor, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder of conveyor `index`. */
export function addConveyorTags(builder: NodeBuilder, conveyors: Folder, index: number): ConveyorTags {
  const folder = builder.folder(conveyors, String(index));
  const tags = builder.tags(folder, conveyorTags);

  return {
    show(conveyor, status, times) {
      tags.Operation.set(codeNumber(operationStateNames, conveyor.operation), status, times);
      tags.Payload.set(codeNumber(payloadStateNames, conveyor.payload), status, times);
      tags.Health.set(codeNumber(healthStateNames, conveyor.health), status, times);
      tags.Installation.set(codeNumber(installationStateNames, conveyor.installation), status, times);
      tags.Rolling.set(conveyor.operation === "OPERATION_STATE_ROLLING", status, times);
      tags.Loaded.set(conveyor.payload === "PAYLOAD_STATE_LOADED", status, times);
    },
    fail(status, times) {
      for (const tag of Object.values(tags)) tag.fail(status, times);
    },
  };
}

/** Tells an age whether its value is good. */
type NoteGood = (isGood: boolean) => void;

/**
 * Tags that show for how many seconds something has not been good; 0 while it is. Setting the wall clock
 * changes no age.
 */
export interface Ages {
  /** Starts the age of a robot's quality. */
  ofRobot(tag: Tag): NoteGood;
  /** Starts the age of another value. */
  ofValue(tag: Tag): NoteGood;
  /** How many robots are not good. */
  robotsNotGood(): number;
  /** Updates all ages; called about once a second. */
  tick(): void;
}

export function createAges(clock: Pick<Clock, "nowMs" | "monotonicMs">): Ages {
  // Only ages that grow: a thousand good robots cost nothing each second.
  const ofRobots = new Set<() => void>();
  const ofValues = new Set<() => void>();

  function start(tag: Tag, growing: Set<() => void>): NoteGood {
    const known = createAge(clock.monotonicMs());
    let shownSeconds: number | null = null;
    const show = () => {
      const seconds = known.seconds(clock.monotonicMs());
      if (seconds === shownSeconds) return;
      shownSeconds = seconds;
      tag.set(seconds, StatusCodes.Good, timesAt(clock.nowMs()));
    };
    return (isGood) => {
      known.note(isGood, clock.monotonicMs());
      show();
      if (isGood) growing.delete(show);
      else growing.add(show);
    };
  }

  return {
    ofRobot: (tag) => start(tag, ofRobots),
    ofValue: (tag) => start(tag, ofValues),
    robotsNotGood: () => ofRobots.size,
    tick() {
      for (const growing of [ofRobots, ofValues]) for (const show of growing) show();
    },
  };
}
