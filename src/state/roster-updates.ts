import type { Stamp } from "../domain/observed.ts";
import type { Presence, RobotId } from "../domain/robot.ts";
import type { FleetUpdate } from "../domain/update.ts";
import type { ChangePublisher, OpenBatch } from "./change-publisher.ts";
import type { RobotEntry, RobotRegistry, Stream } from "./robot-entry.ts";

type RosterUpdate = Extract<FleetUpdate, { kind: "roster" }>;

/** Applies the online lists: listed robots are present, the others absent. */
export interface RosterUpdates {
  receive(update: RosterUpdate, nowMs: number, batch: OpenBatch): void;
  /** When the newest list came, in monotonic milliseconds; null: there was none. */
  listedAtMs(): number | null;
  /** Whether the newest list has the robot's position. */
  hasPlace(robot: RobotEntry): boolean;
}

/** @param entryOf returns the robot, made if it is new; undefined: there is no room for another */
export function createRosterUpdates(
  robots: RobotRegistry,
  publisher: ChangePublisher,
  entryOf: (robotId: RobotId, nowMs: number, batch: OpenBatch) => RobotEntry | undefined,
): RosterUpdates {
  // The online list is polled, not streamed; each answer proves it alive.
  const stream: Stream = { id: "roster", provenAtMs: 0, values: new Map() };
  let rosters = 0;

  function list(robot: RobotEntry, nowMs: number, batch: OpenBatch): void {
    robot.listedIn = rosters;
    if (robot.absentSinceMs === null) return;
    robot.absentSinceMs = null;
    publisher.republishRobot(robot, nowMs, batch);
  }

  function show(robot: RobotEntry, presence: Presence, stamp: Stamp, nowMs: number, batch: OpenBatch): void {
    const cached = robot.presence;
    robot.readIn = rosters;
    cached.stream = stream;
    cached.confirmedAtMs = nowMs;
    cached.doubtedFromMs = null;
    // The same object means that nothing changed: a confirmation, like a repeat on a stream.
    if (cached.received?.value === presence) {
      publisher.republishValue(robot, cached, nowMs, batch);
      return;
    }
    cached.received = { value: presence, stamp };
    publisher.publishValue(robot, cached, nowMs, batch);
  }

  function receive(update: RosterUpdate, nowMs: number, batch: OpenBatch): void {
    rosters += 1;
    stream.provenAtMs = nowMs;
    const stamp: Stamp = { sourceTimeMs: null, sequence: null, receivedAtMs: update.atMs };
    for (const { robotId, presence } of update.robots) {
      const robot = entryOf(robotId, nowMs, batch);
      if (robot === undefined) continue;
      show(robot, presence, stamp, nowMs, batch);
      list(robot, nowMs, batch);
    }
    for (const robotId of update.unread ?? []) {
      const robot = robots.find(robotId);
      if (robot !== undefined) list(robot, nowMs, batch);
    }
    for (const robot of robots.all()) {
      if (robot.listedIn === rosters) continue;
      robot.absentSinceMs ??= nowMs;
      publisher.republishRobot(robot, nowMs, batch);
    }
  }

  return {
    receive,
    listedAtMs: () => (rosters === 0 ? null : stream.provenAtMs),
    hasPlace: ({ readIn }) => rosters > 0 && readIn === rosters,
  };
}
