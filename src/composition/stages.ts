import type { Holds } from "../contracts/acts.ts";
import type { Batch } from "../contracts/link.ts";
import { isOfBox } from "../domain/alarm.ts";
import type { AlarmTransition } from "../domain/alarm-instance.ts";
import { createAlarmRegistry } from "../state/alarm-registry.ts";
import { createAlarmStage } from "../state/alarm-stage.ts";
import { createAlarmStore } from "../state/alarm-store.ts";
import { createHoldStage } from "../state/hold-stage.ts";
import { createStationStage } from "../state/station-stage.ts";
import type { Run } from "./run.ts";

/** The stages of the state, and what users see and change of them. */
export type StateStages = ReturnType<typeof createStages>;

/** @param enter puts what another member of a cluster has changed into the pipeline */
export function createStages(
  { config, stores: { tables }, sessionId, surroundings: { clock } }: Run,
  holdState: Holds["holdState"],
  enter: (batch: Batch) => void,
) {
  const { stations, alarms } = config;
  const { shared = null } = tables;
  let events = 0;
  const eventId = ({ alarm, to }: AlarmTransition) => {
    // Each member of a cluster has the event, and one of them publishes it after the other.
    if (shared !== null && !isOfBox(alarm)) return `${alarm.id}.${alarm.occurrences}.${to}`;
    events += 1;
    return `${sessionId}.a${events}`;
  };
  const alarmStore = createAlarmStore(tables);
  const alarmRegistry = createAlarmRegistry(clock, alarmStore.load(), eventId, shared);
  alarmStore.follow(alarmRegistry, () => enter({ changes: [], events: [] }));
  return {
    holds: createHoldStage(holdState),
    stations: createStationStage(stations, tables, clock, enter),
    alarms: createAlarmStage(alarmRegistry, alarmStore, alarms.battery),
    alarmRegistry,
    alarmStore,
  };
}
