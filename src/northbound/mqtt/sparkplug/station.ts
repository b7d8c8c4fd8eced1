import type { Permits } from "../../../contracts/stations.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { isValidSight, type StationConveyor } from "../../../domain/station-sight.ts";
import type { VisibleStation } from "../../../domain/station-visits.ts";
import { createDevice, type Device, type DeviceParts } from "./device.ts";
import { type AlarmMetrics, addAlarms, addGroup, type MetricGroup } from "./metric-group.ts";
import type { NamedRobot } from "./options.ts";
import type { MetricModel } from "./payload.ts";
import { stationDeviceId } from "./topics.ts";

/** A station as a device, with the metrics of its OPC UA tags. */
export interface StationDevice {
  readonly device: Device;
  readonly alarms: AlarmMetrics;
  show(shown: VisibleStation): void;
  /** Shows the permit as it is now: it lapses with time. Call it about once a second. */
  tick(): void;
}

/** What a station asks for. */
export interface StationSources extends Permits {
  /** What the configuration says of a robot. */
  named(robotId: RobotId): NamedRobot;
}

/** Conveyors with a higher index are not shown, as on OPC UA. */
const CONVEYORS_SHOWN = 8;
const SECOND = 1_000;

const truth = (name: string) => ({ name, type: "Boolean" }) as const;
const text = (name: string) => ({ name, type: "String" }) as const;
const integer = (name: string) => ({ name, type: "Int32" }) as const;
const seconds = (name: string) => ({ name, type: "Double" }) as const;

const validMetrics = { valid: truth("Valid") };

/** Of a station that requires a permit. */
const permitMetrics = { permitted: truth("Permitted"), reason: text("NotPermittedReason") };

const hereMetrics = {
  robotHere: truth("RobotHere"),
  robotHereNo: integer("RobotHereNo"),
  robotHereName: text("RobotHereName"),
  robotsHere: integer("RobotsHere"),
  arrived: truth("Arrived"),
};

const nextMetrics = {
  nextRobot: truth("NextRobot"),
  nextRobotNo: integer("NextRobotNo"),
  nextRobotName: text("NextRobotName"),
  nextRobotGoalsBefore: integer("NextRobotGoalsBefore"),
};

const counterMetrics = {
  cycles: integer("Counters/Cycles"),
  aborted: integer("Counters/Aborted"),
  waitingLast: seconds("Counters/WaitingLast"),
  waitingTotal: seconds("Counters/WaitingTotal"),
  cycleLast: seconds("Counters/CycleLast"),
  cycleTotal: seconds("Counters/CycleTotal"),
  since: { name: "Counters/Since", type: "DateTime" },
} as const satisfies Record<string, MetricModel>;

/** Those that every station has. */
export const stationModels: readonly MetricModel[] = [
  validMetrics,
  hereMetrics,
  conveyorMetrics(),
  nextMetrics,
  counterMetrics,
].flatMap((models) => Object.values<MetricModel>(models));

export function createStationDevice(
  name: string,
  { named, permitOf }: StationSources,
  parts: DeviceParts,
): StationDevice {
  const device = createDevice(stationDeviceId(name), parts);
  const valid = addGroup(device, validMetrics);
  const here = addGroup(device, hereMetrics);
  const conveyors = addGroup(device, conveyorMetrics());
  const next = addGroup(device, nextMetrics);
  const counted = addGroup(device, counterMetrics);
  const alarms = addAlarms(device, parts);
  let permit: MetricGroup<keyof typeof permitMetrics> | null = null;

  function tick(): void {
    const { isRequired, isGiven, reason } = permitOf(name);
    if (isRequired) permit ??= addGroup(device, permitMetrics);
    permit?.show({ permitted: isGiven, reason }, "good", parts.clock.nowMs());
  }

  tick();
  const namesOf = (robotId: RobotId | undefined) => {
    const robot = robotId === undefined ? null : named(robotId);
    return { number: robot?.number ?? 0, text: robot?.alias ?? robotId ?? "" };
  };

  return {
    device,
    alarms,
    tick,
    show({ sight, counters }) {
      const atMs = parts.clock.nowMs();
      const robot = namesOf(sight.here?.robotId);
      const coming = namesOf(sight.next?.robotId);
      valid.show({ valid: isValidSight(sight) }, "good", atMs);
      here.show(
        {
          robotHere: sight.here !== null,
          robotHereNo: robot.number,
          robotHereName: robot.text,
          robotsHere: sight.count,
          arrived: sight.here?.hasArrived ?? false,
        },
        sight.quality,
        atMs,
      );
      conveyors.show(conveyorValues(sight.conveyors), sight.conveyorQuality, atMs);
      next.show(
        {
          nextRobot: sight.next !== null,
          nextRobotNo: coming.number,
          nextRobotName: coming.text,
          nextRobotGoalsBefore: sight.next?.goalsBefore ?? 0,
        },
        sight.nextQuality,
        atMs,
      );
      counted.show(
        {
          cycles: counters.cycles,
          aborted: counters.aborted,
          waitingLast: counters.waitingLastMs / SECOND,
          waitingTotal: counters.waitingTotalMs / SECOND,
          cycleLast: counters.cycleLastMs / SECOND,
          cycleTotal: counters.cycleTotalMs / SECOND,
          since: counters.sinceMs,
        },
        "good",
        atMs,
      );
    },
  };
}

/** An array on OPC UA; here a metric each, for not every host knows arrays. */
function conveyorMetrics(): Record<string, MetricModel> {
  const all: Record<string, MetricModel> = {};
  for (let index = 0; index < CONVEYORS_SHOWN; index += 1) {
    all[`loaded${index}`] = truth(`Loaded/${index}`);
    all[`rolling${index}`] = truth(`Rolling/${index}`);
  }
  return all;
}

function conveyorValues(conveyors: readonly StationConveyor[]): Record<string, boolean> {
  const values: Record<string, boolean> = {};
  for (let index = 0; index < CONVEYORS_SHOWN; index += 1) {
    const conveyor = conveyors.find((each) => each.index === index);
    values[`loaded${index}`] = conveyor?.isLoaded ?? false;
    values[`rolling${index}`] = conveyor?.isRolling ?? false;
  }
  return values;
}
