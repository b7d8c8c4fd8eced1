import type { RobotId } from "../../domain/robot.ts";
import { createLatestWrites } from "../journal/latest-writes.ts";
import type { Shared } from "../parts.ts";
import { type ConveyorRun, isWatched, stopReasons, storedOf } from "./run.ts";

/** The started conveyors of all robots. Watched ones are kept on the disk, and an owed stop is an alarm. */
export interface RunRegistry {
  all(): readonly ConveyorRun[];
  of(robotId: RobotId): readonly ConveyorRun[];
  find(robotId: RobotId, index: number): ConveyorRun | undefined;
  /** Replaces the run of its conveyor. */
  put(run: ConveyorRun): void;
  remove(run: ConveyorRun): void;
  /** Sets or clears the alarm of the robot by its owed stops. */
  showOwed(robotId: RobotId): void;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

export function createRunRegistry({
  journal,
  alarmRegistry,
  log,
}: Pick<Shared, "journal" | "alarmRegistry" | "log">): RunRegistry {
  const robots = new Map<RobotId, Map<number, ConveyorRun>>();
  const { remember, settled } = createLatestWrites(journal.writeRuns, (robotId, error) => {
    log.error(
      { err: error, robotId },
      "started conveyors could not be recorded: a restart will not stop them",
    );
  });
  const of = (robotId: RobotId) => [...(robots.get(robotId)?.values() ?? [])];

  function keep(robotId: RobotId): void {
    const watched = of(robotId).filter(isWatched).map(storedOf);
    remember(robotId, watched.length === 0 ? null : watched);
    showOwed(robotId);
  }

  function showOwed(robotId: RobotId): void {
    const owing = of(robotId).flatMap(({ index, owed }) =>
      owed === null ? [] : [`conveyor ${index} (${stopReasons[owed.reason]})`],
    );
    const holds = owing.length > 0;
    const text = `${robotId} may still turn ${owing.join(", ")}: the gateway sends stops until it is seen to stand`;
    alarmRegistry.state({ kind: "robot", robotId }, "CONVEYOR_NOT_STOPPED", { holds, text });
  }

  return {
    all: () => [...robots.keys()].flatMap(of),
    of,
    find: (robotId, index) => robots.get(robotId)?.get(index),
    put(run) {
      const runs = robots.get(run.robotId) ?? new Map<number, ConveyorRun>();
      robots.set(run.robotId, runs.set(run.index, run));
      keep(run.robotId);
    },
    remove({ robotId, index }) {
      const runs = robots.get(robotId);
      runs?.delete(index);
      if (runs?.size === 0) robots.delete(robotId);
      keep(robotId);
    },
    showOwed,
    settled,
  };
}
