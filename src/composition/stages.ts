import type { RunningConfig } from "../config/load.ts";
import type { Holds } from "../contracts/acts.ts";
import type { Clock } from "../platform/clock.ts";
import type { WriteBehind } from "../platform/stores/write-behind.ts";
import { createAlarmRegistry } from "../state/alarm-registry.ts";
import { createAlarmStage } from "../state/alarm-stage.ts";
import { createAlarmStore } from "../state/alarm-store.ts";
import { createHoldStage } from "../state/hold-stage.ts";
import { createStationStage } from "../state/station-stage.ts";

/** The stages of the state, and what users see and change of them. */
export type StateStages = ReturnType<typeof createStages>;

/** @param sessionId names this run of the gateway: ids of events are unique within it */
export function createStages(
  { stations, alarms: { battery } }: RunningConfig,
  tables: WriteBehind,
  holdState: Holds["holdState"],
  sessionId: string,
  clock: Clock,
) {
  let events = 0;
  const nextEventId = () => {
    events += 1;
    return `${sessionId}.a${events}`;
  };
  const alarmStore = createAlarmStore(tables);
  const alarmRegistry = createAlarmRegistry(clock, alarmStore.load(), nextEventId);
  return {
    holds: createHoldStage(holdState),
    stations: createStationStage(stations, tables, clock),
    alarms: createAlarmStage(alarmRegistry, alarmStore, battery),
    alarmRegistry,
    alarmStore,
  };
}
