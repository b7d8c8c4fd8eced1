import type { StateChange } from "../domain/change.ts";
import type { Observed, Stamp } from "../domain/observed.ts";
import type { Quality } from "../domain/quality.ts";
import { robotChange } from "./change-publisher.ts";
import type { QualityReader } from "./quality-reader.ts";
import type { RobotEntry } from "./robot-entry.ts";
import type { TaskChainRegistry } from "./task-chain-registry.ts";

/**
 * The newest value of the key of `change`, with its quality at `nowMs`. The very same object if nothing is
 * different, which is nearly always.
 */
export function currentChange(
  change: Exclude<StateChange, { kind: "map" }>,
  robot: RobotEntry | undefined,
  chains: TaskChainRegistry,
  reader: QualityReader,
  nowMs: number,
): StateChange {
  if (change.kind === "hold" || change.kind === "hold_all" || change.kind === "station") return change;
  if (change.kind === "robot_alarms" || change.kind === "station_alarms" || change.kind === "alarms")
    return change;
  if (change.kind === "task_chain_evicted" || change.kind === "station_removed") return change;
  if (change.kind === "task_chain") return chains.current(change.chainId, nowMs) ?? change;
  if (robot === undefined) return change;
  switch (change.kind) {
    case "robot": {
      const quality = reader.ofRobot(robot, nowMs);
      return quality === change.quality && robot.family === change.family
        ? change
        : robotChange(robot, quality);
    }
    case "mission": {
      const observed = refreshed(
        change.observed,
        robot.mission.received,
        reader.ofCached(robot, robot.mission, nowMs),
      );
      return observed === change.observed ? change : { ...change, observed };
    }
    case "battery": {
      const observed = refreshed(
        change.observed,
        robot.battery.received,
        reader.ofCached(robot, robot.battery, nowMs),
      );
      return observed === change.observed ? change : { ...change, observed };
    }
    case "presence": {
      const observed = refreshed(
        change.observed,
        robot.presence.received,
        reader.ofCached(robot, robot.presence, nowMs),
      );
      return observed === change.observed ? change : { ...change, observed };
    }
    case "conveyor":
      return currentConveyor(change, robot, reader, nowMs);
  }
}

function currentConveyor(
  change: Extract<StateChange, { kind: "conveyor" }>,
  robot: RobotEntry,
  reader: QualityReader,
  nowMs: number,
): StateChange {
  const { received, gone } = robot.conveyors;
  const { index } = change.observed.value;
  const value = received?.value.find((conveyor) => conveyor.index === index);
  if (received === null || value === undefined) {
    const observed = gone.find((left) => left.value.index === index);
    return observed === undefined ? change : { ...change, observed };
  }
  const quality = reader.ofCached(robot, robot.conveyors, nowMs);
  const observed = refreshed(change.observed, { value, stamp: received.stamp }, quality);
  return observed === change.observed ? change : { ...change, observed };
}

function refreshed<T>(
  observed: Observed<T>,
  received: { readonly value: T; readonly stamp: Stamp } | null,
  quality: Quality,
): Observed<T> {
  if (received === null) return observed;
  const same = received.value === observed.value && received.stamp === observed.stamp;
  if (same && quality === observed.quality) return observed;
  return { value: received.value, stamp: received.stamp, quality };
}
