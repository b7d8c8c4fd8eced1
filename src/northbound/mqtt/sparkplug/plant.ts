import type { StateChange } from "../../../domain/change.ts";
import type { TaskChain } from "../../../domain/mission.ts";
import type { Observed } from "../../../domain/observed.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { createChainBoard } from "../../../models/chain-board.ts";
import { createAliases, type Device, type DeviceParts } from "./device.ts";
import { createNodeDevice, type GatewayFacts, type NodeDevice } from "./node.ts";
import type { NamedRobot, SparkplugOptions } from "./options.ts";
import { createRobotDevice, type RobotChange, type RobotDevice } from "./robot.ts";
import { createStationDevice, type StationDevice, type StationSources } from "./station.ts";

/** Devices that were changed, each with whether it should be born. */
export type Touched = Map<Device, () => boolean>;

/** The node and its devices as they are now, over all connections. */
export interface Plant {
  readonly node: NodeDevice;
  apply(change: StateChange): void;
  /** Call it about once a second. */
  tick(): void;
  /** Those that should be born, in no order. */
  alive(): readonly Device[];
  /** Those that were changed since they were taken last. */
  takeTouched(): Touched;
  /** What was taken is published later. */
  touchAgain(taken: Touched): void;
  /** Whether robots are still found: none is born, or nothing was received yet of one that is listed. */
  isIncomplete(): boolean;
  /** The device of a robot; undefined: nothing is known of it. */
  robot(robotId: RobotId): RobotDevice | undefined;
}

export interface PlantParts extends Pick<DeviceParts, "clock"> {
  readonly options: Pick<SparkplugOptions, "robots">;
  readonly facts: GatewayFacts;
}

export function createPlant({ options, facts, clock }: PlantParts): Plant {
  const takeAlias = createAliases();
  const robots = new Map<RobotId, RobotDevice>();
  const chains = createChainBoard();
  let touched: Touched = new Map();

  /** @param isAlive whether the device should be born */
  const parts = (isAlive: () => boolean): DeviceParts => ({
    ...{ takeAlias, clock },
    onChange: (device) => void touched.set(device, isAlive),
  });

  function named(robotId: RobotId): NamedRobot {
    const found = options.robots.now().find((robot) => robot.robotId === robotId);
    return found ?? { robotId, alias: null, number: null };
  }

  function robotOf(robotId: RobotId): RobotDevice {
    const known = robots.get(robotId);
    if (known !== undefined) return known;
    const robot: RobotDevice = createRobotDevice(
      named(robotId),
      parts(() => robot.isAlive()),
    );
    robots.set(robotId, robot);
    return robot;
  }

  function applyToRobot(change: RobotChange): void {
    // A hold or an alarm alone does not show that the robot exists: the gateway has stored them.
    const isOwn = change.kind === "hold" || change.kind === "robot_alarms";
    const robot = isOwn ? robots.get(change.robotId) : robotOf(change.robotId);
    robot?.apply(change);
    if (robot === undefined || change.kind !== "presence") return;
    const { taskChainId } = change.observed.value;
    const show = (chain: Observed<TaskChain> | undefined) => robot.showChain(taskChainId, chain);
    chains.follow(change.robotId, taskChainId, show);
    // The list says the same chain anew.
    show(chains.get(taskChainId));
  }

  const stations = createStations({ named, permitOf: facts.permitOf }, parts, (device) =>
    touched.set(device, () => false),
  );
  const node = createNodeDevice(facts, { takeAlias, clock, onChange() {} });
  return {
    node,
    robot: (robotId) => robots.get(robotId),
    apply(change) {
      switch (change.kind) {
        case "station":
          return stations.of(change.station).show(change.shown);
        case "station_removed":
          return stations.remove(change.station);
        case "station_alarms":
          return stations.get(change.station)?.alarms.show(change.alarms);
        case "task_chain":
        case "task_chain_evicted":
          return chains.apply(change);
        case "hold_all":
        case "alarms":
        case "map":
          return;
        default:
          return applyToRobot(change);
      }
    },
    tick() {
      node.lookAtLink();
      for (const robot of robots.values()) robot.tick();
      stations.tick();
    },
    alive: () => [
      ...stations.devices(),
      ...[...robots.values()].filter((robot) => robot.isAlive()).map(({ device }) => device),
    ],
    takeTouched() {
      const taken = touched;
      touched = new Map();
      return taken;
    },
    touchAgain(taken) {
      for (const [device, isAlive] of touched) taken.set(device, isAlive);
      touched = taken;
    },
    isIncomplete() {
      const all = [...robots.values()];
      return !all.some((robot) => robot.isAlive()) || all.some((robot) => robot.isAwaited());
    },
  };
}

/** @param onRemoved the device should be dead */
function createStations(
  sources: StationSources,
  parts: (isAlive: () => boolean) => DeviceParts,
  onRemoved: (device: Device) => void,
) {
  const stations = new Map<string, StationDevice>();
  return {
    get: (name: string) => stations.get(name),
    tick(): void {
      for (const station of stations.values()) station.tick();
    },
    devices: () => Array.from(stations.values(), ({ device }) => device),
    of(name: string): StationDevice {
      const known = stations.get(name);
      if (known !== undefined) return known;
      const made: StationDevice = createStationDevice(
        name,
        sources,
        parts(() => stations.get(name) === made),
      );
      stations.set(name, made);
      return made;
    },
    remove(name: string): void {
      const station = stations.get(name);
      if (station === undefined) return;
      stations.delete(name);
      onRemoved(station.device);
    },
  };
}
