import type { ToldBefore } from "../contracts/told-before.ts";
import { cutForgivenMs } from "../domain/detection.ts";
import { impossibleBattery, impossibleConveyors, impossibleQueue } from "../domain/impossible.ts";
import { earlier, type QualityTimes } from "../domain/quality.ts";
import type { FleetUpdate } from "../domain/update.ts";
import type { Log } from "../platform/log.ts";
import { conveyorEvents } from "./conveyor-events.ts";
import { goneConveyors, listedConveyors } from "./conveyor-list.ts";
import type { Draft } from "./draft.ts";
import type { EventIds } from "./event-ids.ts";
import { createImpossibleWatch } from "./impossible-watch.ts";
import { missionEvents } from "./mission-events.ts";
import type { RobotBook } from "./robot-book.ts";
import type { RobotEntry, Slot } from "./robot-entry.ts";
import { createRosterUpdates, type RosterUpdates } from "./roster-updates.ts";
import type { StreamBook } from "./stream-book.ts";
import type { Teller } from "./teller.ts";

/** Updates that concern robots and their streams. */
type RobotUpdate = Exclude<FleetUpdate, { kind: "link" | "task_chain" | "map" }>;
type UpdateOf<Kind extends RobotUpdate["kind"]> = Extract<RobotUpdate, { kind: Kind }>;

/** Applies the updates of robots and their streams. */
export interface RobotUpdates {
  receive(update: RobotUpdate, nowMs: number, draft: Draft): void;
  /** From now on, changes of any value may have been missed. */
  doubtAll(nowMs: number): void;
  conveyorsRefused(): number;
  /** How many messages had a value that cannot be true. */
  impossible(): number;
  readonly rosters: Omit<RosterUpdates, "receive">;
}

export interface RobotUpdateParts {
  readonly robots: RobotBook;
  readonly streams: StreamBook;
  readonly teller: Teller;
  readonly eventIds: EventIds;
  readonly times: QualityTimes;
  readonly toldBefore?: ToldBefore;
  readonly log: Log;
}

export function createRobotUpdates({
  robots,
  streams,
  teller,
  eventIds,
  times,
  toldBefore,
  log,
}: RobotUpdateParts): RobotUpdates {
  const rosters = createRosterUpdates({ entryOf, robots, teller });
  let conveyorsRefused = 0;
  const impossible = createImpossibleWatch(log);

  function entryOf(robotId: string, nowMs: number, draft: Draft): RobotEntry | undefined {
    return robots.findOrAdd(robotId, (robot) => teller.tellRobot(robot, nowMs, draft));
  }

  function onMission(update: UpdateOf<"mission">, nowMs: number, draft: Draft): void {
    const robot = entryOf(update.robotId, nowMs, draft);
    if (robot === undefined) return;
    const slot = robot.mission;
    const before = slot.received?.value ?? null;
    streams.confirm(robot, slot, update.stream, nowMs);
    slot.received = { value: update.queue, stamp: update.stamp };
    impossible.judge(robot, slot, impossibleQueue(update.queue), nowMs);
    teller.tellValue(robot, slot, nowMs, draft);
    const told = before === null ? (toldBefore?.missions(update.robotId) ?? null) : null;
    missionEvents(eventIds, update, { before, told }, draft.events);
  }

  function onBattery(update: UpdateOf<"battery">, nowMs: number, draft: Draft): void {
    const robot = entryOf(update.robotId, nowMs, draft);
    if (robot === undefined) return;
    streams.confirm(robot, robot.battery, update.stream, nowMs);
    robot.battery.received = { value: update.battery, stamp: update.stamp };
    impossible.judge(robot, robot.battery, impossibleBattery(update.battery), nowMs);
    teller.tellValue(robot, robot.battery, nowMs, draft);
  }

  function onConveyors(update: UpdateOf<"conveyors">, nowMs: number, draft: Draft): void {
    const robot = entryOf(update.robotId, nowMs, draft);
    if (robot === undefined) return;
    const slot = robot.conveyors;
    const before = slot.received?.value ?? null;
    const value = listedConveyors(slot, update.conveyors);
    conveyorsRefused += update.conveyors.length - value.length;
    if (before !== null) slot.gone = goneConveyors(slot, value);
    streams.confirm(robot, slot, update.stream, nowMs);
    slot.received = { value, stamp: update.stamp };
    impossible.judge(robot, slot, impossibleConveyors(value), nowMs);
    teller.tellValue(robot, slot, nowMs, draft);
    const told = before === null ? (toldBefore?.conveyors(update.robotId) ?? null) : null;
    conveyorEvents(eventIds, { ...update, before, told, after: value }, draft.events);
  }

  /**
   * A repeat proves that the held value is still the robot's. It is published only if that makes it good
   * again.
   */
  function onConfirmed(update: UpdateOf<"confirmed">, nowMs: number, draft: Draft): void {
    const robot = robots.find(update.robotId);
    const slot = robot?.[update.aspect];
    if (robot === undefined || slot === undefined || slot.received === null) return;
    streams.confirm(robot, slot, update.stream, nowMs);
    teller.retellValue(robot, slot, nowMs, draft);
  }

  function onRobot(update: UpdateOf<"robot">, nowMs: number, draft: Draft): void {
    const robot = entryOf(update.robotId, nowMs, draft);
    if (robot === undefined || update.family === "unknown" || update.family === robot.family) return;
    robot.family = update.family;
    teller.tellRobot(robot, nowMs, draft);
  }

  function onStream(update: UpdateOf<"stream">, nowMs: number, draft: Draft): void {
    const stream = streams.find(update.stream);
    if (stream === undefined) return;
    if (update.state === "live") {
      const wasSilent = nowMs - stream.provenAtMs > times.streamSilenceMs;
      stream.provenAtMs = nowMs;
      if (!wasSilent) return;
    }
    for (const [slot, robot] of stream.slots) {
      // A new call of the same stream does not undo this: only the robot's own snapshot does.
      if (update.state !== "live") doubt(slot, nowMs + forgivenMs(update.state, times));
      teller.retellValue(robot, slot, nowMs, draft);
    }
  }

  return {
    receive(update, nowMs, draft) {
      switch (update.kind) {
        case "mission":
          return onMission(update, nowMs, draft);
        case "battery":
          return onBattery(update, nowMs, draft);
        case "conveyors":
          return onConveyors(update, nowMs, draft);
        case "confirmed":
          return onConfirmed(update, nowMs, draft);
        case "robot":
          return onRobot(update, nowMs, draft);
        case "roster":
          return rosters.receive(update, nowMs, draft);
        case "stream":
          return onStream(update, nowMs, draft);
      }
    },
    doubtAll(nowMs) {
      for (const robot of robots.all()) doubtRobot(robot, nowMs);
    },
    conveyorsRefused: () => conveyorsRefused,
    impossible: impossible.count,
    rosters,
  };
}

function forgivenMs(state: "cut" | "lost", { streamSilenceMs }: QualityTimes): number {
  return state === "cut" ? cutForgivenMs(streamSilenceMs) : 0;
}

function doubtRobot({ mission, battery, conveyors, presence }: RobotEntry, fromMs: number): void {
  for (const slot of [mission, battery, conveyors, presence]) {
    if (slot.received !== null) doubt(slot, fromMs);
  }
}

function doubt(slot: Slot, fromMs: number): void {
  slot.doubtedFromMs = earlier(slot.doubtedFromMs, fromMs);
}
