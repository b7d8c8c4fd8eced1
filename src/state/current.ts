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
  // Those that the stages behind the fleet state make, and ends.
  if (change.kind === "hold" || change.kind === "hold_all" || change.kind === "station") return change;
  if (change.kind === "robot_alarms" || change.kind === "station_alarms" || change.kind === "alarms")
    return change;
  if (change.kind === "task_chain_evicted" || change.kind === "station_removed") return change;
  if (change.kind === "task_chain") return chains.current(change.chainId, nowMs) ?? change;
  if (robot === undefined) return change;
  const { mission, battery, presence } = robot;
  switch (change.kind) {
    case "robot": {
      const quality = reader.ofRobot(robot, nowMs);
      return quality === change.quality && robot.family === change.family
        ? change
        : robotChange(robot, quality);
    }
    case "mission":
      return refreshed(change, mission.received, reader.ofCached(robot, mission, nowMs));
    case "battery":
      return refreshed(change, battery.received, reader.ofCached(robot, battery, nowMs));
    case "presence":
      return refreshed(change, presence.received, reader.ofCached(robot, presence, nowMs));
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
  return refreshed(change, { value, stamp: received.stamp }, quality);
}

function refreshed<T, Change extends { readonly observed: Observed<T> }>(
  change: Change,
  received: { readonly value: T; readonly stamp: Stamp } | null,
  quality: Quality,
): Change {
  if (received === null) return change;
  const { observed } = change;
  const { value, stamp } = received;
  const isSame = value === observed.value && stamp === observed.stamp && quality === observed.quality;
  return isSame ? change : { ...change, observed: { value, stamp, quality } };
}
