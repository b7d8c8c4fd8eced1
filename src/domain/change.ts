import type { Alarm } from "./alarm.ts";
import type { HoldState } from "./hold.ts";
import type { MissionQueue, TaskChain } from "./mission.ts";
import type { Observed, Quality } from "./observed.ts";
import type { Battery, Conveyor, Family, Presence, RobotId } from "./robot.ts";
import type { VisibleStation } from "./station-visits.ts";
import type { FleetMap } from "./update.ts";

/**
 * A value that a northbound shows. The newest value replaces the one before, so a slow northbound skips
 * values, and never publishes an old one as new.
 */
export type StateChange =
  | { readonly kind: "robot"; readonly robotId: RobotId; readonly family: Family; readonly quality: Quality }
  | { readonly kind: "mission"; readonly robotId: RobotId; readonly observed: Observed<MissionQueue> }
  | { readonly kind: "battery"; readonly robotId: RobotId; readonly observed: Observed<Battery> }
  | { readonly kind: "conveyor"; readonly robotId: RobotId; readonly observed: Observed<Conveyor> }
  | { readonly kind: "presence"; readonly robotId: RobotId; readonly observed: Observed<Presence> }
  /** The hold on a robot, as it is now. */
  | { readonly kind: "hold"; readonly robotId: RobotId; readonly hold: HoldState }
  /** What a station shows now. */
  | { readonly kind: "station"; readonly station: string; readonly shown: VisibleStation }
  /** The configuration no longer has the station: a northbound removes whatever it keeps of it. */
  | { readonly kind: "station_removed"; readonly station: string }
  /**
   * The active and unacknowledged alarms of a robot, of a station, or of all; the most urgent first. The list
   * of a robot out of service is empty.
   */
  | {
      readonly kind: "robot_alarms";
      readonly robotId: RobotId;
      readonly alarms: readonly Alarm[];
      readonly isOutOfService: boolean;
    }
  | { readonly kind: "station_alarms"; readonly station: string; readonly alarms: readonly Alarm[] }
  | { readonly kind: "alarms"; readonly alarms: readonly Alarm[] }
  /** The hold on all robots, as it is now. */
  | { readonly kind: "hold_all"; readonly hold: HoldState }
  /** A map as the service answered it last; null: the service no longer has it. */
  | { readonly kind: "map"; readonly mapId: number; readonly map: FleetMap | null }
  | { readonly kind: "task_chain"; readonly chainId: number; readonly observed: Observed<TaskChain> }
  /** The chain was evicted for another one: a northbound removes whatever it keeps of it. */
  | { readonly kind: "task_chain_evicted"; readonly chainId: number };

/** The value that a state change is about: delivery keeps the newest change of each key. */
export function changeKey(change: StateChange): string {
  switch (change.kind) {
    case "conveyor":
      return `conveyor/${change.observed.value.index}/${change.robotId}`;
    case "hold_all":
      return "hold_all";
    case "alarms":
      return "alarms";
    case "station_alarms":
      return `station_alarms/${change.station}`;
    case "station":
    case "station_removed":
      return `station/${change.station}`;
    case "map":
      return `map/${change.mapId}`;
    case "task_chain":
    case "task_chain_evicted":
      return `task_chain/${change.chainId}`;
    case "robot":
    case "mission":
    case "battery":
    case "presence":
    case "hold":
    case "robot_alarms":
      return `${change.kind}/${change.robotId}`;
  }
}
