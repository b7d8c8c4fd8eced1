import { join } from "node:path";
import type { VisibleAlarms } from "../contracts/alarms.ts";
import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { VisibleStations } from "../contracts/stations.ts";
import type { AlarmSource } from "../domain/alarm.ts";
import type { StateChange } from "../domain/change.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { Live } from "../platform/live.ts";
import type { Log } from "../platform/log.ts";
import { type BatteryLimits, createAlarmConditions } from "./alarm-conditions.ts";
import { type AlarmRegistry, createAlarmRegistry } from "./alarm-registry.ts";
import { createAlarmStore } from "./alarm-store.ts";
import { createAlarmView } from "./alarm-view.ts";
import { createHoldView, type HoldViewParts } from "./hold-view.ts";
import { createStationView, type StationViewParts } from "./station-view.ts";

export interface PlantViewParts extends HoldViewParts, Pick<StationViewParts, "stations"> {
  readonly battery: Live<BatteryLimits>;
  /** Where counters and alarms are kept over a restart. */
  readonly dataDir: string;
  /** Names this run of the gateway: event ids are unique within it. */
  readonly sessionId: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The view for northbounds: the fleet state with holds, stations and alarms. */
export interface PlantView extends CurrentState {
  readonly alarmRegistry: AlarmRegistry;
  visibleAlarms(source: AlarmSource): VisibleAlarms;
  readonly visibleStation: VisibleStations["shown"];
  /** A batch of the fleet state with holds and stations, for the dispatcher. */
  withPlant(batch: Batch): Batch;
  /**
   * A batch on its way to the northbounds, with the alarms that it raises or ends, and with those that are
   * due.
   */
  withAlarms(batch: Batch): Batch;
  /** The limits of batteries have changed. Returns the changes. */
  evaluateBatteries(): Batch;
  /** The changes after a hold of this robot, or (null) of all robots, has begun or ended. */
  holdsOf(robotId: RobotId | null): readonly StateChange[];
  /** Sets the counters of a station to 0. */
  resetCounters(station: string): Batch;
  /** The configuration has other stations or destinations. Returns the changes. */
  reviewStations(): Batch;
  /** Null: what users did about alarms is on the disk; otherwise words for them. */
  alarmStoreProblem(): Promise<string | null>;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

export function createPlantView(parts: PlantViewParts): PlantView {
  const { clock, dataDir, sessionId } = parts;
  const holds = createHoldView(parts);
  const stations = createStationView({ ...parts, state: holds, file: join(dataDir, "stations.json") });
  const memory = createAlarmStore(join(dataDir, "alarms.json"), clock, parts.log.child({ part: "alarms" }));
  let events = 0;
  const alarmRegistry = createAlarmRegistry(clock, memory.load(), () => {
    events += 1;
    return `${sessionId}.a${events}`;
  });
  const conditions = createAlarmConditions(alarmRegistry, parts.battery);
  const alarms = createAlarmView({ state: stations, registry: alarmRegistry, conditions, memory });
  return {
    ...alarms,
    alarmRegistry,
    withPlant: (batch) => stations.withStations(holds.withHolds(batch)),
    holdsOf: holds.changesOf,
    visibleStation: stations.shown,
    resetCounters: stations.reset,
    alarmStoreProblem: memory.storeProblem,
    reviewStations: () => alarms.withAlarms(stations.review()),
    async settled() {
      await Promise.all([stations.settled(), memory.settled()]);
    },
  };
}
