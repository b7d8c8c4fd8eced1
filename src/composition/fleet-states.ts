import type { RunningConfig } from "../config/load.ts";
import type { Holds } from "../contracts/holds.ts";
import type { Batch } from "../contracts/link.ts";
import { createFanOut } from "../delivery/fan-out.ts";
import { ofGateway } from "../domain/alarm.ts";
import type { Clock } from "../platform/clock.ts";
import type { Component } from "../platform/component.ts";
import { createFleetState, type FleetState } from "../state/fleet-state.ts";
import { createPlantView, type PlantView } from "../state/plant-view.ts";
import type { NorthboundParts } from "./northbound-parts.ts";

const MAX_ROBOTS = 10_000;
const MAX_TASK_CHAINS = 10_000;
const LINK_DOWN = "the gateway has no session to the fleet service";

/** The state of the fleet, and the view of it for northbounds. */
export function createStates(
  { quality: times, stations, alarms, gateway }: RunningConfig,
  { clock, log, sessionId, outbox }: Pick<NorthboundParts, "clock" | "log" | "sessionId" | "outbox">,
  holdState: Holds["holdState"],
): { readonly state: FleetState; readonly view: PlantView } {
  const limits = { maxRobots: MAX_ROBOTS, maxTaskChains: MAX_TASK_CHAINS };
  const published = outbox === null ? {} : { publishedBefore: outbox.published };
  const state = createFleetState({ times, ...limits, ...published, sessionId, clock, log });
  const { battery } = alarms;
  const { dataDir } = gateway;
  return {
    state,
    view: createPlantView({ state, holdState, stations, battery, dataDir, sessionId, clock, log }),
  };
}

/** Whether there is a session to the fleet service, since when, and the alarm while there is none. */
export function createLinkWatch({ alarmRegistry }: Pick<PlantView, "alarmRegistry">, clock: Clock) {
  let link = { isUp: false, changedAtMs: clock.nowMs() };
  const say = () => alarmRegistry.state(ofGateway, "FLEET_LINK_DOWN", { holds: !link.isUp, text: LINK_DOWN });
  return {
    now: () => link,
    /**
     * Counts from when the session begins to connect: the duration of the gateway's start is no failure of
     * the link.
     */
    watch: <T extends Component>(session: T): T => ({
      ...session,
      run(signal, ready) {
        say();
        return session.run(signal, ready);
      },
    }),
    note(isUp: boolean): void {
      if (isUp !== link.isUp) link = { isUp, changedAtMs: clock.nowMs() };
      say();
    },
  };
}

/** The way to the northbounds. It adds the alarms to a batch, and shows it to the recorder. */
export function createDelivery(
  view: PlantView,
  { clock, log, recordings, work }: Pick<NorthboundParts, "clock" | "log" | "recordings" | "work">,
) {
  const fanOut = createFanOut({ state: view, clock, log, work, tap: recordings.tap });
  return {
    fanOut,
    deliver(batch: Batch): void {
      const published = view.withAlarms(batch);
      fanOut.offer(published);
      recordings.look(published.events);
    },
  };
}
