import type { FleetEvent } from "../domain/event.ts";
import type { QualityTimes } from "../domain/quality.ts";
import { conveyorEvents } from "./conveyor-events.ts";
import { goneConveyors, listedConveyors } from "./conveyor-list.ts";
import type { Draft } from "./draft.ts";
import type { EventContext } from "./event-context.ts";
import { missionEvents } from "./mission-events.ts";
import type { RobotBook } from "./robot-book.ts";
import type { RobotEntry } from "./robot-entry.ts";
import { createRosterUpdates } from "./roster-updates.ts";
import type { StreamBook } from "./stream-book.ts";
import type { Teller } from "./teller.ts";

/** Events that concern robots and the streams they come by. */
type RobotEvent = Exclude<FleetEvent, { kind: "link" } | { kind: "task_chain" }>;
type EventOf<Kind extends RobotEvent["kind"]> = Extract<RobotEvent, { kind: Kind }>;

/** Takes in what robots and their streams send. */
export interface RobotUpdates {
  receive(event: RobotEvent, nowMs: number, draft: Draft): void;
  /** Every value that is held may miss something from now on. */
  doubtAll(nowMs: number): void;
  conveyorsRefused(): number;
}

export interface RobotUpdateParts {
  readonly robots: RobotBook;
  readonly streams: StreamBook;
  readonly teller: Teller;
  readonly context: EventContext;
  readonly times: QualityTimes;
}

export function createRobotUpdates({
  robots,
  streams,
  teller,
  context,
  times,
}: RobotUpdateParts): RobotUpdates {
  const updateRoster = createRosterUpdates({ entryOf, robots, teller, context });
  let conveyorsRefused = 0;

  function entryOf(robotId: string, nowMs: number, draft: Draft): RobotEntry | undefined {
    return robots.findOrAdd(robotId, (robot) => teller.tellRobot(robot, nowMs, draft));
  }

  function onMission(event: EventOf<"mission">, nowMs: number, draft: Draft): void {
    const robot = entryOf(event.robotId, nowMs, draft);
    if (robot === undefined) return;
    const slot = robot.mission;
    const before = slot.received?.value ?? null;
    streams.confirm(robot, slot, event.stream, nowMs);
    slot.received = { value: event.queue, stamp: event.stamp };
    teller.tellValue(robot, slot, nowMs, draft);
    missionEvents(context, event.robotId, before, event.queue, event.stamp.receivedAtMs, draft.notices);
  }

  function onBattery(event: EventOf<"battery">, nowMs: number, draft: Draft): void {
    const robot = entryOf(event.robotId, nowMs, draft);
    if (robot === undefined) return;
    streams.confirm(robot, robot.battery, event.stream, nowMs);
    robot.battery.received = { value: event.battery, stamp: event.stamp };
    teller.tellValue(robot, robot.battery, nowMs, draft);
  }

  function onConveyors(event: EventOf<"conveyors">, nowMs: number, draft: Draft): void {
    const robot = entryOf(event.robotId, nowMs, draft);
    if (robot === undefined) return;
    const slot = robot.conveyors;
    const before = slot.received?.value ?? null;
    const value = listedConveyors(slot, event.conveyors);
    conveyorsRefused += event.conveyors.length - value.length;
    if (before !== null) slot.gone = goneConveyors(slot, value);
    streams.confirm(robot, slot, event.stream, nowMs);
    slot.received = { value, stamp: event.stamp };
    teller.tellValue(robot, slot, nowMs, draft);
    conveyorEvents(context, event.robotId, before, value, event.stamp.receivedAtMs, draft.notices);
  }

  /**
   * A repeat proves that the value held is still the robot's; it is told only if that makes it good again.
   */
  function onConfirmed(event: EventOf<"confirmed">, nowMs: number, draft: Draft): void {
    const robot = robots.find(event.robotId);
    const slot = robot?.[event.aspect];
    if (robot === undefined || slot === undefined || slot.received === null) return;
    streams.confirm(robot, slot, event.stream, nowMs);
    teller.retellValue(robot, slot, nowMs, draft);
  }

  function onRobot(event: EventOf<"robot">, nowMs: number, draft: Draft): void {
    const robot = entryOf(event.robotId, nowMs, draft);
    if (robot === undefined || event.family === "unknown" || event.family === robot.family) return;
    robot.family = event.family;
    teller.tellRobot(robot, nowMs, draft);
  }

  function onStream(event: EventOf<"stream">, nowMs: number, draft: Draft): void {
    const stream = streams.find(event.stream);
    if (stream === undefined) return;
    if (event.state === "live") {
      const wasSilent = nowMs - stream.provenAtMs > times.streamSilenceMs;
      stream.provenAtMs = nowMs;
      if (!wasSilent) return;
    }
    for (const [slot, robot] of stream.slots) {
      // A new call on the old name does not undo this: only the robot's own snapshot does.
      if (event.state === "lost") slot.doubtedSinceMs ??= nowMs;
      teller.retellValue(robot, slot, nowMs, draft);
    }
  }

  return {
    receive(event, nowMs, draft) {
      switch (event.kind) {
        case "mission":
          return onMission(event, nowMs, draft);
        case "battery":
          return onBattery(event, nowMs, draft);
        case "conveyors":
          return onConveyors(event, nowMs, draft);
        case "confirmed":
          return onConfirmed(event, nowMs, draft);
        case "robot":
          return onRobot(event, nowMs, draft);
        case "roster":
          return updateRoster(event, nowMs, draft);
        case "stream":
          return onStream(event, nowMs, draft);
      }
    },
    doubtAll(nowMs) {
      for (const robot of robots.all()) {
        for (const slot of [robot.mission, robot.battery, robot.conveyors, robot.presence]) {
          if (slot.received !== null) slot.doubtedSinceMs ??= nowMs;
        }
      }
    },
    conveyorsRefused: () => conveyorsRefused,
  };
}
