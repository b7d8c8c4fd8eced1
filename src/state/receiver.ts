import type { Conveyor } from "../domain/conveyor.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Observed, Stamp } from "../domain/observed.ts";
import type { Presence } from "../domain/presence.ts";
import type { QualityTimes } from "../domain/quality.ts";
import { conveyorNotices } from "./conveyor-notices.ts";
import type { Draft } from "./draft.ts";
import { missionNotices } from "./mission-notices.ts";
import type { NoticeContext } from "./notice-context.ts";
import { presenceNotices } from "./presence-notices.ts";
import type { RobotBook } from "./robot-book.ts";
import type { ConveyorsSlot, RobotEntry, Stream } from "./robot-entry.ts";
import type { StreamBook } from "./stream-book.ts";
import type { Teller } from "./teller.ts";

/** Events that concern robots and the streams they come by. */
type RobotEvent = Exclude<FleetEvent, { kind: "link" } | { kind: "task_chain" }>;
type EventOf<Kind extends RobotEvent["kind"]> = Extract<RobotEvent, { kind: Kind }>;

/**
 * More than any cart has, those that are gone among them: each keeps its tags and topics. What a service lists
 * beyond it is refused, or a broken one could fill the memory.
 */
const MOST_CONVEYORS = 64;

/** Takes robots' events in. */
export interface Receiver {
  receive(event: RobotEvent, nowMs: number, draft: Draft): void;
  /** Whatever is held may miss something from now on. */
  doubtAll(nowMs: number): void;
  conveyorsRefused(): number;
}

export interface ReceiverParts {
  readonly robots: RobotBook;
  readonly streams: StreamBook;
  readonly teller: Teller;
  readonly context: NoticeContext;
  readonly times: QualityTimes;
}

export function createReceiver({ robots, streams, teller, context, times }: ReceiverParts): Receiver {
  // The roster is polled, not streamed; each answer proves it.
  const roster: Stream = { id: "roster", provenAtMs: 0, slots: new Map() };
  let rosters = 0;
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
    missionNotices(context, event.robotId, before, event.queue, event.stamp.receivedAtMs, draft.notices);
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
    const known = new Set([...(before ?? []), ...slot.gone.map((observed) => observed.value)].map(indexOf));
    const value = event.conveyors.filter(({ index }) => {
      if (known.size < MOST_CONVEYORS) known.add(index);
      return known.has(index);
    });
    conveyorsRefused += event.conveyors.length - value.length;
    if (before !== null) slot.gone = goneConveyors(slot, value);
    streams.confirm(robot, slot, event.stream, nowMs);
    slot.received = { value, stamp: event.stamp };
    teller.tellValue(robot, slot, nowMs, draft);
    conveyorNotices(context, event.robotId, before, value, event.stamp.receivedAtMs, draft.notices);
  }

  /** A repeat proves that the value held is still the robot's; it is told only if that makes it good again. */
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

  function onPresence(
    robot: RobotEntry,
    presence: Presence,
    stamp: Stamp,
    nowMs: number,
    draft: Draft,
  ): void {
    const wasAbsent = robot.absentSinceMs !== null;
    robot.absentSinceMs = null;
    robot.listedIn = rosters;
    robot.presence.stream = roster;
    robot.presence.confirmedAtMs = nowMs;
    robot.presence.doubtedSinceMs = null;
    const isNews = robot.presence.received?.value !== presence;
    // The same object says that nothing changed: a confirmation, as a repeat is on a stream.
    if (isNews) {
      robot.presence.received = { value: presence, stamp };
      teller.tellValue(robot, robot.presence, nowMs, draft);
    } else teller.retellValue(robot, robot.presence, nowMs, draft);
    if (wasAbsent) teller.retellRobot(robot, nowMs, draft);
    if (isNews) presenceNotices(context, robot, presence, stamp.receivedAtMs, draft.notices);
  }

  function onRoster(event: EventOf<"roster">, nowMs: number, draft: Draft): void {
    rosters += 1;
    roster.provenAtMs = nowMs;
    const stamp: Stamp = { sourceTimeMs: null, sequence: null, receivedAtMs: event.atMs };
    for (const { robotId, presence } of event.robots) {
      const robot = entryOf(robotId, nowMs, draft);
      if (robot !== undefined) onPresence(robot, presence, stamp, nowMs, draft);
    }
    for (const robotId of event.unread ?? []) {
      const robot = robots.find(robotId);
      if (robot === undefined) continue;
      robot.listedIn = rosters;
      if (robot.absentSinceMs === null) continue;
      robot.absentSinceMs = null;
      teller.retellRobot(robot, nowMs, draft);
    }
    for (const robot of robots.all()) {
      if (robot.listedIn === rosters) continue;
      robot.absentSinceMs ??= nowMs;
      teller.retellRobot(robot, nowMs, draft);
    }
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
          return onRoster(event, nowMs, draft);
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

const indexOf = ({ index }: Conveyor): number => index;

/** The conveyors that were listed until now, or are gone since before: nothing is known of them any more. */
function goneConveyors(slot: ConveyorsSlot, listed: readonly Conveyor[]): readonly Observed<Conveyor>[] {
  if (slot.received === null) return slot.gone;
  const { value, stamp } = slot.received;
  const isListed = (index: number) => listed.some((conveyor) => conveyor.index === index);
  const left = value.filter((conveyor) => !isListed(conveyor.index));
  const old = slot.gone.filter((observed) => !isListed(observed.value.index));
  if (left.length === 0 && old.length === slot.gone.length) return slot.gone;
  const now = left.map((conveyor): Observed<Conveyor> => ({ value: conveyor, stamp, quality: "lost" }));
  return [...old, ...now];
}
